"""What is read again after another connection has written? What that one changed, and never less."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Scope, SQLiteLedger
from adaptive_memory_core.errors import LedgerVersionError
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.store.ledger.schema import SCHEMA_VERSION
from tests.store.ledger.reads import ALICE, BOB, NEW, read

SCOPES = {"alice": ALICE, "bob": BOB}


def opened(path: Path) -> SQLiteLedger:
    ledger = SQLiteLedger(str(path))
    ledger.attach("uuid", "memories")
    return ledger


@pytest.fixture
def two(tmp_path: Path) -> Any:
    ledgers = opened(tmp_path / "ledger.sqlite3"), opened(tmp_path / "ledger.sqlite3")
    yield ledgers
    for one in ledgers:
        one.close()


def statements(ledger: SQLiteLedger, ask: Callable[[], object]) -> list[str]:
    """What is asked of SQLite meanwhile, by the first table that it is asked of."""
    asked: list[str] = []
    with ledger.file.reading() as sql:
        sql.set_trace_callback(asked.append)
        ask()
        sql.set_trace_callback(None)
    return [one.partition(" FROM ")[2].split()[0] if " FROM " in one else one for one in asked]


def looked(ledger: SQLiteLedger, name: str) -> list[str]:
    return statements(ledger, lambda: ledger.states.known(SCOPES[name], [f"{name}'s"]))


def test_a_recall_elsewhere_makes_nothing_of_other_users_be_read_again(two: tuple[SQLiteLedger, SQLiteLedger]) -> None:
    own, other = two
    read(own, ALICE, "r1", "alice's")
    read(own, BOB, "r2", "bob's")
    looked(own, "alice")
    nothing = ["PRAGMA data_version", "(SELECT changes"]
    assert looked(own, "alice") == nothing[:1]
    read(own, ALICE, "r2 of hers", "alice's")
    assert looked(own, "alice") == nothing[:1]
    read(other, BOB, "r3", "bob's")
    assert looked(own, "alice")[0] == nothing[0]
    assert "records" not in looked(own, "alice")
    assert "records" in looked(own, "bob")
    read(other, BOB, "r4", "bob's")
    read(other, ALICE, "r5", "alice's")
    assert "records" in looked(own, "alice")


def test_what_is_written_back_elsewhere_makes_no_state_be_read_again(two: tuple[SQLiteLedger, SQLiteLedger]) -> None:
    own, other = two
    other.mirror.put({ALICE: [MirrorRow("alice's", "tea", {}, b"\0" * 8)]})
    read(own, ALICE, "r1", "alice's")
    looked(own, "alice")
    before = own.mirror.version(ALICE).change
    other.mirror.annotate({"alice's": {"retrieval_count": 1}})
    other.outbox.settle(other.outbox.due(10))
    assert "records" not in looked(own, "alice")
    assert own.mirror.version(ALICE).change == before
    assert own.mirror.rows(["alice's"]) == [("alice's", "tea", {"retrieval_count": 1})]


def test_what_else_is_written_elsewhere_is_heard_by_all(two: tuple[SQLiteLedger, SQLiteLedger]) -> None:
    own, other = two
    read(own, ALICE, "r1", "alice's")
    looked(own, "alice")
    other.states.enrol(BOB, {"bob's": NEW}, now=1.0)
    assert "records" in looked(own, "alice")


def test_what_was_counted_and_undone_is_told_to_nobody(two: tuple[SQLiteLedger, SQLiteLedger]) -> None:
    own, other = two
    read(own, ALICE, "r1", "alice's")
    looked(own, "alice")
    with pytest.raises(ZeroDivisionError):
        read_and_undone(other, ALICE, "r2", "alice's")
    assert "records" not in looked(own, "alice")


def test_who_has_it_open_while_a_newer_version_takes_it_over_is_refused(two: tuple[SQLiteLedger, SQLiteLedger]) -> None:
    own, other = two
    read(own, ALICE, "r1", "alice's")
    looked(own, "alice")
    with other.file.writing() as sql:
        sql.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(LedgerVersionError, match="start this process again"):
        looked(own, "alice")
    with pytest.raises(LedgerVersionError, match="start this process again"):
        read(own, ALICE, "r2", "alice's")
    with other.file.reading() as sql:
        assert sql.execute("SELECT count(*) FROM recalls").fetchone() == (1,)


def read_and_undone(ledger: SQLiteLedger, scope: Scope, recall: str, record: str) -> None:
    with ledger.transaction():
        read(ledger, scope, recall, record, at=9.0)
        ledger.mirror.annotate({record: {"undone": recall}})
        raise ZeroDivisionError


ACTS = ("read", "strangers", "enrol", "remove", "annotate", "undone", "within a transaction")


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(sorted(SCOPES)), st.sampled_from(ACTS)), max_size=12))
def test_neither_of_two_is_ever_behind(tmp_path_factory: pytest.TempPathFactory, acts: list[Any]) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    ledgers = opened(path), opened(path)
    for number, (which, name, act) in enumerate(acts):
        done(ledgers[which], name, act, number)
        fresh = opened(path)
        for one in ledgers:
            assert [told(one, name) for name in SCOPES] == [told(fresh, name) for name in SCOPES]
        fresh.close()
    for one in ledgers:
        one.close()


def done(ledger: SQLiteLedger, name: str, act: str, number: int) -> None:
    scope, record, at = SCOPES[name], f"{name}'s", 10.0 + number
    if act == "read":
        read(ledger, scope, f"r{number}", record, at=at)
    elif act == "strangers":
        read(ledger, scope, f"r{number}", f"{record} {number}", at=at)
    elif act == "enrol":
        ledger.mirror.put({scope: [MirrorRow(record, f"text {number}", {"number": number}, b"\0" * 8)]})
        ledger.states.enrol(scope, {record: NEW}, now=at)
    elif act == "remove":
        ledger.mirror.drop([record])
        ledger.removal.erase(scope, record, record, existed=True, now=at)
    elif act == "annotate":
        ledger.mirror.annotate({record: {"number": number}})
    elif act == "undone":
        with pytest.raises(ZeroDivisionError):
            read_and_undone(ledger, scope, f"r{number}", record)
    else:
        with ledger.transaction():
            read(ledger, scope, f"r{number}", record, at=at)
            ledger.mirror.annotate({record: {"within": number}})


def told(ledger: SQLiteLedger, name: str) -> Any:
    record = f"{name}'s"
    known = ledger.states.known(SCOPES[name], [record])
    return known.states, known.timeline, ledger.mirror.rows([record]), ledger.states.flagged(SCOPES[name], "remembered")
