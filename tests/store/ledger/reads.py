"""How do tests of the ledger read and judge? Recalls of made-up candidates, by the rules of the package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from adaptive_memory_core import Policy, ReadState, Record, Scope, Scored, Verdict
from adaptive_memory_core.flow.ports import Entry, Ledger
from adaptive_memory_core.learn.decay import strength as remembrance
from adaptive_memory_core.learn.decay.strength import Timeline
from adaptive_memory_core.learn.verdicts import Judging, Occasion
from adaptive_memory_core.policy.decay import Phase, Regime
from adaptive_memory_core.records import Seen
from adaptive_memory_core.reports import Hit, LoggedRecall

ALICE, BOB, EVERYONE = Scope("alice"), Scope("bob"), Scope(None)
EVERY = Policy(refresh_floor_seconds=0.0)
NEW = Seen(ReadState(), None)
DAY = 86_400.0


def entry(recall_id: str, at: float = 1.0, *ids: str, logged: bool = True, turn: str | None = None) -> Entry:
    kept = [Scored(Hit(Record(one, one), 0.25, one), 0.5, {"similarity": 0.5}, {"similarity": 0.25}) for one in ids]
    return Entry(
        recall_id,
        at,
        "tea",
        5,
        EVERY.hash,
        EVERY.to_json(),
        kept,
        [],
        Regime((Phase(EVERY.pace, 0.0),)),
        EVERY.pace,
        turn,
        {},
        None,
        logged,
    )


def read(ledger: Ledger, scope: Scope, recall_id: str, *ids: str, at: float = 1.0) -> int:
    rule = partial(remembrance.read, policy=EVERY, now=at)
    return ledger.recalls.count(scope, entry(recall_id, at, *ids), dict.fromkeys(ids, NEW), rule).step


def judge(ledger: Ledger, recall_id: str, verdict: Verdict, stored_id: str = "m1") -> int:
    rule = Judging(EVERY, Occasion(1.0, 1), 1.0)
    return ledger.verdicts.judge(ALICE, recall_id, {stored_id: (verdict, NEW)}, rule, now=1.0)


def turned(seen: Seen, *, timeline: Timeline) -> ReadState:
    """Pinned where it was not, and the other way round."""
    return replace(seen.state, pinned=not seen.state.pinned)


def state(ledger: Ledger, stored_id: str = "m1", scope: Scope = ALICE) -> ReadState | None:
    return ledger.states.known(scope, [stored_id]).states.get(stored_id)


def recalls(ledger: Ledger, scope: Scope = ALICE, containing: str | None = None) -> Sequence[LoggedRecall]:
    return ledger.log.recalls(scope, since=None, until=None, limit=10_000, containing=containing)
