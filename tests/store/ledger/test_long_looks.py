"""Who waits while all of a long log is looked through? Nobody: a look that takes long has a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.errors import ClosedError, LedgerError
from adaptive_memory_core.policy.learning import Phase, Regime
from adaptive_memory_core.store.ledger import ledger_statistics, recall_log, removal
from adaptive_memory_core.store.ledger.recall_encoding import decode
from tests.store.ledger.reads import ALICE, DAY, EVERY, read, recalls, state

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

LOOKS: dict[str, Callable[[Ledger], object]] = {
    "check": lambda ledger: ledger.faults(),
    "recalls": recalls,
    "recalls of a record": lambda ledger: recalls(ledger, containing="m1"),
    "lines to be struck out": lambda ledger: ledger.removal.reckoned(ALICE, "m1"),
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SQLiteLedger]:
    made = SQLiteLedger(str(tmp_path / "ledger.sqlite3"))
    made.attach("uuid-of-a-collection", "memories")
    for number in range(8):
        read(made, ALICE, f"r{number}", "m1", "m2", at=number * DAY)
    yield made
    made.close()


@pytest.mark.parametrize("look", LOOKS)
def test_others_read_and_write_meanwhile(ledger: SQLiteLedger, look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    met, go_on = threading.Event(), threading.Event()

    def held(*given: Any) -> object:
        met.set()
        assert go_on.wait(60)
        return decode(*given)

    monkeypatch.setattr(recall_log, "decode", held)
    monkeypatch.setattr(removal, "decode", held)
    done: list[object] = []
    looking = threading.Thread(target=lambda: done.append(LOOKS[look](ledger)))
    looking.start()
    try:
        assert met.wait(60)
        read(ledger, ALICE, "r8", "m2", at=8 * DAY)
        known = state(ledger, "m2")
        assert known is not None
        assert known.retrieval_count == 9
        assert done == []
    finally:
        go_on.set()
        looking.join(60)
    assert len(done) == 1


def test_what_was_reckoned_is_not_reckoned_again_while_writers_wait(
    ledger: SQLiteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user may have thousands of lines that name a record, and a transaction keeps all writers out."""
    reckoned, decoded = ledger.removal.reckoned(ALICE, "m1"), list[object]()
    monkeypatch.setattr(recall_log, "decode", lambda *given: decoded.append(given))
    ledger.removal.erase(ALICE, "m1", "m1", existed=True, now=1.0, reckoned=reckoned)
    assert decoded == []


def test_a_sample_is_reckoned_before_writers_wait(ledger: SQLiteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads all states of a user."""
    within, of_user = list[bool](), ledger_statistics._of_user

    def noted(sql: Any, *given: Any, **named: Any) -> Any:
        within.append(sql.in_transaction)
        return of_user(sql, *given, **named)

    monkeypatch.setattr(ledger_statistics, "_of_user", noted)
    ledger.statistics.sample(Regime((Phase(EVERY.pace, 0.0),)), every=1, now=9 * DAY)
    assert within == [False]
    assert len(ledger.statistics.samples(ALICE)) == 1


def test_within_a_transaction_it_sees_what_that_wrote(ledger: SQLiteLedger) -> None:
    with ledger.transaction():
        read(ledger, ALICE, "r8", "m3", at=8 * DAY)
        assert [one.id for one in recalls(ledger, containing="m3")] == ["r8"]


def test_it_waits_while_another_process_makes_the_log_whole(ledger: SQLiteLedger) -> None:
    """After one was killed: that takes a moment, in which the file is locked even for readers."""
    with ledger.file.apart() as sql:
        assert sql.execute("PRAGMA busy_timeout").fetchone()[0] >= 1_000


def test_errors_are_told_in_our_words(ledger: SQLiteLedger) -> None:
    with ledger.file.writing() as sql:
        sql.execute("DROP TABLE recalls")
    with pytest.raises(LedgerError, match="no such table"):
        recalls(ledger)
    ledger.close()
    with pytest.raises(ClosedError):
        recalls(ledger)
