"""The messages directly before and after a hit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.channels.turns import Turn, adjacent_turns, asks, turn_of
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.foreign_calls import ForeignCall, answered
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Found, Pair
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.record_metadata import hits_of
from adaptive_memory_core.records import Hit, Neighbour, Record, Scored
from adaptive_memory_core.score.ranking import stale
from adaptive_memory_core.score.refusals import is_later
from adaptive_memory_core.sources.gather import NOTHING_KNOWN, error_text, present
from adaptive_memory_core.sources.request import Request, in_collection

ANSWERS = 5  # best hits that get the question before them; the first one gets both neighbours; measured
LONGEST_NEXT = 400  # characters of a turn next to a result; long ones push evidence out; docs/research/conversations.md
MOST_TURNS = 1_000  # turns of the hits' sessions that are read if the word index does not provide the neighbours
LEFT_OUT = "the neighbours of the hits were left out"
NO_SESSION = "no neighbours are shown: what was found says no session, or no order in it"
TOO_LONG = f"no neighbours are shown: the sessions of what was found hold more than {MOST_TURNS:,} turns"
BEFORE, AFTER = -1, 1


def with_neighbours(ports: Ports, request: Request, answer: Recall) -> Recall:
    """The answer with the neighbours of its first hit and the questions that the next ones answer, if asked for.

    Neighbours must pass the same gates as hits, and do not count as read. After a failure they are left out, with a
    note.
    """
    policy = request.policy
    if not (policy.advanced.neighbours or policy.shape == "episodes") or not answer.kept:
        return answer
    best = answer.kept[:ANSWERS]
    try:
        pairs, note = _pairs(ports, request, best)
        found = that_may_be_shown(ports, request, _wanted(best, pairs))
    except AdaptiveMemoryError as error:
        pairs, note, found = {}, f"{LEFT_OUT}: {error}", {}
    around = tuple(one for hit in best for one in _neighbours_of(request, hit, pairs, found, first=hit is best[0]))
    return replace(answer, neighbours=around, trace=answer.trace if note is None else (*answer.trace, note))


def _pairs(ports: Ports, request: Request, best: Sequence[Scored]) -> tuple[Mapping[str, Pair], str | None]:
    """The neighbours' ids for each hit, from the word index or else from the records of the sessions."""
    if "lexical" in request.policy.ways:
        return _known(ports, request, [one.hit._stored_id for one in best])
    by_session = {_turn(request, one.record).session: one.record.stored.get(request.fields.session) for one in best}
    sessions = [value for name, value in by_session.items() if name is not None]
    if not sessions:
        return {}, NO_SESSION
    rows: list[Found] = []
    for kind in dict.fromkeys(map(type, sessions)):  # a database compares values of one type only
        named = [value for value in sessions if type(value) is kind]
        rows += in_collection(ports, request.policy, ports.records.of_sessions, request.scope, named, MOST_TURNS + 1)
    if len(rows) > MOST_TURNS:
        return {}, TOO_LONG
    hits = hits_of(request.scope, rows, {}, request.fields)
    pairs = adjacent_turns((hit._stored_id, _turn(request, hit.record)) for hit in hits)
    return pairs, None if pairs else NO_SESSION


def _known(ports: Ports, request: Request, ids: Sequence[str]) -> tuple[Mapping[str, Pair], str | None]:
    """The neighbours in the word index. If it fails, as any channel may, neighbours are left out, with a note."""
    seconds = request.policy.advanced.timeout_seconds

    def look() -> Mapping[str, Pair]:
        return ports.words.neighbours(request.scope, ids)

    outcome = answered(ForeignCall(look, seconds, ports.unanswered["lexical"]))
    return (
        ({}, f"{LEFT_OUT}: {error_text(outcome.error)}") if outcome.error is not None else (outcome.value or {}, None)
    )


def _wanted(best: Sequence[Scored], pairs: Mapping[str, Pair]) -> list[str]:
    """The ids to fetch: both neighbours of the first hit, and the message before each of the others."""
    wanted = [one for hit in best for one in pairs.get(hit.hit._stored_id, ())[: 2 if hit is best[0] else 1]]
    return list(dict.fromkeys(one for one in wanted if one is not None))


def that_may_be_shown(ports: Ports, request: Request, stored_ids: Sequence[str]) -> dict[str, Hit]:
    """The records of this scope that the recall could have returned: passed by the filter, not refused, not stale."""
    if stored_ids and request.where is not None:
        passing = in_collection(ports, request.policy, ports.search.passing, request.scope, request.where)
        stored_ids = [one for one in stored_ids if one in passing]
    if not stored_ids:
        return {}
    rows = in_collection(ports, request.policy, ports.search.stored, request.scope, stored_ids)
    hits = present(request, rows, NOTHING_KNOWN)
    there = [hit for hit in hits if request.as_of is None or not is_later(hit.record, request.as_of)]
    return {hit._stored_id: hit for hit in there if hit.refused is None and stale(hit, now=request.now) is None}


def _neighbours_of(
    request: Request, hit: Scored, pairs: Mapping[str, Pair], found: Mapping[str, Hit], *, first: bool
) -> list[Neighbour]:
    before, after = pairs.get(hit.hit._stored_id, (None, None))
    own = _turn(request, hit.record).session
    around = []
    for stored_id, offset in ((before, BEFORE), (after, AFTER)):
        record = None if stored_id is None or stored_id not in found else found[stored_id].record
        if record is None or _turn(request, record).session != own:  # the index may not be up to date after a move
            continue
        if len(record.text) > _longest(request.policy):
            continue
        if first or (offset == BEFORE and asks(record.text)):
            around.append(Neighbour(record, hit.id, offset))
    return around


def _longest(policy: Policy) -> float:
    """The longest neighbour that may be shown, in characters; unlimited if the policy asks for neighbours."""
    return math.inf if policy.advanced.neighbours else LONGEST_NEXT


def _turn(request: Request, record: Record) -> Turn:
    return turn_of(record.text, record.stored, request.fields, created_at=record.created_at)
