"""Which memories are let go because nobody reads them? The faded ones, in batches, each whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from adaptive_memory_core.flow.drive import Flow, ask
from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.ports import Ports, Row
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.learn.remembrance import Timeline, strength
from adaptive_memory_core.pace import Pace
from adaptive_memory_core.records import Record, Scope, Seen
from adaptive_memory_core.reports import PruneReceipt

BATCH = 200  # records of one transaction
Archive = Callable[[Sequence[Record]], None]


@dataclass(frozen=True, slots=True)
class Pruning:
    """One call of prune, checked."""

    scope: Scope
    below: float
    limit: int
    dry_run: bool
    archive: Archive | None
    by: str
    pace: Pace
    now: float

    def doomed(self, seen: Seen, *, timeline: Timeline) -> bool:
        """Whether a record goes: neither remembered nor pinned, and weaker than the bound."""
        if seen.state.remembered or seen.state.pinned:
            return False
        return strength(seen.state, seen.kind, timeline.or_else(self.pace), now=self.now) < self.below


@dataclass(slots=True)
class _Tally:
    ids: list[str] = field(default_factory=list)
    kept: int = 0
    vanished: int = 0


def prune(ports: Ports, call: Pruning) -> Flow[PruneReceipt]:
    """Let go of what has faded. After a crash, call again: what was not removed is still there to be found."""
    timeline = (yield from ask(ports.ledger.standing, call.scope, [])).timeline
    tally, last = _Tally(), 0
    while True:
        page = yield from ask(ports.ledger.unkept, call.scope, last, limit=BATCH)
        doomed = [row for row in page if call.doomed(row.seen, timeline=timeline)]
        tally.kept += len(page) - len(doomed)
        room = call.limit - len(tally.ids)
        yield from _let_go(ports, call, doomed[:room], tally)
        if len(page) < BATCH or len(doomed) > room:
            return PruneReceipt(
                ids=tuple(tally.ids),
                below=call.below,
                dry_run=call.dry_run,
                kept=tally.kept,
                vanished=tally.vanished,
                complete=len(doomed) <= room,
            )
        last = page[-1].row


def _let_go(ports: Ports, call: Pruning, doomed: Sequence[Row], tally: _Tally) -> Flow[None]:
    """One batch: into the archive first, then out of the collection and the ledger together."""
    names = {record_id(call.scope, row.stored_id): row.stored_id for row in doomed}
    found = yield from look_up(ports, call.scope, list(names))
    own = {one: found[one] for one, stored_id in names.items() if one in found and found[one].stored_id == stored_id}
    tally.vanished += len(names) - len(own)
    if call.dry_run:
        tally.ids += own
        return
    if call.archive is not None and own:
        yield from ask(call.archive, [one.record for one in own.values()])
    if not names:
        return

    def remove(stored_ids: Sequence[str]) -> None:
        ports.store.remove(call.scope, stored_ids)

    gone = yield from ask(
        ports.ledger.retire, call.scope, list(names.values()), call.doomed, remove, by=call.by, now=call.now
    )
    tally.ids += [one for one, stored in own.items() if stored.stored_id in gone]
