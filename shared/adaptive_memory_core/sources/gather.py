"""The candidates of a recall: the records that all sources named, fetched once, with their read state.

A user's own record and everyone's record may have the same id, because neither is overwritten by the other. The user's
own record then hides everyone's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from adaptive_memory_core.errors import LedgerError, StoreError
from adaptive_memory_core.flow.calls.foreign_calls import Outcome
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import Extent, KnownStates, LedgerVersion
from adaptive_memory_core.flow.ports.source import Answer, Found
from adaptive_memory_core.identity import own_places, text_digests, words_and_origins
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.learn.logged_state import named_by
from adaptive_memory_core.learn.verdicts import StateHistory, state_as_of
from adaptive_memory_core.policy.advanced import DENSE
from adaptive_memory_core.record_metadata import SHARED, belongs, hits_of
from adaptive_memory_core.records import Cue, Dropped, Hit, Scope, Seen
from adaptive_memory_core.score.ranking import CandidateColumns, Candidates, as_candidates
from adaptive_memory_core.score.select import has_copies
from adaptive_memory_core.score.signals import NEUTRAL_IMPORTANCE, NO_USE, Use, boosted, earned_share, odd_importance
from adaptive_memory_core.sources.read_state import moved_states
from adaptive_memory_core.sources.request import Request, among

HIDDEN = "hidden by the user's own record of this id"


def places_of_own(request: Request, found: Sequence[Found]) -> list[str]:
    """The ids of own records that would hide the found records of everyone's; the ledger shows which of them exist."""
    scope, fields = request.scope, request.fields
    shared = [one.stored_id for one in found if belongs(one.metadata, SHARED, fields)]
    return [place for one in shared for place in own_places(scope, one)]


def without_hidden(scope: Scope, hits: Sequence[Hit], known: Collection[str]) -> list[Hit]:
    """The hits; everyone's records that an own record hides are refused. `known` are ids with a row in the ledger."""
    return [replace(hit, refused=HIDDEN) if _is_hidden(scope, hit, known) else hit for hit in hits]


def _is_hidden(scope: Scope, hit: Hit, known: Collection[str]) -> bool:
    return hit.shared is not None and any(one in known for one in own_places(scope, hit._stored_id))


NOTHING_KNOWN: Outcome[KnownStates] = Outcome()
STORED_ID, TEXT, SOURCE, NAMED, ASKED_FOR = map(attrgetter, ("stored_id", "text", "source", "named", "asked_for"))
NOT_HERE = "not a record of this scope"
NOT_ASKED_FOR = "no record of this scope that passes the filter"


class Gathered(NamedTuple):
    """The candidates with their read states, and the ledger's states of the user.

    The hits found by vectors come first, nearest first, followed by hits that only other sources named.
    """

    cue: Cue
    hits: Candidates
    near: int  # the number of hits that vectors found, which come first
    known: Outcome[KnownStates]
    asked: int  # the number of nearest records that were asked for
    absent: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    lost: Exception | None = None  # why the vectors found nothing
    whole: Extent | None = None  # the collection's extent, if all records of the scope were searched
    because: Mapping[str, Sequence[str]] = MappingProxyType({})  # why sources named records, by stored id
    via: Mapping[str, int] = MappingProxyType({})  # the sources that named each record, by stored id, as bits
    guests: frozenset[str] = frozenset()  # hits that are not records: nothing is learned about them
    copies: bool = True  # whether hits may have the same text

    @property
    def nearest(self) -> Sequence[Hit]:
        return self.hits[: self.near]

    @property
    def others(self) -> Sequence[Hit]:
        return self.hits[self.near :]

    def with_hits(self, nearest: Sequence[Hit], others: Sequence[Hit]) -> Gathered:
        """A copy with these candidates."""
        return self._replace(hits=as_candidates([*nearest, *others]), near=len(nearest), copies=True)


def gather(ports: Ports, request: Request, answers: Sequence[Answer]) -> Gathered:
    """Fetch all named records once. If records besides the nearest cannot be fetched, they are left out, with a
    note."""
    dense, notes = dict(zip(map(SOURCE, answers), answers, strict=True))[DENSE], notes_of(answers)
    cue = request.cue if dense.cue is None else dense.cue
    here = set(map(STORED_ID, dense.found))
    others = _once(answers, dense, here)
    named = dict.fromkeys(chain.from_iterable(map(NAMED, answers)))
    missing = named.keys() - here - dense.looked_up
    if missing:
        try:
            others += among(ports, request, cue.vector, [one for one in named if one in missing])
        except (StoreError, ValueError) as error:  # numpy's, if the caller's vector has another length
            if dense.error is not None:
                raise dense.error from error
            notes.append(f"what only other channels found was left out: {error}")
    found = [*dense.found, *others]
    known = known_of(ports, request, found)
    hits = present(request, found, known)
    if dense.error is not None and not hits:
        raise dense.error
    odd = odd_importance(hits, request.fields)
    if odd is not None:
        notes.append(odd)
    return Gathered(
        cue,
        hits=hits,
        near=len(dense.found),
        known=known,
        asked=request.candidates,
        absent=_absent(request, answers, hits),
        notes=tuple(notes),
        lost=dense.error,
        because=_reasons(answers),
        via=_named_by(answers),
        copies=has_copies(hits.columns.texts, request.policy.advanced.same_share),
    )


def _once(answers: Sequence[Answer], dense: Answer, here: set[str]) -> list[Found]:
    """The records from sources besides the vectors, and those fetched along with the nearest; their ids are added to
    `here`."""
    brought: dict[str, Found] = {}
    for answer in answers:
        if answer is not dense:
            for one in answer.found:
                brought[one.stored_id] = one
    found = []
    for one in (*brought.values(), *dense.named_found):
        if one.stored_id not in here:
            here.add(one.stored_id)
            found.append(one)
    return found


def known_of(ports: Ports, request: Request, found: Sequence[Found]) -> Outcome[KnownStates]:
    """The ledger's states of the records; a failure is returned, because a recall can continue without them."""
    try:
        now = request.now if request.reinforce else None
        more = [] if request.scope.over is None else places_of_own(request, found)
        turn, version = request.turn, request.version
        known = known_states(ports, request.scope, found, now=now, turn=turn, more=more, version=version)
    except LedgerError as error:
        return Outcome(error=error)
    return Outcome(known)


def known_states(
    ports: Ports,
    scope: Scope,
    found: Sequence[Found],
    *,
    now: float | None,
    turn: str | None = None,
    more: Sequence[str] = (),
    version: LedgerVersion | None = None,
) -> KnownStates:
    """The ledger's states for the texts of the records, under any id, and for `more` ids that may be in the collection,
    as of the version; `now=None` writes nothing."""
    ids = [*map(STORED_ID, found), *more]
    known = ports.ledger.states.known(scope, ids, turn, version)
    digests = text_digests(list(map(TEXT, found)))
    before = list(map(known.text_digests.get, ids, digests))
    if before == digests and (not known.new or known.new <= set(more)):
        return known
    other = [one for one, words, then in zip(found, digests, before, strict=True) if then != words]
    return moved_states(ports, scope, found, known, other, now=now, turn=turn)


def present(request: Request, found: Sequence[Found], known: Outcome[KnownStates]) -> Candidates:
    """The found records as hits, with a reason on those that the caller excludes."""
    states = {} if known.value is None else known.value.states
    hits = hits_of(request.scope, found, states, request.fields)
    if request.scope.over is not None:
        hits = without_hidden(request.scope, hits, states)
    if request.past is not None:
        hits = [_then(hit, request.past, request) if hit._stored_id in states else hit for hit in hits]
    if (refuse := request.refuse) is not None:
        hits = [replace(hit, refused=hit.refused or refuse(hit.record)) for hit in hits]
    return as_candidates(hits)


def _then(hit: Hit, past: StateHistory, request: Request) -> Hit:
    """The hit with its reads and verdicts up to that day."""
    record = hit.record
    read = state_as_of(record.read, record.id, past, request.policy)
    if read is record.read:
        return hit
    written = record.written_importance
    importance = (
        written if read.boost == 0.0 else boosted(NEUTRAL_IMPORTANCE if written is None else written, read.boost)
    )
    return replace(hit, record=replace(record, read=read, importance=importance))


def timeline_of(known: Outcome[KnownStates], request: Request) -> Timeline:
    """The user's timeline; without a ledger, an empty one, so that nothing decays."""
    return (Timeline(0) if known.value is None else known.value.timeline).under(request.regime)


def use_of(known: Outcome[KnownStates], request: Request) -> Use:
    """The user's number of recalls and the weight of usefulness; without a ledger, the initial values."""
    earns = request.policy.learning.earned and request.policy.blending == "bounded"
    if known.value is None:
        return NO_USE if earns else Use(gain=1.0)
    step = known.value.timeline.step if request.past is None else request.past.step
    return Use(step, earned_share(known.value.balance) if earns else 1.0)


def _reasons(answers: Sequence[Answer]) -> dict[str, list[str]]:
    """The reasons why sources named records, by stored id."""
    reasons: dict[str, list[str]] = {}
    for one in answers:
        for stored_id, reason in one.because.items():
            reasons.setdefault(stored_id, []).append(reason)
    return reasons


def _named_by(answers: Sequence[Answer]) -> dict[str, int]:
    """The sources that named each record, as bits for the log."""
    found: dict[str, int] = {}
    for one in answers:
        if one.named or one.found:
            bit = named_by(one.source)
            for stored_id in (*one.named, *map(STORED_ID, one.found)):
                found[stored_id] = found.get(stored_id, 0) | bit
    return found


def notes_of(answers: Sequence[Answer]) -> list[str]:
    """The notes of the sources, including their failures."""
    notes: list[str] = []
    for one in answers:
        notes += one.notes
        if one.error is not None:
            notes.append(f"the channel {one.source!r} was left out: {error_text(one.error)}")
    return notes


def error_text(error: Exception) -> str:
    """The message of an error, or its type if it has none."""
    return str(error) or type(error).__name__


def _absent(request: Request, answers: Sequence[Answer], hits: Sequence[Hit]) -> tuple[Dropped, ...]:
    """Ids from the caller's channels that this recall may not see; the reason does not reveal whether others have
    them."""
    asked_for = dict.fromkeys(chain.from_iterable(map(ASKED_FOR, answers)))
    if not asked_for:
        return ()
    here = {hit.record.id for hit in hits}
    reason = NOT_HERE if request.where is None else NOT_ASKED_FOR
    return tuple(Dropped(one, reason) for one in asked_for if one not in here)


def seen_in(columns: CandidateColumns, numbers: Sequence[int], kind: str) -> dict[str, Seen]:
    """The states and digests of the candidates with these numbers, by ids in the collection; `kind` is the metadata
    key."""
    metadata = list(map(columns.stored.__getitem__, numbers))
    marks = words_and_origins(map(columns.texts.__getitem__, numbers), metadata)
    seen: dict[str, Seen] = {}
    for number, own, (words, mark) in zip(numbers, metadata, marks, strict=True):
        named = own.get(kind)
        is_shared = columns.shared[number]
        found = Seen(columns.reads[number], named if type(named) is str else None, mark, is_shared, words)
        seen[columns.stored_ids[number]] = found
    return seen
