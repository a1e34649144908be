"""Where too little is found: a wider search, one that decay cannot mislead, and a hint at another kind of user id.

Further out there may be records that are less like the cue but stronger. Either the ledger can name them, few enough to
be compared one by one, or the search widens until none is left that could win. So the top k under decay are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.context.reasons import looked_past
from adaptive_memory_core.errors import EmbedderMismatchError, LedgerError, StoreError
from adaptive_memory_core.flow.calls.foreign_calls import Outcome, tried
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import Extent, KnownStates
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.learn.decay import Timeline, as_of, least_strength, strong_since, strongest
from adaptive_memory_core.records import Hit, Scope
from adaptive_memory_core.score.gates import unfit_ones
from adaptive_memory_core.score.ranking import as_candidates
from adaptive_memory_core.score.select import MOST_CANDIDATES, wants_more
from adaptive_memory_core.sources.gather import Gathered, known_of, present, timeline_of
from adaptive_memory_core.sources.request import Request, nearest

TIMES_WIDER = 4  # as many candidates at each further try


def widen_search(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """The candidates, with more of the nearest where too few of them may be returned."""
    policy, k, now = request.policy, request.k, request.now
    while gathered.lost is None and wants_more(
        gathered.hits, policy, k=k, asked=gathered.asked, now=now, near=gathered.near
    ):
        asked = min(TIMES_WIDER * gathered.asked, max(MOST_CANDIDATES, k))
        try:
            found = nearest(ports, request, gathered.cue.vector, asked)
        except EmbedderMismatchError:
            raise
        except StoreError as error:
            if not gathered.others:
                raise
            note = f"the channel 'dense' was left out: {error}"
            return gathered.with_hits([], gathered.others)._replace(lost=error, notes=(*gathered.notes, note))
        gathered = with_nearest(ports, request, gathered, found, asked=asked)
    notes = gathered.notes
    unfit = unfit_ones(gathered.hits, policy, now=now) if gathered.near >= gathered.asked > k else {}
    if unfit and unfit.keys() >= set(range(gathered.near)):
        notes = (*notes, f"all of the {gathered.near} nearest records were left out, and the search ends there")
    if gathered.known.error is not None:
        notes = (*notes, f"the collection's own read state was used: {gathered.known.error}")
    return gathered if notes is gathered.notes else gathered._replace(notes=notes)


def with_nearest(ports: Ports, request: Request, gathered: Gathered, found: list[Found], *, asked: int) -> Gathered:
    """The candidates with these instead of the nearest; the read state is looked up for new ones only."""
    before = {hit._stored_id: hit for hit in gathered.hits}
    new = [one for one in found if one.stored_id not in before]
    known = known_of(ports, request, new)
    hits = before | {hit._stored_id: hit for hit in present(request, new, known)}
    here = {one.stored_id for one in found}
    wider = gathered.with_hits(
        [replace(hits[one.stored_id], similarity=one.similarity) for one in found],
        [hit for hit in gathered.others if hit._stored_id not in here],
    )
    return wider._replace(known=merged_states(gathered.known, known), asked=asked)


def merged_states(first: Outcome[KnownStates], second: Outcome[KnownStates]) -> Outcome[KnownStates]:
    """What is known of these records and of those; an error of either is one of both."""
    if first.value is None or second.value is None:
        return second if first.error is None else first
    states = {**first.value.states, **second.value.states}
    return Outcome(second.value._replace(states=states, new=first.value.new | second.value.new))


STRONG = 0.5  # of strength: those who have it are named first
MOST_NEAREST = 30_000  # candidates at the very most; Chroma answers no more at once


def under_decay(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """The candidates as strong as they are now, and all that decay lets through from further out."""
    gathered = aged(gathered, request)
    if len(gathered.nearest) < gathered.asked:
        return gathered
    while _least(gathered.nearest, gathered, request) is not None:
        compared = _compared(ports, request, gathered)
        if compared is not None:
            gathered = compared
            break
        if gathered.asked >= MOST_NEAREST:
            count = len(gathered.nearest)
            note = f"records beyond the {count:,} nearest may be stronger than what decay has left of these"
            gathered = gathered._replace(notes=(*gathered.notes, note))
            break
        gathered = _widened(ports, request, gathered)
        if len(gathered.nearest) < gathered.asked:
            break
    best = strongest(gathered.nearest, request.policy, k=request.k, now=request.now)
    return _without_twins(gathered.with_hits(best, gathered.others))


def _compared(ports: Ports, request: Request, gathered: Gathered) -> Gathered | None:
    """The candidates with all stronger records that could win, if the ledger can name them: the strong ones first,
    since against them hardly any of the many weak ones still could."""
    extent = ports.records.extent()
    nearest_ones: Sequence[Hit] = gathered.nearest
    hits = nearest_ones
    for most in (STRONG, 0.0):
        least = _least(hits, gathered, request)
        if least is None or (hits is not nearest_ones and least >= STRONG):
            break
        named = _named(ports, request, max(least, most), extent)
        if named is None:
            return None
        seen = {hit._stored_id for hit in hits}
        new = [one for one in named if one not in seen]
        more = ports.search.among(request.scope, gathered.cue.vector, new, request.where)
        of_more = known_of(ports, request, more)
        gathered = gathered._replace(known=merged_states(gathered.known, of_more))
        timeline = timeline_of(gathered.known, request)
        hits = [*hits, *_aged_hits(present(request, more, of_more), gathered, timeline, request)]
    return gathered.with_hits(hits, gathered.others)


def _least(hits: Sequence[Hit], gathered: Gathered, request: Request) -> float | None:
    """The strength that a record further out than the nearest ones would need to come among the k best of the hits."""
    bound = gathered.nearest[-1].similarity if gathered.nearest else 0.0
    return least_strength(hits, request.policy, bound=bound, k=request.k, now=request.now)


def _widened(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """The same search, further out; where it reaches the end, the size of the collection is kept."""
    asked = min(TIMES_WIDER * gathered.asked, MOST_NEAREST)
    extent = ports.records.extent()
    found = nearest(ports, request, gathered.cue.vector, asked)
    wider = with_nearest(ports, request, gathered, found, asked=asked)
    whole = extent if len(found) < asked and request.where is None else None
    return aged(wider, request)._replace(whole=whole)


def _named(ports: Ports, request: Request, least: float, extent: Extent) -> list[str] | None:
    """The records that are that strong according to the ledger; None if there are many, or if it does not have all."""
    limit = max(MOST_CANDIDATES, request.k)

    def since(timeline: Timeline) -> tuple[int, float] | None:
        return strong_since(timeline.under(request.regime), least, now=request.now)

    outcome = tried(
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


def aged(gathered: Gathered, request: Request) -> Gathered:
    """The candidates, each as strong as it is now."""
    timeline = timeline_of(gathered.known, request)
    if timeline.still:
        return gathered
    return gathered._replace(hits=as_candidates(_aged_hits(gathered.hits, gathered, timeline, request)))


def _aged_hits(hits: Sequence[Hit], gathered: Gathered, timeline: Timeline, request: Request) -> list[Hit]:
    """What the ledger has not met has not begun to decay. Aging is absolute: done twice, it changes nothing."""
    states = {} if gathered.known.value is None else gathered.known.value.states
    aged = []
    for hit in hits:
        record = hit.record
        state = states.get(hit._stored_id)
        now = state if state is None else as_of(state, record.kind, timeline, now=request.now)
        aged.append(hit if now is None or now is record.read else replace(hit, record=replace(record, read=now)))
    return aged


def _without_twins(gathered: Gathered) -> Gathered:
    """A record that is among the nearest is named there alone."""
    nearest_ids = {hit._stored_id for hit in gathered.nearest}
    others = [hit for hit in gathered.others if hit._stored_id not in nearest_ids]
    return gathered.with_hits(gathered.nearest, others)


MOST_DIGITS = 20  # of a user's number, more than Chroma's whole numbers have


def other_kind_of_user(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """What was gathered, which is nothing; with a note, if the other user of this name has records."""
    user = request.scope.name
    other = other_kind(user)
    if other is None:
        return gathered
    outcome = tried(StoreError, ports.records.count, Scope.of(other))
    note = looked_past(user, [other]) if outcome.value else None
    return gathered if note is None else gathered._replace(notes=(*gathered.notes, note))


def other_kind(user: str | int | None) -> str | int | None:
    """The number that a text names, and the text of a number.

    >>> other_kind("7"), other_kind(7), other_kind("-7"), other_kind("07"), other_kind("ana"), other_kind(None)
    (7, '7', -7, None, None, None)
    """
    if isinstance(user, int):
        return str(user)
    try:
        number = int(user) if user is not None and len(user) <= MOST_DIGITS else None
    except ValueError:
        return None
    return number if str(number) == user else None
