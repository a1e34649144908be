"""Removal of records that are no longer useful; and lists of flagged records, changes and samples."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from adaptive_memory_core.flow.calls.one_transaction import in_one_transaction
from adaptive_memory_core.flow.count_reading import retire
from adaptive_memory_core.flow.look_up import as_they_stand, look_up, states_from_metadata
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.records import Stored
from adaptive_memory_core.identity import record_id, stored_ids_of
from adaptive_memory_core.learn.decay import PacedSpan, Timeline, strength
from adaptive_memory_core.policy.learning import DecayPace, Regime
from adaptive_memory_core.records import Record, Scope, Seen
from adaptive_memory_core.reports import Change, PruneReceipt, Sample

RECORDS_OF_A_PAGE = 1_000
Flag = Literal["remembered", "pinned"]


def flagged_records(ports: Ports, scope: Scope, flag: Flag, *, regime: Regime, now: float) -> list[Record]:
    """The records with a flag in the ledger or, if the ledger has not registered them, in their metadata."""
    known = ports.ledger.states.flagged(scope, flag)
    shown = ports.records.flagged(scope, flag)
    ids = sorted({record_id(scope, one) for one in (*known, *shown)})
    records: list[Record] = []
    for start in range(0, len(ids), RECORDS_OF_A_PAGE):
        found = look_up(ports, scope, ids[start : start + RECORDS_OF_A_PAGE], now=now)
        flagged = [one for one in found.values() if getattr(one.record.read, flag)]
        records += as_they_stand(ports, scope, flagged, regime=regime, now=now)
    return records


def changes(ports: Ports, scope: Scope, record: str | None, *, limit: int) -> Sequence[Change]:
    """The audit trail, newest first: of the whole scope, or of one record."""
    places = [] if record is None else stored_ids_of(scope, record)
    return ports.ledger.audit.changes(scope, places, limit=limit)


def history(ports: Ports, scope: Scope) -> Sequence[Sample]:
    """All samples of the statistics, oldest first."""
    return ports.ledger.statistics.samples(scope)


PRUNED_AT_ONCE = 200  # records per transaction
UNMET = Timeline(0, (PacedSpan(0, -math.inf, DecayPace()),))  # nothing has decayed
Worth = tuple[float, float]
Archive = Callable[[Sequence[Record]], None]


@dataclass(frozen=True, slots=True)
class Pruning:
    """The checked arguments of one call of prune."""

    scope: Scope
    below: float | None  # strength
    unread_since: float | None  # time
    most: int | None  # records of the scope that may stay
    limit: int
    dry_run: bool
    archive: Archive | None
    by: str
    regime: Regime
    now: float
    last: Worth | None = None  # if there are too many records: all up to this worth are removed

    def doomed(self, seen: Seen, *, timeline: Timeline) -> bool:
        """Whether to remove a record: it is not protected, and too weak, unread for too long, or one of too many."""
        if seen.state.remembered or seen.state.pinned:
            return False
        left, used = self.worth(seen, timeline)
        if self.last is not None:
            return (left, used) <= self.last
        if self.below is not None and left < self.below:
            return True
        return self.unread_since is not None and 0.0 < used < self.unread_since

    def worth(self, seen: Seen, timeline: Timeline) -> Worth:
        """The strength of a record, and the time when it was last read or else first seen (0: not known)."""
        state = seen.state
        paced = timeline if timeline is UNMET else timeline.under(self.regime)
        times = [one for one in (state.last_read, state.useful_at) if one is not None]
        used = max(times) if times else state.fresh_at
        return strength(state, seen.kind, paced, now=self.now), used or 0.0


@dataclass(slots=True)
class _Tally:
    ids: list[str] = field(default_factory=list)
    kept: int = 0
    vanished: int = 0


def prune(ports: Ports, call: Pruning) -> PruneReceipt:
    """Remove the records that the rules select. After a crash, call again: the remaining records are found again."""
    known = ports.ledger.states.known(call.scope, [])
    timeline = known.timeline
    tally = _Tally()
    unmet_before = _strangers(ports, call, tally)
    complete = _by_rules(ports, call, timeline, tally)
    if call.most is not None and complete:
        complete = _too_many(ports, call, timeline, tally, unmet_before)
    return PruneReceipt(
        ids=tuple(tally.ids),
        below=call.below,
        dry_run=call.dry_run,
        kept=tally.kept,
        vanished=tally.vanished,
        complete=complete,
    )


def _by_rules(ports: Ports, call: Pruning, timeline: Timeline, tally: _Tally) -> bool:
    """Remove records that are too weak or unread for too long; return False if the limit was reached first."""
    last = 0
    while True:
        page = ports.ledger.removal.unprotected(call.scope, last, limit=PRUNED_AT_ONCE)
        doomed = [row for row in page if call.doomed(row.seen, timeline=timeline)]
        tally.kept += len(page) - len(doomed)
        room = call.limit - len(tally.ids)
        names = {record_id(call.scope, row.stored_id): row.stored_id for row in doomed[:room]}
        _remove_batch(ports, call, timeline, names, tally)
        if len(page) < PRUNED_AT_ONCE or len(doomed) > room:
            return len(doomed) <= room
        last = page[-1].row


def _too_many(ports: Ports, call: Pruning, timeline: Timeline, tally: _Tally, unmet_before: Mapping[str, Seen]) -> bool:
    """Remove the records above the maximum, weakest and longest unread first; return whether all were removed."""
    count = ports.records.count(call.scope)
    excess = count - (call.most or 0) - (len(tally.ids) if call.dry_run else 0)
    if excess <= 0:
        return True
    rows = [(call.worth(seen, UNMET), one) for one, seen in unmet_before.items() if call.dry_run]
    rows += _worths(ports, call, timeline)
    gone = set(tally.ids)
    there = [row for row in rows if record_id(call.scope, row[1]) not in gone]
    chosen = heapq.nsmallest(min(excess, call.limit - len(tally.ids)), there)
    for start in range(0, len(chosen), PRUNED_AT_ONCE):
        batch = chosen[start : start + PRUNED_AT_ONCE]
        names = {record_id(call.scope, stored_id): stored_id for _, stored_id in batch}
        before = len(tally.ids)
        _remove_batch(ports, replace(call, last=batch[-1][0]), timeline, names, tally)
        tally.kept -= len(tally.ids) - before
    return len(chosen) == min(excess, len(there))


def _worths(ports: Ports, call: Pruning, timeline: Timeline) -> list[tuple[Worth, str]]:
    """The worth and the id of each record that is not protected."""
    rows: list[tuple[Worth, str]] = []
    last = 0
    while True:
        page = ports.ledger.removal.unprotected(call.scope, last, limit=PRUNED_AT_ONCE)
        rows += [(call.worth(row.seen, timeline), row.stored_id) for row in page]
        if len(page) < PRUNED_AT_ONCE:
            return rows
        last = page[-1].row


def _strangers(ports: Ports, call: Pruning, tally: _Tally) -> Mapping[str, Seen]:
    """Register faded records that the ledger does not have yet. If the time since the last read or the number of
    records matters, register all others as well: for records that were never read, that time begins now."""
    found = states_from_metadata(ports, call.scope)
    faded = {one: seen for one, seen in found.items() if call.doomed(seen, timeline=UNMET)}
    tally.kept += len(found) - len(faded)
    if call.dry_run:
        tally.ids += [record_id(call.scope, one) for one in list(faded)[: call.limit]]
    elif call.unread_since is not None or call.most is not None:
        tally.kept -= len(found) - len(faded)  # they are counted with the registered records later
        ports.ledger.states.meet(call.scope, found, now=call.now)
    elif faded:
        ports.ledger.states.meet(call.scope, faded, now=call.now)
    return found


def _remove_batch(ports: Ports, call: Pruning, timeline: Timeline, names: dict[str, str], tally: _Tally) -> None:
    """Write one batch to the archive, then remove it."""
    found = look_up(ports, call.scope, list(names), now=None if call.dry_run else call.now)
    own = {one: found[one] for one, stored_id in names.items() if one in found and found[one].stored_id == stored_id}
    tally.vanished += len(names) - len(own)
    successors = _successors(ports, call, own)
    for one in successors:
        del own[one], names[one]
        tally.kept += 1
    if call.dry_run:
        tally.ids += [one for one, stored in own.items() if call.doomed(stored.seen, timeline=timeline)]
        return
    if call.archive is not None and own:
        call.archive([one.record for one in own.values()])
    if not names:
        return

    gone = _remove(ports, call, list(names.values()))
    tally.ids += [one for one, stored in own.items() if stored.stored_id in gone]


@in_one_transaction
def _remove(ports: Ports, call: Pruning, stored_ids: Sequence[str]) -> list[str]:
    """Remove the records that the rules still select; a record may have been judged or pinned in the meantime."""
    gone = ports.ledger.removal.doomed(call.scope, stored_ids, call.doomed)
    if gone:
        ports.records.remove(call.scope, gone)
        retire(ports, call.scope, gone, by=call.by, now=call.now)
    return gone


def _successors(ports: Ports, call: Pruning, own: Mapping[str, Stored]) -> list[str]:
    """The records that supersede a record that still exists: without them, no valid version would be left."""
    olds = {one: stored.record.supersedes for one, stored in own.items() if stored.record.supersedes is not None}
    present = look_up(ports, call.scope, sorted(set(olds.values())), now=None if call.dry_run else call.now)
    return [one for one, old in olds.items() if old in present]
