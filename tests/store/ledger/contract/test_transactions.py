"""What is asked of the ledger within one transaction: is it kept together, or not at all?"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from adaptive_memory_core.errors import LedgerError
from tests.store.ledger.implementations import Ledgers
from tests.store.ledger.reads import ALICE, BOB, NEW, read, state, with_words

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger


def test_a_state_and_its_words_are_written_together(ledgers: Ledgers) -> None:
    ledger = ledgers()
    with ledger.transaction():
        ledger.states.enrol(ALICE, {"m1": NEW}, now=1.0)
        with_words(ledger, ALICE, "m1")
    for one in (ledger, ledgers()):
        assert (set(one.states.all(ALICE).states), one.words.stored_ids()) == ({"m1"}, {"m1"})


def test_what_fails_within_a_transaction_takes_all_of_it_back(ledgers: Ledgers) -> None:
    ledger = ledgers()

    def write_and_fail() -> None:
        with ledger.transaction():
            ledger.states.enrol(BOB, {"m1": NEW}, now=1.0)
            read(ledger, BOB, "r1", "m1")
            with_words(ledger, ALICE, "m1")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        write_and_fail()
    for one in (ledger, ledgers()):
        assert (state(one, scope=BOB), one.mirror.size(), one.outbox.waiting()) == (None, 0, 0)
        assert one.words.stored_ids() == set()
        assert one.statistics.tally(BOB).recalls == 0
    assert read(ledger, BOB, "r1", "m1") == 1  # nothing of it is remembered in RAM either


def test_a_part_that_fails_can_be_done_without(ledgers: Ledgers) -> None:
    ledger = ledgers()
    read(ledger, ALICE, "r1", "m1")
    with ledger.transaction():
        ledger.states.enrol(ALICE, {"m2": NEW}, now=1.0)
        with pytest.raises(LedgerError):
            read(ledger, ALICE, "r1", "m1", "m3", at=2.0)  # refused: there is a recall of this id
        with_words(ledger, ALICE, "m1")
    for one in (ledger, ledgers()):
        assert set(one.states.all(ALICE).states) == {"m1", "m2"}
        assert one.states.known(ALICE, ["m1"]).states["m1"].retrieval_count == 1
        assert one.words.stored_ids() == {"m1"}


def test_what_is_to_be_done_afterwards_is_done_once_it_is_kept(ledger: Ledger) -> None:
    done: list[str] = []
    ledger.afterwards(lambda: done.append("at once"))
    with ledger.transaction():
        ledger.afterwards(lambda: done.append("later"))
        with ledger.transaction():
            ledger.afterwards(lambda: done.append("within"))
        assert done == ["at once"]
    assert done == ["at once", "later", "within"]

    def fail() -> None:
        with ledger.transaction():
            ledger.afterwards(lambda: done.append("never"))
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    ledger.states.enrol(ALICE, {"m1": NEW}, now=1.0)
    assert done == ["at once", "later", "within"]


def test_a_transaction_within_a_reading_block_has_its_calls_made_too(ledger: Ledger) -> None:
    done: list[str] = []
    with ledger.file.reading():
        with ledger.transaction():
            ledger.afterwards(lambda: done.append("first"))
        with ledger.transaction():
            ledger.afterwards(lambda: done.append("second"))
    assert done == ["first", "second"]


def test_afterwards_no_lock_is_held(ledger: Ledger) -> None:
    seen: list[int] = []

    def look() -> None:
        other = threading.Thread(target=lambda: seen.append(len(ledger.states.all(ALICE).states)))
        other.start()
        other.join(timeout=20)

    with ledger.transaction():
        ledger.states.enrol(ALICE, {"m1": NEW}, now=1.0)
        ledger.afterwards(look)
    assert seen == [1]


def test_counts_of_many_threads_are_exact(ledger: Ledger) -> None:
    def work(name: str) -> None:
        for number in range(20):
            read(ledger, ALICE, f"{name}{number}", "m1", at=float(number))

    threads = [threading.Thread(target=work, args=(f"t{number}-",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = state(ledger)
    assert found is not None
    assert found.retrieval_count == ledger.statistics.tally(ALICE).recalls == 80
