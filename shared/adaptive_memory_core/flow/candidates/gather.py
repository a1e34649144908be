"""Where could it be? The nearest records, and then those that decay could have let through from further out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adaptive_memory_core.cue.time.intent import NO_INTENT, Intent
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.calls.drive import Flow, Outcome, ask, attempt
from adaptive_memory_core.flow.calls.foreign_calls import Theirs
from adaptive_memory_core.flow.calls.time_limits import nearest
from adaptive_memory_core.flow.candidates import read_state as carry_over
from adaptive_memory_core.flow.ports import Extent, Found, KnownStates, Ports, Where, seen
from adaptive_memory_core.learn.decay.could_outrank import least_strength, strongest
from adaptive_memory_core.learn.decay.strength import Timeline, as_of, strong_since
from adaptive_memory_core.learn.usefulness_weight import gain
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import DEFAULT_FIELDS, Cue, Dropped, Fields, Hit, Record, Scope, Seen
from adaptive_memory_core.score.gates import unfit
from adaptive_memory_core.score.select import wants_more
from adaptive_memory_core.score.usefulness import NO_USE, Use

WIDER = 4  # times as many candidates at each further try
STRONG = 0.5  # of strength: those who have it are named first
MOST = 30_000  # candidates at the very most; Chroma answers no more at once


Bar = Callable[[Record], str | None]  # why the caller will not have a record, or None


@dataclass(frozen=True, slots=True)
class Request:
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
    bar: Bar | None = None
    notes: tuple[str, ...] = ()
    fields: Fields = DEFAULT_FIELDS
    reranker: Theirs | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The candidates, notes on what was left out, and the records that the ledger has not met yet."""

    hits: list[Hit]
    notes: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()  # before there was anything to score
    strangers: Mapping[str, Seen] = field(default_factory=dict)
    guests: frozenset[str] = frozenset()  # hits that are no records: nothing is learned of them
    vectors: Mapping[str, Any] = field(default_factory=dict)  # of the candidates, where the policy compares them
    extent: Extent | None = None  # of the collection, where all records of the scope were looked at
    use: Use = NO_USE  # where the user stands
    lost: AdaptiveMemoryError | None = None  # why the vectors found nothing
    unrelated: float | None = None  # share of unrelated questions that find as good; None: not known
    refused: str | None = None  # why none of the hits is good enough


def find(ports: Ports, request: Request, cue: Cue) -> Flow[Finding]:
    """Candidates with their read state as of now: more where gates leave too few, and all that decay lets through."""
    policy, asked = request.policy, max(request.policy.recall_k, request.k)
    while True:
        found = yield from nearest(ports, request.scope, cue.vector, asked, request.where, request.policy)
        known = yield from standing(ports, request, found)
        hits = present(ports, request, found, known)
        if not wants_more(hits, policy, k=request.k, asked=asked, now=request.now):
            break
        asked = min(WIDER * asked, max(policy.recall_limit, request.k))
    notes = _notes(request, hits, known, asked)
    finding = Finding(hits, notes, strangers=strangers(hits, known, request), use=use_of(known, request))
    if _timeline(known, request).still or len(hits) < asked:
        return finding
    return (yield from _beyond(ports, request, cue, finding, asked))


def standing(ports: Ports, request: Request, found: Sequence[Found]) -> Flow[Outcome[KnownStates]]:
    """What the ledger knows of the records; a recall can do without."""
    try:
        keep, turn = request.reinforce, request.turn
        return Outcome((yield from carry_over.standing(ports, request.scope, found, keep=keep, turn=turn)))
    except LedgerError as error:
        return Outcome(error=error)


def present(ports: Ports, request: Request, found: Sequence[Found], known: Outcome[KnownStates]) -> list[Hit]:
    """What was found, as hits whose strength is today's."""
    states = {} if known.value is None else known.value.states
    hits = barred(ports.store.hits(request.scope, found, states), request.bar)
    timeline = _timeline(known, request)
    return (
        hits
        if timeline.still
        else [_aged(hit, timeline, request.now) if hit.stored_id in states else hit for hit in hits]
    )


def barred(hits: list[Hit], bar: Bar | None) -> list[Hit]:
    """The hits, with the reason on those that the caller will not have."""
    return hits if bar is None else [replace(hit, barred=bar(hit.record)) for hit in hits]


def _beyond(ports: Ports, request: Request, cue: Cue, finding: Finding, asked: int) -> Flow[Finding]:
    """Further out there may be records that are less like the cue but stronger. Either the ledger can name them, few
    enough to be compared one by one, or the search widens until none is left that could win."""
    while _least(finding.hits, finding.hits, request) is not None:
        compared = yield from _compared(ports, request, cue, finding)
        if compared is not None:
            finding = compared
            break
        if asked >= MOST:
            note = f"records beyond the {len(finding.hits):,} nearest may be stronger than what decay has left of these"
            finding = replace(finding, notes=(*finding.notes, note))
            break
        asked = min(WIDER * asked, MOST)
        finding = yield from _widened(ports, request, cue, finding, asked)
        if len(finding.hits) < asked:
            break
    return replace(finding, hits=strongest(finding.hits, request.policy, k=request.k, now=request.now))


def _compared(ports: Ports, request: Request, cue: Cue, finding: Finding) -> Flow[Finding | None]:
    """The candidates with all stronger records that could win, if the ledger can name them: the strong ones first,
    since beside them hardly any of the many weak ones still could."""
    hits, extent = finding.hits, (yield from ask(ports.store.extent))
    for most in (STRONG, 0.0):
        least = _least(hits, finding.hits, request)
        if least is None or (hits is not finding.hits and least >= STRONG):
            break
        named = yield from _named(ports, request, max(least, most), extent)
        if named is None:
            return None
        seen = {hit.stored_id for hit in hits}
        new = [one for one in named if one not in seen]
        more = yield from ask(ports.store.among, request.scope, cue.vector, new, request.where)
        known = yield from standing(ports, request, more)
        hits = [*hits, *present(ports, request, more, known)]
    return replace(finding, hits=hits)


def _least(hits: Sequence[Hit], nearest: Sequence[Hit], request: Request) -> float | None:
    """The strength that a record further out than the nearest ones would need to come among the k best of the hits."""
    bound = nearest[-1].similarity if nearest else 0.0
    return least_strength(hits, request.policy, bound=bound, k=request.k, now=request.now)


def _widened(ports: Ports, request: Request, cue: Cue, before: Finding, asked: int) -> Flow[Finding]:
    """The same search, further out; where it reaches the end, the size of the collection is kept."""
    extent = yield from ask(ports.store.extent)
    found = yield from nearest(ports, request.scope, cue.vector, asked, request.where, request.policy)
    known = yield from standing(ports, request, found)
    hits = present(ports, request, found, known)
    whole = extent if len(hits) < asked and request.where is None else None
    more = strangers(hits, known, request)
    return Finding(hits, before.notes, strangers=more, extent=whole, use=before.use)


def _named(ports: Ports, request: Request, least: float, extent: Extent) -> Flow[list[str] | None]:
    """The records that the ledger knows to be that strong; None where they are many, or it does not know all."""
    limit = max(request.policy.recall_limit, request.k)

    def since(timeline: Timeline) -> tuple[int, float] | None:
        return strong_since(timeline.under(request.regime), least, now=request.now)

    outcome = yield from attempt(
        LedgerError,
        ports.ledger.states.strong,
        request.scope,
        least,
        since,
        extent=extent,
        limit=limit,
        turn=request.turn,
    )
    return outcome.value


def _timeline(known: Outcome[KnownStates], request: Request) -> Timeline:
    """The user's timeline; without a ledger nothing is known to have decayed."""
    return (Timeline(0) if known.value is None else known.value.timeline).under(request.regime)


def use_of(known: Outcome[KnownStates], request: Request) -> Use:
    """Where the user stands; without a ledger, at the beginning."""
    if known.value is None:
        return NO_USE
    adapts = request.policy.adaptive and request.policy.blending == "bounded"
    return Use(known.value.timeline.step, gain(known.value.balance) if adapts else 1.0)


def _aged(hit: Hit, timeline: Timeline, now: float) -> Hit:
    record = hit.record
    state = as_of(record.read, record.kind, timeline, now=now)
    return hit if state is record.read else replace(hit, record=replace(record, read=state))


def strangers(hits: Sequence[Hit], known: Outcome[KnownStates], request: Request) -> dict[str, Seen]:
    """Records that the ledger has not met: where things decay, it must know since when it knows them."""
    if known.value is None or (_timeline(known, request).still and request.policy.pace.still):
        return {}
    states = known.value.states
    return {hit.stored_id: seen(hit.record) for hit in hits if hit.stored_id not in states}


def _notes(request: Request, hits: Sequence[Hit], known: Outcome[KnownStates], asked: int) -> tuple[str, ...]:
    policy = request.policy
    notes = []
    if len(hits) >= asked > request.k and all(unfit(hit, policy, now=request.now) for hit in hits):
        notes.append(f"all of the {len(hits)} nearest records were left out, and recall_limit ends the search there")
    if known.error is not None:
        notes.append(f"the collection's own read state was used: {known.error}")
    return tuple(notes)
