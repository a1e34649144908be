"""What if gates leave fewer than k? The vector search is repeated with a larger limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.errors import EmbedderMismatchError, StoreError
from adaptive_memory_core.flow.calls.foreign_calls import Outcome
from adaptive_memory_core.flow.calls.time_limits import nearest
from adaptive_memory_core.flow.candidates.gather import Gathered, known_of, present
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import KnownStates, Ports
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.gates import unfit_ones
from adaptive_memory_core.score.select import MOST_CANDIDATES, wants_more

TIMES_WIDER = 4  # as many candidates at each further try


def widen_search(ports: Ports, request: Request, gathered: Gathered) -> Gathered:
    """The candidates, with more of the nearest where too few of them may be returned."""
    policy, asked = request.policy, gathered.asked
    most, closest = max(MOST_CANDIDATES, request.k), gathered.nearest
    while gathered.lost is None and wants_more(closest, policy, k=request.k, asked=asked, now=request.now):
        asked = min(TIMES_WIDER * asked, most)
        try:
            found = nearest(ports, request, gathered.cue.vector, asked)
        except EmbedderMismatchError:
            raise
        except StoreError as error:
            if not gathered.others:
                raise
            note = f"the channel 'dense' was left out: {error}"
            return replace(gathered.with_hits([], gathered.others), lost=error, notes=(*gathered.notes, note))
        gathered = with_nearest(ports, request, gathered, found, asked=asked)
        closest = gathered.nearest
    notes = _notes(request, gathered, closest)
    return replace(gathered, notes=(*gathered.notes, *notes)) if notes else gathered


def with_nearest(ports: Ports, request: Request, gathered: Gathered, found: list[Found], *, asked: int) -> Gathered:
    """The candidates with these in the place of the nearest; only of new ones the read state is asked."""
    before = {hit._stored_id: hit for hit in gathered.hits}
    new = [one for one in found if one.stored_id not in before]
    known = known_of(ports, request, new)
    hits = before | {hit._stored_id: hit for hit in present(request, new, known)}
    here = {one.stored_id for one in found}
    wider = gathered.with_hits(
        [replace(hits[one.stored_id], similarity=one.similarity) for one in found],
        [hit for hit in gathered.others if hit._stored_id not in here],
    )
    return replace(wider, known=both(gathered.known, known), asked=asked)


def both(first: Outcome[KnownStates], second: Outcome[KnownStates]) -> Outcome[KnownStates]:
    """What is known of these records and of those; an error of either is one of both."""
    if first.value is None or second.value is None:
        return second if first.error is None else first
    states = {**first.value.states, **second.value.states}
    return Outcome(second.value._replace(states=states, new=first.value.new | second.value.new))


def _notes(request: Request, gathered: Gathered, closest: Sequence[Hit]) -> tuple[str, ...]:
    notes = []
    if gathered.near >= gathered.asked > request.k and _none_is_fit(request, closest):
        notes.append(f"all of the {gathered.near} nearest records were left out, and the search ends there")
    if gathered.known.error is not None:
        notes.append(f"the collection's own read state was used: {gathered.known.error}")
    return tuple(notes)


def _none_is_fit(request: Request, hits: Sequence[Hit]) -> bool:
    return len(unfit_ones(hits, request.policy, now=request.now)) == len(hits)
