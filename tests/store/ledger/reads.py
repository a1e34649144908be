"""How do tests of the ledger read and judge? Recalls of made-up candidates, by the rules of the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from adaptive_memory_core import Policy, ReadState, Record, Scope, Scored, Verdict
from adaptive_memory_core.channels.turns import Turn
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow, RecallEntry, WordRow
from adaptive_memory_core.learn import decay as remembrance
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.learn.verdicts import Judging, Occasion
from adaptive_memory_core.policy.learning import Phase, Regime
from adaptive_memory_core.records import Metadata, Seen
from adaptive_memory_core.reports import Hit, LoggedRecall
from adaptive_memory_core.store.words.frozen_lists import RecordText, mark, row_of

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

ALICE, BOB, EVERYONE = Scope("alice"), Scope("bob"), Scope(None)
EVERY = Policy(refresh_floor_seconds=0.0)
NEW = Seen(ReadState(), None)
DAY = 86_400.0
VECTOR = b"\0\0\0\0"


def entry(recall_id: str, at: float = 1.0, *ids: str, logged: bool = True, turn: str | None = None) -> RecallEntry:
    kept = [Scored(Hit(Record(one, one), 0.25, one), 0.5, {"similarity": 0.5}, {"similarity": 0.25}) for one in ids]
    return RecallEntry(
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
    rule = partial(remembrance.states_after_read, policy=EVERY, now=at)
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


def write(ledger: Ledger, scope: Scope, *stored_ids: str, text: str = "the text of") -> None:
    """Records of these ids, written at once."""
    ledger.mirror.put({scope: [MirrorRow(one, f"{text} {one}", None, VECTOR) for one in stored_ids]})


def with_words(ledger: Ledger, scope: Scope, *stored_ids: str, text: str = "the text of") -> None:
    """Such records, with their words."""
    write(ledger, scope, *stored_ids, text=text)
    follow_words(ledger, scope)


def follow_words(ledger: Ledger, scope: Scope, most: int = 500) -> None:
    while ledger.words.follow(scope, rows_of, most):
        pass


def rows_of(found: Sequence[tuple[str, str | None, Metadata | None]], known: Mapping[str, bytes]) -> list[WordRow]:
    """The words of what says something else than what is known."""
    told = [RecordText(one, text or "", Turn()) for one, text, _ in found]
    return [row_of(one) for one in told if known.get(one.stored_id) != mark(one.text, one.turn)]
