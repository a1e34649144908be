"""Wider searches if too little is found or decay requires it, and a hint at another kind of user id.

There may be more distant records that are less similar to the cue but stronger. If the ledger can list them and they
are few, they are compared one by one; otherwise the search widens until no further record could win. The top k under
decay are therefore exact.
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
from adaptive_memory_core.score.ranking import as_candidates, unfit_ones
from adaptive_memory_core.score.select import MOST_CANDIDATES, wants_more
from adaptive_memory_core.sources.gather import Gathered, known_of, present, timeline_of
from adaptive_memory_core.sources.request import Request, nearest

TIMES_WIDER = 4  # factor for the number of candidates at each further try


def widen_search(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """The candidates, with more of the nearest records if too few may be returned."""
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
    """The candidates with `found` as the nearest; the read state is only looked up for new ones."""
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
    """The known states of both groups of records; an error in one is an error of both."""
    if first.value is None or second.value is None:
        return second if first.error is None else first
    states = {**first.value.states, **second.value.states}
    return Outcome(second.value._replace(states=states, new=first.value.new | second.value.new))


STRONG = 0.5  # records with at least this strength are compared first
MOST_NEAREST = 30_000  # most candidates; Chroma returns no more at once


def under_decay(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """The candidates with their present strengths, and all more distant records that could win under decay."""
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
    """The candidates with all stronger records that could win, if the ledger can list them; else None. Strong records
    are compared first, because few weak ones could still win after that."""
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
    """The strength that a record beyond the nearest ones would need to be among the k best hits."""
    bound = gathered.nearest[-1].similarity if gathered.nearest else 0.0
    return least_strength(hits, request.policy, bound=bound, k=request.k, now=request.now)


def _widened(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """Repeat the search with more candidates; if it reaches the end, store the extent of the collection."""
    asked = min(TIMES_WIDER * gathered.asked, MOST_NEAREST)
    extent = ports.records.extent()
    found = nearest(ports, request, gathered.cue.vector, asked)
    wider = with_nearest(ports, request, gathered, found, asked=asked)
    whole = extent if len(found) < asked and request.where is None else None
    return aged(wider, request)._replace(whole=whole)


def _named(ports: Ports, request: Request, least: float, extent: Extent) -> list[str] | None:
    """The records with at least this strength in the ledger; None if there are too many or the ledger lacks some."""
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
    """The candidates with their present strengths."""
    timeline = timeline_of(gathered.known, request)
    if timeline.still:
        return gathered
    return gathered._replace(hits=as_candidates(_aged_hits(gathered.hits, gathered, timeline, request)))


def _aged_hits(hits: Sequence[Hit], gathered: Gathered, timeline: Timeline, request: Request) -> list[Hit]:
    """The hits with their present strengths. Unregistered records have not begun to decay. Repeating this changes
    nothing."""
    states = {} if gathered.known.value is None else gathered.known.value.states
    aged = []
    for hit in hits:
        record = hit.record
        state = states.get(hit._stored_id)
        now = state if state is None else as_of(state, record.kind, timeline, now=request.now)
        aged.append(hit if now is None or now is record.read else replace(hit, record=replace(record, read=now)))
    return aged


def _without_twins(gathered: Gathered) -> Gathered:
    """The candidates without duplicates: a record among the nearest is not listed with the others."""
    nearest_ids = {hit._stored_id for hit in gathered.nearest}
    others = [hit for hit in gathered.others if hit._stored_id not in nearest_ids]
    return gathered.with_hits(gathered.nearest, others)


MOST_DIGITS = 20  # digits of a user's number, more than Chroma's integers have


def other_kind_of_user(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """The empty result, with a note if the user with this name as a number or text has records."""
    user = request.scope.name
    other = other_kind(user)
    if other is None:
        return gathered
    outcome = tried(StoreError, ports.records.count, Scope.of(other))
    note = looked_past(user, [other]) if outcome.value else None
    return gathered if note is None else gathered._replace(notes=(*gathered.notes, note))


def other_kind(user: str | int | None) -> str | int | None:
    """The same user id as a number if it is a text, or as a text if it is a number; else None.

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
