"""What a recall asks, its calls of the embedder and the collection within a time limit, and the two main sources: the
nearest vectors, and the records with most of the cue's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

from adaptive_memory_core.cue.time.intent import NO_INTENT, Intent
from adaptive_memory_core.errors import AdaptiveMemoryError, EmbedderError, EmbedderMismatchError, StoreError
from adaptive_memory_core.fields import DEFAULT_FIELDS, Fields
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, Unanswered, in_either_form, in_time
from adaptive_memory_core.flow.calls.running_calls import still_awaited
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import LedgerVersion
from adaptive_memory_core.flow.ports.models import EmbedderPort
from adaptive_memory_core.flow.ports.records import Vector, Where
from adaptive_memory_core.flow.ports.source import Answer, Found, SourceQuery, VectorsFound
from adaptive_memory_core.learn.verdicts import StateHistory
from adaptive_memory_core.policy.advanced import BASELINE, DENSE, LEXICAL, SPREAD
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, Record, Scope
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.score.surprise import Baseline

if TYPE_CHECKING:
    from adaptive_memory_core.models.judges import Judge

LATER_TOO = 4  # times as many candidates as of an earlier day, since later ones are refused; guess
Refuse = Callable[[Record], str | None]  # why the caller will not have a record, or None


class Request(NamedTuple):
    """One call of recall, checked."""

    id: str
    scope: Scope
    cue: Cue
    k: int
    now: float
    where: Where | None
    policy: Policy
    regime: Regime
    reinforce: bool
    turn: str | None = None
    intent: Intent = NO_INTENT
    refuse: Refuse | None = None
    notes: tuple[str, ...] = ()
    fields: Fields = DEFAULT_FIELDS
    reranker: Theirs | None = None
    same_fact: Theirs | None = None
    reader: Theirs | None = None
    judge: Judge | None = None
    draws: bool = False  # whether places may be drawn by lot, where the policy says so
    looks_back: bool = False  # whether the caller named a `now` that lies in the past
    as_of: float | None = None  # the day that is asked as of, where that lies in the past
    past: StateHistory | None = None  # what is known of the reads up to that day
    words_alone: bool = True  # whether words may answer alone if the embedder fails
    version: LedgerVersion | None = None  # as of which everything is looked for; None: each part looks by itself

    @property
    def words(self) -> str:
        """The user's own words, as `cue.own_words`."""
        return self.cue.text if self.cue.words is None else self.cue.words

    @property
    def candidates(self) -> int:
        """How many records each source is asked for."""
        most = max(self.policy.recall_k, self.k)
        return most if self.as_of is None else LATER_TOO * most


class VectorsSource:
    """The channel "dense". It is asked after the sources that may shorten the cue."""

    name = DENSE

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The nearest records, and the cue with its vector. After a failure, the error is part of the answer if another
        source has results, unless the caller wants embedder errors raised. An embedder mismatch is always raised."""
        cue = asked.cue
        try:
            if cue.vector is None:
                vector = embedded(ports, cue.text, request.policy)
                cue = replace(cue, vector=vector)
            named = list(dict.fromkeys(chain.from_iterable(map(_named, asked.earlier))))
            found = compared(ports, request, cue.vector, named)
        except EmbedderMismatchError:
            raise
        except (EmbedderError, StoreError) as error:
            if isinstance(error, EmbedderError) and not request.words_alone:
                raise
            if not any(one.says_something for one in asked.earlier):
                raise
            return Answer(DENSE, cue=cue, error=error)
        # without another channel the similarity is the relevance
        leads = None if request.policy.ways == (DENSE,) else BaselineLeads(found.baseline)
        if found.named is None:
            return Answer(DENSE, found=found.nearest, cue=cue, leads=leads)
        looked_up = frozenset(named)
        return Answer(
            DENSE,
            found=found.nearest,
            cue=cue,
            leads=leads,
            named_found=found.named,
            looked_up=looked_up,
            within=found.within,
        )


_named = attrgetter("named")


@dataclass(frozen=True, slots=True)
class BaselineLeads:
    """The scores of unrelated texts, the same for all candidates."""

    measured: Baseline

    def __call__(self, these: Candidates) -> dict[str, Sequence[float]]:
        count = len(these.columns.ids)
        return {BASELINE: [self.measured.mean] * count, SPREAD: [self.measured.spread] * count}


class WordsSource:
    """The channel "lexical"."""

    name = LEXICAL

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The records with most of the cue's words, searched in this thread unless there is a time limit. The answer's
        cue for the vector search omits the speaker it names, unless the cue has separate words."""
        cue, advanced, look = request.cue, request.policy.advanced, ports.words.look
        query = request.scope, request.words, advanced.fusion, request.candidates, asked.passing, request.version
        seconds = advanced.timeout_seconds
        try:
            found = in_time(ports.unanswered[LEXICAL], seconds, look, *query) if seconds else look(*query)
        except Exception as error:  # noqa: BLE001 - vectors answer without words, and a note says so
            return Answer(LEXICAL, error=error)
        if found.note is not None:
            return Answer(LEXICAL, notes=(found.note,))
        if cue.words is not None or found.cue == cue.text:
            return Answer(LEXICAL, named=found.best, leads=found)
        return Answer(LEXICAL, named=found.best, leads=found, cue=replace(cue, text=found.cue))


T = TypeVar("T")
P = ParamSpec("P")


def nearest(ports: Ports, request: Request, vector: Vector, limit: int) -> list[Found]:
    """The nearest records, in time or not at all."""
    policy, asked = request.policy, (request.scope, vector, limit, request.where)
    if policy.advanced.search == "auto":
        return in_collection(ports, policy, ports.search.nearest, *asked)
    return in_collection(ports, policy, ports.search.nearest, *asked, by=policy.advanced.search)


def compared(ports: Ports, request: Request, vector: Vector, named: Sequence[str]) -> VectorsFound:
    """The nearest records, with them the named ones and those of the times asked about if that costs little, and what
    unrelated ones score if there is another channel to join."""
    policy, version = request.policy, request.version
    windows = request.intent.windows if policy.advanced.time_weight > 0.0 else ()
    asked = request.scope, vector, request.candidates, request.where, named, windows
    by, measured = policy.advanced.search, policy.ways != (DENSE,)
    if policy.advanced.timeout_seconds:
        compare = ports.search.compare
        return in_collection(ports, policy, compare, *asked, by=by, version=version, measured=measured)
    return ports.search.compare(*asked, by=by, version=version, measured=measured)


def among(ports: Ports, request: Request, vector: Vector, stored_ids: Sequence[str]) -> list[Found]:
    """These records, compared with the vector; where there is none, how near they are is not known, and counts as 0."""
    if not stored_ids:
        return []
    policy, scope = request.policy, request.scope
    if vector is not None:
        return in_collection(ports, policy, ports.search.among, scope, vector, stored_ids, None)
    unknown = in_collection(ports, policy, ports.search.stored, scope, stored_ids)
    return [one._replace(similarity=0.0) for one in unknown]


def embedded(ports: Ports, text: str, policy: Policy) -> Vector:
    """The vector of a query, in time or not at all."""
    embedder, unanswered, seconds = ports.embedder, ports.unanswered[DENSE], policy.advanced.timeout_seconds
    still_awaited()
    try:
        if embedder.can_wait:
            return in_either_form(
                lambda: embedder.embed_query(text), lambda: embedder.aembed_query(text), seconds, unanswered
            )
        return in_time(unanswered, seconds, embedder.embed_query, text) if seconds else embedder.embed_query(text)
    except TimeoutError as error:
        raise _late(EmbedderError, "embedder", policy, error) from error


def embedded_texts(embedder: EmbedderPort, texts: Sequence[str]) -> Sequence[Vector]:
    """The vectors of the texts, in their order."""
    still_awaited()
    if not embedder.can_wait_for_documents:
        return embedder.embed_documents(texts)
    return in_either_form(
        lambda: embedder.embed_documents(texts), lambda: embedder.aembed_documents(texts), 0.0, Unanswered()
    )


def in_collection(ports: Ports, policy: Policy, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the collection says, in time or not at all."""
    seconds = policy.advanced.timeout_seconds
    if not seconds:
        return function(*args, **kwargs)
    try:
        return in_time(ports.unanswered[DENSE], seconds, function, *args, **kwargs)
    except TimeoutError as error:
        raise _late(StoreError, "collection", policy, error) from error


def _late(kind: type[AdaptiveMemoryError], who: str, policy: Policy, error: TimeoutError) -> AdaptiveMemoryError:
    return kind(
        f"The {who} did not answer: {error}. Try again, or allow more than "
        f"Policy(advanced=Advanced(timeout_seconds={policy.advanced.timeout_seconds:g}))."
    )
