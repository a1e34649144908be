"""Lookups without ranking: records by id, the newest records, statistics, and past recalls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from statistics import median
from typing import Any

from adaptive_memory_core.error_messages import listed
from adaptive_memory_core.errors import LedgerError, NotFoundError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.records import Stored, seen_of
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.learn.decay import PacedSpan, Timeline, as_of, met, states_after_read, strength
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.record_metadata import hits_of
from adaptive_memory_core.records import Hit, ReadState, Record, Scope, Seen
from adaptive_memory_core.reports import LoggedRecall, Stats
from adaptive_memory_core.score.ranking import stale
from adaptive_memory_core.score.refusals import is_later
from adaptive_memory_core.score.signals import earned_share
from adaptive_memory_core.sources.gather import known_states
from adaptive_memory_core.where import predicate


def states_from_metadata(ports: Ports, scope: Scope) -> dict[str, Seen]:
    """The records that the ledger has not registered yet, with the states in their metadata."""
    strangers: dict[str, Seen] = {}
    pages: Iterator[list[Found]] = ports.records.pages(scope)
    while (page := next(pages, None)) is not None:
        known = known_states(ports, scope, page, now=None)
        new = [one for one in page if one.stored_id not in known.states]
        hits = hits_of(scope, new, {}, ports.fields)
        strangers |= {hit._stored_id: seen_of(hit.record, shared=hit.shared is not None) for hit in hits}
    return strangers


Strengths = Mapping[str, Mapping[str, float]]  # by recall and record; 1 for records that are not listed


class StrengthsAgain:
    """Strengths that records would have had under other policies, calculated once per decay setting.

    A record starts with full strength at its first entry in the log, and counts as read in each recall that returned
    it.
    """

    def __init__(self, lines: Sequence[LoggedRecall], wanted: frozenset[str]) -> None:
        self._lines, self._wanted = lines, wanted
        self._known: dict[object, Strengths] = {}

    def under(self, policy: Policy, recall_id: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The candidates of a recall with the strengths that they would have had under the policy."""
        strengths = {} if policy.pace.still else self._of(policy).get(recall_id, {})
        if all(hit.record.read.strength == strengths.get(hit.record.id, 1.0) for hit in hits):
            return hits
        return [_with_strength(hit, strengths.get(hit.record.id, 1.0)) for hit in hits]

    def _of(self, policy: Policy) -> Strengths:
        key = (policy.decay, policy.refresh_floor_seconds)
        if key not in self._known:
            self._known[key] = strengths_again(self._lines, policy, self._wanted)
        return self._known[key]


def strengths_again(lines: Sequence[LoggedRecall], policy: Policy, wanted: frozenset[str]) -> Strengths:
    """The strengths of the candidates in the `wanted` recalls, given the log in order of time.

    >>> from adaptive_memory_core.reports import LoggedCandidate
    >>> def line(step): return LoggedRecall(
    ...     f"r{step}", step, 100.0 * step, "tea", 1, "p", (LoggedCandidate("a", 0.5, {}, {}, "beyond k"),))
    >>> arm = Policy().replace(decay={"rate": 0.5, "grace": 1})
    >>> strengths_again([line(1), line(2), line(3), line(4)], arm, frozenset(["r4"]))
    {'r4': {'a': 0.25}}
    """
    states: dict[str, ReadState] = {}
    found: dict[str, dict[str, float]] = {}
    pace = policy.pace
    for line in lines:
        timeline = Timeline(line.step - 1, (PacedSpan(0, -math.inf, pace),))
        for one in line.candidates:
            if one.id not in states:
                states[one.id] = met(timeline, ReadState(), now=line.at)
        if line.id in wanted:
            left = {one.id: strength(states[one.id], None, timeline, now=line.at) for one in line.candidates}
            found[line.id] = {name: value for name, value in left.items() if value < 1.0}
        read = [one.id for one in line.kept]
        seen = [Seen(states[one], None) for one in read]
        after = states_after_read(seen, timeline, policy=policy, now=line.at)
        states.update(zip(read, after, strict=True))
    return found


def _with_strength(hit: Hit, left: float) -> Hit:
    read_then = replace(hit.record.read, strength=left)
    return replace(hit, record=replace(hit.record, read=read_then))


def look_up(ports: Ports, scope: Scope, ids: Sequence[str], *, now: float | None) -> dict[str, Stored]:
    """The records that exist in this scope, each with its state from the ledger, or else from its metadata.

    `now=None` writes nothing, even if a record's text has changed or it takes over the state of a deleted record.
    """
    if not ids:
        return {}
    found = ports.records.fetch(scope, ids)
    known = known_states(ports, scope, list(found.values()), now=now)
    hits = hits_of(scope, found.values(), known.states, ports.fields)
    return {hit.record.id: Stored(hit.record, hit._stored_id, hit.shared is not None) for hit in hits}


def look_up_one(ports: Ports, scope: Scope, record_id: str, *, now: float | None) -> Stored:
    """The record; an unknown id raises NotFoundError, which names the scope."""
    found = look_up(ports, scope, [record_id], now=now)
    if record_id not in found:
        raise not_found(scope, [record_id])
    return found[record_id]


def not_found(scope: Scope, ids: Sequence[str]) -> NotFoundError:
    """The error for ids that do not exist in a scope."""
    return NotFoundError(
        f"There is no record {listed(ids)} for {scope}. Give an id that remember() or recall() returned "
        "in this scope and that was not forgotten."
    )


def get(ports: Ports, scope: Scope, record_id: str, *, regime: Regime, now: float) -> Record:
    """One record of the scope, with its present strength."""
    found = look_up_one(ports, scope, record_id, now=None)
    return as_they_stand(ports, scope, [found], regime=regime, now=now)[0]


def as_they_stand(ports: Ports, scope: Scope, found: Sequence[Stored], *, regime: Regime, now: float) -> list[Record]:
    """The records with their present strengths. Records that the ledger has not registered have not begun to decay."""
    known = ports.ledger.states.known(scope, [one.stored_id for one in found])
    timeline = known.timeline.under(regime)
    return [
        replace(one.record, read=as_of(one.record.read, one.record.kind, timeline, now=now))
        if one.stored_id in known.states
        else one.record
        for one in found
    ]


RECORDS_OF_A_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Listing:
    """The records to list: those that pass the filter, and only those valid now if `current` is set."""

    where: Mapping[str, Any] | None
    limit: int
    offset: int
    current: bool


def newest(ports: Ports, scope: Scope, listing: Listing, *, regime: Regime, now: float) -> list[Record]:
    """The records, newest first, each with its read state; records without a time come last. Nothing counts as read."""
    ids = _newest(ports, scope, listing, now)
    records: list[Record] = []
    for start in range(0, len(ids), RECORDS_OF_A_PAGE):
        page = ids[start : start + RECORDS_OF_A_PAGE]
        found = look_up(ports, scope, page, now=None)
        listed = [found[one] for one in page if one in found]
        records += as_they_stand(ports, scope, listed, regime=regime, now=now)
    return records


def ids_where(ports: Ports, scope: Scope, where: Mapping[str, Any] | None, now: float) -> list[str]:
    """The ids of all records of a scope that pass a filter."""
    return [one.id for one in _matching(ports, scope, Listing(where, 0, 0, current=False), now)]


def _newest(ports: Ports, scope: Scope, listing: Listing, now: float) -> list[str]:
    found = nlargest(listing.offset + listing.limit, _matching(ports, scope, listing, now), key=_when)
    return list(dict.fromkeys(one.id for one in found))[listing.offset :]


def _matching(ports: Ports, scope: Scope, listing: Listing, now: float) -> Iterator[Record]:
    where = listing.where
    passes = None if where is None else predicate(where)
    for page in ports.records.pages(scope):
        matching = page if passes is None else [one for one in page if passes(one.metadata or {}, one.text)]
        for hit in hits_of(scope, matching, {}, ports.fields):
            if not listing.current or (
                hit.record.text and stale(hit, now=now) is None and not is_later(hit.record, now)
            ):
                yield hit.record


def _when(record: Record) -> tuple[bool, float]:
    return record.created_at is not None, record.created_at or 0.0


def stats(ports: Ports, scope: Scope, *, regime: Regime, at_least: float, now: float) -> Stats:
    """Statistics of the scope; records that the ledger has not registered count with the state in their metadata."""
    records = ports.records.count(scope)
    tally = ports.ledger.statistics.tally(scope)
    strangers = states_from_metadata(ports, scope) if records > tally.met else {}
    states = [one.state for one in strangers.values()]
    strengths = ports.ledger.statistics.strengths(scope, regime, at_least=at_least, unmet=states, now=now)
    return Stats(
        records=records,
        recalls=tally.recalls,
        reads=tally.reads + sum(one.retrieval_count for one in states),
        read_records=tally.read_records + sum(one.retrieval_count > 0 for one in states),
        remembered=tally.remembered + sum(one.remembered for one in states),
        pinned=tally.pinned + sum(one.pinned for one in states),
        verdicts=tally.verdicts,
        logged_recalls=tally.logged_recalls,
        strengths=strengths,
        update_ms=median(tally.update_ms) if tally.update_ms else None,
        projection=ports.write_back.stats(scope).pending_for(tally.pending),
        useful_gain=earned_share(tally.balance),
        background=ports.background.stats(),
    )


def recalls(
    ports: Ports,
    scope: Scope,
    *,
    kept_since: float,
    since: float | None,
    until: float | None,
    limit: int,
    containing: str | None,
    turn: str | None,
) -> Sequence[LoggedRecall]:
    """Past recalls of the scope, newest first. Recalls beyond the retention are left out even if they are still stored:
    the ledger deletes them only after several readings of the clock agree."""
    tried(LedgerError, ports.write_back.tidy, at_once=False)
    first = kept_since if since is None else max(kept_since, since)
    return ports.ledger.log.recalls(scope, since=first, until=until, limit=limit, containing=containing, turn=turn)
