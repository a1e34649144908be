"""The candidates of a recall: what all sources named, fetched once, with their read state.

Both may be there: everyone's was written without asking each user, and a user's never writes over everyone's.
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
from adaptive_memory_core.flow.ports.ledger_values import Extent, KnownStates
from adaptive_memory_core.flow.ports.source import Answer, Found
from adaptive_memory_core.identity import own_places
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.learn.logged_state import named_by
from adaptive_memory_core.learn.verdicts import StateHistory, earned_share, state_as_of
from adaptive_memory_core.policy.advanced import DENSE
from adaptive_memory_core.record_metadata import SHARED, belongs, hits_of
from adaptive_memory_core.records import Cue, Dropped, Hit, Scope
from adaptive_memory_core.score.ranking import Candidates, as_candidates
from adaptive_memory_core.score.signals import NEUTRAL_IMPORTANCE, NO_USE, Use, boosted, odd_importance
from adaptive_memory_core.sources.read_state import known_states
from adaptive_memory_core.sources.request import Request, among

HIDDEN = "hidden by the user's own record of this id"


def places_of_own(request: Request, found: Sequence[Found]) -> list[str]:
    """The ids of a user's own records that would hide those found of everyone's; the ledger says which of them
    exist."""
    scope, fields = request.scope, request.fields
    shared = [one.stored_id for one in found if belongs(one.metadata, SHARED, fields)]
    return [place for one in shared for place in own_places(scope, one)]


def without_hidden(scope: Scope, hits: Sequence[Hit], known: Collection[str]) -> list[Hit]:
    """The hits; everyone's that an own record hides are refused. `known` are ids that the ledger has met."""
    return [replace(hit, refused=HIDDEN) if _is_hidden(scope, hit, known) else hit for hit in hits]


def _is_hidden(scope: Scope, hit: Hit, known: Collection[str]) -> bool:
    return hit.shared is not None and any(one in known for one in own_places(scope, hit._stored_id))


NOTHING_KNOWN: Outcome[KnownStates] = Outcome()
STORED_ID, SOURCE, NAMED, ASKED_FOR = map(attrgetter, ("stored_id", "source", "named", "asked_for"))
NOT_HERE = "not a record of this scope"
NOT_ASKED_FOR = "no record of this scope that passes the filter"


class Gathered(NamedTuple):
    """The candidates, each with its read state, and what is known of the user's reads.

    The first of the hits are those that the vectors found, nearest first; then comes what only other sources named.
    """

    cue: Cue
    hits: Candidates
    near: int  # of the hits, the first of them, that the vectors found
    known: Outcome[KnownStates]
    asked: int  # how many of the nearest were asked for
    absent: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    lost: Exception | None = None  # why the vectors found nothing
    whole: Extent | None = None  # of the collection, where all records of the scope were looked at
    because: Mapping[str, Sequence[str]] = MappingProxyType({})  # why sources named records, by stored id
    via: Mapping[str, int] = MappingProxyType({})  # which sources named each, by stored id, as bits
    guests: frozenset[str] = frozenset()  # hits that are no records: nothing is learned of them

    @property
    def nearest(self) -> Sequence[Hit]:
        return self.hits[: self.near]

    @property
    def others(self) -> Sequence[Hit]:
        return self.hits[self.near :]

    def with_hits(self, nearest: Sequence[Hit], others: Sequence[Hit]) -> Gathered:
        """The same with these candidates."""
        return self._replace(hits=as_candidates([*nearest, *others]), near=len(nearest))


def gather(ports: Ports, request: Request, answers: Sequence[Answer]) -> Gathered:
    """All that was named, once each. What cannot be fetched besides the nearest is left out, with a note."""
    dense, notes = dict(zip(map(SOURCE, answers), answers, strict=True))[DENSE], notes_of(answers)
    cue = request.cue if dense.cue is None else dense.cue
    here = set(map(STORED_ID, dense.found))
    beside = _once(answers, dense, here)
    named = dict.fromkeys(chain.from_iterable(map(NAMED, answers)))
    missing = named.keys() - here - dense.looked_up
    if missing:
        try:
            beside += among(ports, request, cue.vector, [one for one in named if one in missing])
        except (StoreError, ValueError) as error:  # numpy's, where the caller's vector has another length
            if dense.error is not None:
                raise dense.error from error
            notes.append(f"what only other channels found was left out: {error}")
    found = [*dense.found, *beside]
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
    )


def _once(answers: Sequence[Answer], dense: Answer, here: set[str]) -> list[Found]:
    """What sources besides the vectors brought, and what was looked up along with the nearest; the ids are added to
    those that are here."""
    brought: dict[str, Found] = {}
    for answer in answers:
        if answer is not dense:
            for one in answer.found:
                brought[one.stored_id] = one
    found = []
    for one in (*brought.values(), *dense.beside):
        if one.stored_id not in here:
            here.add(one.stored_id)
            found.append(one)
    return found


def known_of(ports: Ports, request: Request, found: Sequence[Found]) -> Outcome[KnownStates]:
    """The ledger's states of the records; a recall can do without them."""
    try:
        now = request.now if request.reinforce else None
        more = [] if request.scope.over is None else places_of_own(request, found)
        turn, version = request.turn, request.version
        known = known_states(ports, request.scope, found, now=now, turn=turn, more=more, version=version)
    except LedgerError as error:
        return Outcome(error=error)
    return Outcome(known)


def present(request: Request, found: Sequence[Found], known: Outcome[KnownStates]) -> Candidates:
    """What was found as hits, with the reason on those that the caller will not have."""
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
    """The hit as it was read and judged up to that day."""
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
    """The user's timeline; without a ledger nothing is known to have decayed."""
    return (Timeline(0) if known.value is None else known.value.timeline).under(request.regime)


def use_of(known: Outcome[KnownStates], request: Request) -> Use:
    """How many recalls the user has made, and how much usefulness counts; without a ledger, as at the beginning."""
    earns = request.policy.learning.earned and request.policy.blending == "bounded"
    if known.value is None:
        return NO_USE if earns else Use(gain=1.0)
    step = known.value.timeline.step if request.past is None else request.past.step
    return Use(step, earned_share(known.value.balance) if earns else 1.0)


def _reasons(answers: Sequence[Answer]) -> dict[str, list[str]]:
    """Why records were named, of those sources that say so."""
    told: dict[str, list[str]] = {}
    for one in answers:
        for stored_id, reason in one.because.items():
            told.setdefault(stored_id, []).append(reason)
    return told


def _named_by(answers: Sequence[Answer]) -> dict[str, int]:
    """Which sources named each record, as bits that the log keeps."""
    found: dict[str, int] = {}
    for one in answers:
        if one.named or one.found:
            bit = named_by(one.source)
            for stored_id in (*one.named, *map(STORED_ID, one.found)):
                found[stored_id] = found.get(stored_id, 0) | bit
    return found


def notes_of(answers: Sequence[Answer]) -> list[str]:
    """What the sources have to say besides, and which of them failed."""
    notes: list[str] = []
    for one in answers:
        notes += one.notes
        if one.error is not None:
            notes.append(f"the channel {one.source!r} was left out: {error_text(one.error)}")
    return notes


def error_text(error: Exception) -> str:
    """What an error says, or else what it is."""
    return str(error) or type(error).__name__


def _absent(request: Request, answers: Sequence[Answer], hits: Sequence[Hit]) -> tuple[Dropped, ...]:
    """What the caller's channels named and this recall may not see. Whether others have it is not told."""
    asked_for = dict.fromkeys(chain.from_iterable(map(ASKED_FOR, answers)))
    if not asked_for:
        return ()
    here = {hit.record.id for hit in hits}
    reason = NOT_HERE if request.where is None else NOT_ASKED_FOR
    return tuple(Dropped(one, reason) for one in asked_for if one not in here)
