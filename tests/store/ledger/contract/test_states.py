"""What is true of a record's state? It is its user's, it changes whole, and every connection sees it as it stands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import ReadState, Verdict
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.ports.ledger_values import Moves
from adaptive_memory_core.learn import decay as remembrance
from adaptive_memory_core.learn.verdicts import Judging, Occasion
from adaptive_memory_core.records import Seen
from tests.store.ledger.implementations import Ledgers
from tests.store.ledger.reads import ALICE, BOB, DAY, EVERY, EVERYONE, NEW, entry, judge, read, state, turned
from tests.suites import at_most

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger


def test_a_read_counts_and_its_step_is_the_users_own(ledger: Ledger) -> None:
    assert [read(ledger, ALICE, "r1", "m1"), read(ledger, ALICE, "r2", "m1", at=2.0)] == [1, 2]
    assert read(ledger, BOB, "r3", "m2") == 1
    assert ledger.states.known(ALICE, ["m1"]).states["m1"].retrieval_count == 2
    assert ledger.states.known(BOB, ["m1"]).states == {}
    assert set(ledger.states.all(ALICE).states) == {"m1"}


def test_a_failed_recall_leaves_no_trace(ledgers: Ledgers) -> None:
    ledger = ledgers()
    read(ledger, ALICE, "r1", "m1")
    with pytest.raises(LedgerError):
        read(ledger, ALICE, "r1", "m1", at=2.0)  # the same recall id: refused by the log, after the state was written
    assert ledger.statistics.tally(ALICE).recalls == 1
    for one in (ledger, ledgers()):
        assert one.states.known(ALICE, ["m1"]).states["m1"].retrieval_count == 1


ACTS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["m1", "m2"]), st.sampled_from("rjce")), max_size=25)


@at_most(30)
@given(acts=ACTS)
def test_no_connection_is_behind_another(new_ledgers: Callable[[], Ledgers], acts: list[tuple[int, str, str]]) -> None:
    opened = new_ledgers()
    both = [opened(), opened()]
    for number, (who, record, act) in enumerate(acts):
        ledger = both[who]
        if act == "r":
            read(ledger, ALICE, f"r{number}", record, at=float(number))
        elif act == "j":
            known = ledger.states.known(ALICE, [record]).states.get(record, ReadState())
            rule = Judging(EVERY, Occasion(1.0, number), 1.0)
            ledger.verdicts.judge(ALICE, f"v{number}", {record: (Verdict.HELPFUL, Seen(known, None))}, rule, now=1.0)
        elif act == "c":
            ledger.states.change(ALICE, record, NEW, turned, what="pinned", by="test", now=1.0)
        else:
            ledger.removal.erase(ALICE, record, record, existed=True, now=1.0)
            ledger.states.enrol(ALICE, {record: NEW}, now=1.0)
        truth = opened().states.all(ALICE).states
        for one in both:
            assert one.states.known(ALICE, ["m1", "m2"]).states == truth
    opened.close()


PACES = [EVERY, *(EVERY.replace(decay={"rate": rate}) for rate in (0.5, 0.9))]
TURNS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.sampled_from([None, "t1", "t2"]), st.sampled_from("rrrexs")),
    max_size=12,
)


@at_most(15)
@given(acts=TURNS)
def test_recalls_paces_turns_and_forgotten_records_are_the_same_over_any_connection(
    new_ledgers: Callable[[], Ledgers], acts: list[tuple[int, int, str | None, str]]
) -> None:
    opened = new_ledgers()
    both, forgotten = [opened(), opened()], False
    for number, (who, pace, turn, act) in enumerate(acts):
        at = float(number)
        if act == "r":
            asked = entry(f"r{number}", at, "m1")._replace(turn=turn, pace=PACES[pace].pace)
            rule = partial(remembrance.states_after_read, policy=PACES[pace], now=at)
            both[who].recalls.count(ALICE, asked, {"m1": NEW}, rule)
        elif act == "e":
            both[who].removal.erase(ALICE, "m1", "m1", existed=True, now=at)
            forgotten = True
        elif act == "x":
            both[who].retention.trim(now=at + 3 * DAY, log_days=1.0, log_recalls=100)
            forgotten = False
        else:
            both[who].outbox.settle(both[who].outbox.due(10))
        fresh = opened()
        for one, name in product(both, (None, "t1", "t2")):
            assert one.states.known(ALICE, ["m1"], name) == fresh.states.known(ALICE, ["m1"], name)
            assert not (forgotten and one.states.known(ALICE, ["m1"]).states)
    opened.close()


def test_a_record_that_changed_hands_starts_anew(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m1")
    assert ledger.states.known(BOB, ["m1"]).states == {}
    read(ledger, BOB, "r2", "m1")
    assert ledger.states.known(BOB, ["m1"]).states["m1"].retrieval_count == 1
    assert ledger.states.known(ALICE, ["m1"]).states == {}


def test_an_id_is_given_to_one_user_only(ledger: Ledger) -> None:
    assert ledger.states.enrol(ALICE, {"m1": NEW}, now=1.0) == [True]
    assert ledger.states.enrol(BOB, {"m1": NEW, "m2": NEW}, now=1.0) == [False, True]
    assert ledger.states.enrol(EVERYONE, {"m2": NEW}, now=1.0) == [False]


def test_verdicts_count_once_and_can_be_taken_back(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m1")
    assert (judge(ledger, "r1", Verdict.HELPFUL), judge(ledger, "r1", Verdict.HELPFUL)) == (1, 0)
    assert ledger.states.known(ALICE, ["m1"]).states["m1"].boost == pytest.approx(0.05)
    assert judge(ledger, "r1", Verdict.UNHELPFUL) == 1
    assert ledger.states.known(ALICE, ["m1"]).states["m1"].boost == pytest.approx(-0.05)


def test_states_are_named_by_what_they_are(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m1", "m2")
    ledger.states.change(ALICE, "m2", NEW, turned, what="pinned", by="ana", now=1.0)
    judge(ledger, "r1", Verdict.HELPFUL)
    assert ledger.states.flagged(ALICE, "pinned") == ["m2"]
    assert ledger.states.flagged(BOB, "pinned") == []
    step, helpful, judged = ledger.states.version(ALICE).learned
    assert (helpful, judged) == ([("m1", step)], False)
    changes = [(one.id, one.what, one.by) for one in ledger.audit.changes(ALICE, [], limit=10)]
    assert changes == [("m1", "helpful", "recall r1"), ("m2", "pinned", "ana")]
    assert ledger.audit.changes(BOB, [], limit=10) == []


def test_a_state_follows_its_text_to_the_record_that_took_its_place(ledger: Ledger) -> None:
    ledger.states.meet(ALICE, {"old": Seen(ReadState(retrieval_count=3), None, b"origin")}, now=1.0)
    assert ledger.inheritance.ancestors(ALICE, [b"origin"]) == {"old": b"origin"}
    assert ledger.inheritance.ancestors(BOB, [b"origin"]) == {}
    assert ledger.states.known(ALICE, ["new"]).new == {"new"}
    ledger.inheritance.settle(ALICE, Moves(heirs={"old": "new"}, settled={"new": None}), by="test", now=1.0)
    known = ledger.states.known(ALICE, ["old", "new"])
    assert {one: found.retrieval_count for one, found in known.states.items()} == {"new": 3}
    assert known.new == {"old"}
    assert [one.stored_id for one in ledger.outbox.due(5)] == ["new"]


def test_a_read_state_is_kept_to_the_last_digit(ledgers: Ledgers) -> None:
    kept = ReadState(last_read=1_760_000_000.123456, retrieval_count=7, warmth=0.1, strength=0.3, boost=-0.05)
    ledgers().states.meet(ALICE, {"m1": Seen(kept, "fact")}, now=1.0)
    found = state(ledgers())
    assert found is not None
    assert (found.last_read, found.retrieval_count, found.warmth) == (1_760_000_000.123456, 7, 0.1)
    assert (found.strength, found.boost) == (0.3, -0.05)
