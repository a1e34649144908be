"""What can a ledger be asked to compare it with the collection, and how do two records in it become one?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adaptive_memory_core import Verdict
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.learn.after_read import added
from adaptive_memory_core.records import NEVER_READ, Seen
from tests.store.ledger.implementations import Ledgers
from tests.store.ledger.reads import ALICE, BOB, judge, read, state

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger


def test_records_and_reads_are_those_of_the_collection(ledgers: Ledgers) -> None:
    ledger = ledgers()
    assert (ledger.comparison.records_known("memories"), ledger.comparison.latest_read()) == ((0, 0), None)
    read(ledger, ALICE, "r1", "m1", "m2", at=5.0)
    read(ledger, BOB, "r2", "b1", at=7.0)
    assert (ledger.comparison.records_known("memories"), ledger.comparison.latest_read()) == ((3, 0), 7.0)
    assert ledger.comparison.met(["b1", "m3", "m1"]) == ["b1", "m1"]
    ledger.attach("another uuid", "memories")
    assert (ledger.comparison.records_known("memories"), ledger.comparison.latest_read()) == ((0, 3), None)
    assert ledger.comparison.records_known("others") == (0, 0)


def test_records_on_their_way_to_a_collection_that_never_had_any_are_not_known(ledger: Ledger) -> None:
    ledger.mirror.keep_complete_at("0")
    ledger.states.enrol(ALICE, {"m1": Seen(NEVER_READ, "event")}, now=1.0)
    assert ledger.comparison.records_known("memories") == (0, 0)
    ledger.mirror.put({ALICE: [MirrorRow("m1", "tea", None, bytes(8))]})
    assert ledger.comparison.records_known("memories") == (1, 0)


@pytest.mark.parametrize(("complete_at", "known"), [("7", 0), (None, 1), ("emptied", 1), ("restored", 1)])
def test_records_that_were_removed_are_not_known_unless_the_mirror_does_not_follow(
    ledger: Ledger, complete_at: str | None, known: int
) -> None:
    ledger.states.enrol(ALICE, {"m1": Seen(NEVER_READ, "event")}, now=1.0)
    ledger.mirror.put({ALICE: [MirrorRow("m1", "tea", None, bytes(8))]})
    ledger.mirror.drop(["m1"])
    ledger.mirror.keep_complete_at(complete_at)
    assert ledger.comparison.records_known("memories") == (known, 0)


def test_two_records_become_one_with_the_reads_and_verdicts_of_both(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m1", "m2", at=5.0)
    read(ledger, ALICE, "r2", "m2", at=6.0)
    judge(ledger, "r1", Verdict.HELPFUL, "m2")
    ledger.comparison.merge(ALICE, "m1", "m2", added)
    merged = state(ledger)
    assert merged is not None
    assert (merged.retrieval_count, merged.last_read, merged.helpful) == (3, 6.0, 1)
    assert state(ledger, "m2") is None
    assert judge(ledger, "r1", Verdict.HELPFUL, "m1") == 0  # that verdict was given
    assert [one.id for one in ledger.audit.changes(ALICE, ["m1"], limit=10)] == ["m1"]
    assert ledger.outbox.waiting() == 1


def test_a_record_without_a_state_takes_over_that_of_its_twin_or_none(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m2", at=5.0)
    ledger.comparison.merge(ALICE, "m1", "m2", added)
    taken = state(ledger)
    assert taken is not None
    assert taken.retrieval_count == 1
    ledger.comparison.merge(ALICE, "m3", "m1", None)
    assert state(ledger) is state(ledger, "m3") is None


def test_to_merge_again_adds_what_was_read_since_and_nothing_twice(ledger: Ledger) -> None:
    read(ledger, ALICE, "r1", "m1", "m2", at=5.0)
    ledger.comparison.merge(ALICE, "m1", "m2", added)
    read(ledger, ALICE, "r2", "m2", at=6.0)
    ledger.comparison.merge(ALICE, "m1", "m2", added)
    ledger.comparison.merge(ALICE, "m1", "m2", added)
    merged = state(ledger)
    assert merged is not None
    assert (merged.retrieval_count, merged.last_read) == (3, 6.0)
    assert state(ledger, "m2") is None
