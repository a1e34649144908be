"""What do channels besides the vectors say? Their own finds join the candidates, and all get their leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, cast

from adaptive_memory_core.channels.callers_own import numbers_of
from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError, StoreError
from adaptive_memory_core.flow.calls.drive import Flow, Outcome, ask, attempt
from adaptive_memory_core.flow.calls.foreign_calls import Question, ask_outside
from adaptive_memory_core.flow.calls.time_limits import among, stored
from adaptive_memory_core.flow.candidates.gather import Finding, Request, present, standing, strangers
from adaptive_memory_core.flow.ports import Found, Leads, Ports
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.policy.channel_names import OURS
from adaptive_memory_core.records import Cue, Dropped, Hit

NOT_HERE = "not a record of this scope"
NOT_ASKED_FOR = "no record of this scope that passes the filter"


@dataclass(frozen=True, slots=True)
class Looked:
    """What the channels said, or why they did not."""

    leads: Leads | None = None
    own: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of the caller's channels: id to number
    within: Set[str] | None = None  # what passes the filter, as it stands in the collection; None: no filter
    notes: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether any of them has something."""
        return any(self.own.values()) or (self.leads is not None and len(self.leads.best) > 0)

    def of(self, hit: Hit) -> dict[str, float]:
        """What they say of a record; nothing speaks for one that a channel did not name."""
        words = {} if self.leads is None else self.leads.of(hit.stored_id)
        return {**words, **{name: numbers.get(hit.record.id, 0.0) for name, numbers in self.own.items()}}

    def together(self, hits: Sequence[Hit]) -> list[Hit]:
        """The candidates with what the channels say of each, and in a conversation what they say of each other."""
        beside = {} if self.leads is None else self.leads.company(hits)
        return [replace(hit, leads={**self.of(hit), **beside.get(hit.stored_id, {})}) for hit in hits]


def look(ports: Ports, request: Request) -> Flow[Looked]:
    """Ask all channels that the policy has besides the vectors. What fails is left out, and the recall says so."""
    if request.policy.ways == ("dense",) or not request.cue.own_words.strip():
        return Looked()
    within: Outcome[set[str]] = Outcome()
    if request.where is not None:
        passing = stored(ports, request.policy, ports.store.passing, request.scope, request.where)
        try:
            within = Outcome((yield from passing))
        except StoreError as error:
            return Looked(notes=(f"only the channel 'dense' was asked: {error}",))
    names, outcomes = yield from _asked(ports, request, within.value)
    looked = Looked(within=within.value)
    for name, outcome in zip(names, outcomes, strict=True):
        looked = _with(looked, name, outcome, max(request.policy.recall_k, request.k))
    return looked


def _asked(ports: Ports, request: Request, within: Set[str] | None) -> Flow[tuple[list[str], list[Outcome[Any]]]]:
    """The channels and what came of asking them: all at once, unless it is the words alone and nothing limits them."""
    policy, cue = request.policy, request.cue.own_words
    limit, seconds = max(policy.recall_k, request.k), policy.channel_timeout_seconds
    names = [name for name in policy.ways if name != "dense"]

    def words() -> Leads:
        return ports.lexical.look(request.scope, cue, policy.weighing, limit, within)

    if names == ["lexical"] and not seconds:
        return names, [(yield from attempt(Exception, words))]
    questions = [
        Question(words, seconds, ports.unanswered[name])
        if name in OURS
        else ports.channels[name].asked(seconds, cue, request.scope.user, limit)
        for name in names
    ]
    return names, (yield from ask_outside(questions))


def _with(looked: Looked, name: str, outcome: Outcome[Any], limit: int) -> Looked:
    """What was said so far, and what this channel says, or a note."""
    error: Exception | None = outcome.error
    if error is None and name in OURS:
        leads = cast("Leads", outcome.value)
        note = leads.note
        return replace(looked, leads=leads, notes=looked.notes if note is None else (*looked.notes, note))
    if error is None:
        try:
            return replace(looked, own={**looked.own, name: numbers_of(outcome.value, limit)})
        except InvalidInputError as refused:
            error = refused
    return replace(looked, notes=(*looked.notes, f"the channel {name!r} was left out: {said(error)}"))


def said(error: Exception) -> str:
    """What an error says, or else what it is."""
    return str(error) or type(error).__name__


def joined(ports: Ports, request: Request, cue: Cue, nearest: Finding, looked: Looked) -> Flow[Finding]:
    """The nearest and what the channels found besides, each with its similarity and its leads."""
    alone = looked.leads is None and not looked.own
    if alone and not looked.notes:
        return nearest
    finding = replace(nearest, notes=(*nearest.notes, *looked.notes))
    if alone:
        return finding
    seen = {hit.stored_id for hit in finding.hits}
    words = [one for one in (() if looked.leads is None else looked.leads.best) if one not in seen]
    more, notes = yield from _read(ports, request, cue, finding, [*words, *_places(request, looked, seen)])
    known = yield from standing(ports, request, more)
    hits = [*finding.hits, *present(ports, request, more, known)]
    if finding.lost is not None and not hits:
        raise finding.lost
    if looked.leads is not None and not notes:
        yield from _tell(ports, request, finding, words, more)
    return replace(
        finding,
        hits=looked.together(hits),
        notes=(*finding.notes, *notes),
        dropped=(*finding.dropped, *_absent(request, looked, hits)),
        strangers={**finding.strangers, **strangers(hits[len(finding.hits) :], known, request)},
    )


def _read(
    ports: Ports, request: Request, cue: Cue, finding: Finding, wanted: Sequence[str]
) -> Flow[tuple[list[Found], tuple[str, ...]]]:
    """Those of the records that are there. Where they cannot be read, the vectors answer alone, if they can."""
    try:
        return (yield from among(ports, request.scope, cue.vector, list(dict.fromkeys(wanted)), request.policy)), ()
    except (StoreError, ValueError) as error:  # numpy's, where the caller's vector has another length
        if finding.lost is not None:
            raise finding.lost from error
        return [], (f"what only other channels found was left out: {error}",)


def _places(request: Request, looked: Looked, seen: Set[str]) -> list[str]:
    """Where the records may stand that the caller's channels named: under their own ids, or under scoped ones."""
    named = dict.fromkeys(one for numbers in looked.own.values() for one in numbers)
    places = [(one, scoped_id(request.scope, one)) for one in named]
    new = [place for pair in places if seen.isdisjoint(pair) for place in pair]
    return new if looked.within is None else [place for place in new if place in looked.within]


def _absent(request: Request, looked: Looked, hits: Sequence[Hit]) -> list[Dropped]:
    """What the caller's channels named and this recall may not see. Whether others have it is not told."""
    here = {hit.record.id for hit in hits}
    reason = NOT_HERE if request.where is None else NOT_ASKED_FOR
    named = dict.fromkeys(one for numbers in looked.own.values() for one in numbers)
    return [Dropped(one, reason) for one in named if one not in here]


def _tell(ports: Ports, request: Request, nearest: Finding, wanted: Sequence[str], more: Sequence[Found]) -> Flow[None]:
    """What is not as the channel knows it: records that are gone, or say something else by now."""
    there = {one.stored_id for one in more}
    gone = [one for one in wanted if one not in there]
    if gone:
        yield from ask(ports.lexical.miss, gone)
    found = [Found(hit.stored_id, hit.record.text, hit.record.stored, hit.similarity) for hit in nearest.hits]
    yield from attempt(AdaptiveMemoryError, ports.lexical.notice, request.scope, [*found, *more])
