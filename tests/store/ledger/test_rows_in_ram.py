"""Is a row that is kept in RAM ever another one than the file's?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.flow.calls.call_state import one_call
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import cached_copies
from adaptive_memory_core.store.ledger.cached_copies import RowsInRam

ALICE = Scope("alice")


def opened(path: Path) -> SQLiteLedger:
    ledger = SQLiteLedger(str(path))
    ledger.attach("uuid", "memories")
    return ledger


def row(text: str, **metadata: object) -> MirrorRow:
    return MirrorRow("a", text, {"user_id": "alice", **metadata}, b"\0" * 8)


def test_what_anybody_writes_is_read(tmp_path: Path) -> None:
    own, other = opened(tmp_path / "ledger.sqlite3"), opened(tmp_path / "ledger.sqlite3")
    own.mirror.put({ALICE: [row("tea")]})
    assert own.mirror.rows(["a", "b"]) == own.mirror.rows(["a"]) == [("a", "tea", {"user_id": "alice"})]
    other.mirror.put({ALICE: [row("coffee")]})
    assert own.mirror.rows(["a"]) == [("a", "coffee", {"user_id": "alice"})]
    own.mirror.annotate({"a": {"read": 1}})
    assert own.mirror.rows(["a"]) == [("a", "coffee", {"user_id": "alice", "read": 1})]
    other.mirror.annotate({"a": {"read": 2}})
    assert own.mirror.rows(["a"]) == [("a", "coffee", {"user_id": "alice", "read": 2})]
    own.mirror.drop(["a"])
    assert own.mirror.rows(["a"]) == []
    own.close()
    other.close()


def test_what_was_undone_was_never_there(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    ledger.mirror.put({ALICE: [row("tea")]})

    def written_and_undone() -> None:
        with ledger.transaction():
            ledger.mirror.put({ALICE: [row("coffee")]})
            assert ledger.mirror.rows(["a"])[0][1] == "coffee"
            ledger.mirror.annotate({"a": {"read": 1}})
            assert ledger.mirror.rows(["a"])[0][2] == {"user_id": "alice", "read": 1}
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        written_and_undone()
    assert ledger.mirror.rows(["a"]) == [("a", "tea", {"user_id": "alice"})]
    ledger.close()


def test_what_this_process_writes_within_a_call_is_seen_in_it(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    with one_call():
        ledger.mirror.put({ALICE: [row("tea")]})
        assert ledger.mirror.rows(["a"])[0][1] == "tea"
        ledger.mirror.put({ALICE: [row("coffee")]})
        assert ledger.mirror.rows(["a"])[0][1] == "coffee"
    ledger.close()


def test_whoever_changes_what_they_were_given_changes_nothing_else(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    ledger.mirror.put({ALICE: [row("tea", tags=["hot"])]})
    for _ in range(2):
        found: Any = ledger.mirror.rows(["a"])[0][2]
        assert found == {"user_id": "alice", "tags": ["hot"]}
        found["tags"].append("cold")
        found["new"] = 1
    ledger.close()


def test_it_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_copies, "MOST_CHARACTERS", 10_000)
    kept = RowsInRam()
    for number in range(100):
        kept.keep([(str(number), "x" * 1_000, None)])
        assert len(kept.known([str(one) for one in range(number + 1)])) <= 7


def test_what_leaves_the_rows_alone_costs_none_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = opened(tmp_path / "ledger.sqlite3"), opened(tmp_path / "ledger.sqlite3")
    own.mirror.put({ALICE: [row("tea"), MirrorRow("b", "milk", {"user_id": "alice"}, b"\0" * 8)]})
    own.mirror.rows(["a", "b"])
    asked: list[list[str]] = []
    read = own.mirror._rows

    def noted(sql: Any, ids: Any) -> Any:
        asked.append(list(ids))
        return read(sql, ids)

    monkeypatch.setattr(own.mirror, "_rows", noted)
    with own.transaction():
        pass
    other.notes.keep_embedder("another", 2)
    own.mirror.rows(["a", "b"])
    assert asked == []
    own.mirror.annotate({"a": {"read": 1}})
    asked.clear()
    with own.transaction():
        pass
    own.mirror.rows(["a", "b"])
    assert asked == []  # what was written here is known here
    own.close()
    other.close()


def test_a_change_that_was_undone_hides_none_of_another_process(tmp_path: Path) -> None:
    own, other = opened(tmp_path / "ledger.sqlite3"), opened(tmp_path / "ledger.sqlite3")
    own.mirror.put({ALICE: [row("tea")]})
    own.mirror.rows(["a"])

    def undone() -> None:
        with own.transaction():
            own.mirror.annotate({"a": {"read": 1}})
            assert own.mirror.rows(["a"])[0][2] == {"user_id": "alice", "read": 1}
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        undone()
    other.mirror.annotate({"a": {"read": 2}})
    assert own.mirror.rows(["a"]) == [("a", "tea", {"user_id": "alice", "read": 2})]
    own.close()
    other.close()
