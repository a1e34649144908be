"""What is the SQLite ledger's own? Point lookups, its schema version, damaged rows, what SQLite is told."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.errors import LedgerError, LedgerVersionError
from adaptive_memory_core.store import sqlite_connection
from adaptive_memory_core.store.ledger import schema, state_rows
from tests.store.ledger.reads import ALICE, NEW, read


def opened(path: Path | str) -> SQLiteLedger:
    ledger = SQLiteLedger(str(path))
    ledger.attach("uuid-of-a-collection", "memories")
    return ledger


def test_states_are_looked_up_point_by_point(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    ledger.states.enrol(ALICE, {f"m{number}": NEW for number in range(500)}, now=1.0)
    seen: list[str] = []
    with ledger.file.reading() as sql:
        sql.set_trace_callback(seen.append)
        state_rows.state_rows_by_id(sql, 1, 1, ["m1", "m2"])
        sql.set_trace_callback(None)
        plan = sql.execute("EXPLAIN QUERY PLAN " + seen[0]).fetchall()
    assert [step[3] for step in plan] == [
        "SEARCH records USING INDEX records_by_stored_id (collection_key=? AND stored_id=?)"
    ]


def test_a_ledger_that_a_newer_package_changes_as_we_begin_keeps_its_version(tmp_path: Path) -> None:
    path, newer = tmp_path / "ledger.sqlite3", schema.SCHEMA_VERSION + 1

    class Beaten(sqlite3.Connection):
        def execute(self, query: str, *given: Any) -> sqlite3.Cursor:
            if query == "BEGIN IMMEDIATE":
                with sqlite3.connect(path) as other:
                    other.execute(f"PRAGMA user_version = {newer}")
            return super().execute(query, *given)

    with sqlite3.connect(path, factory=Beaten, isolation_level=None) as beaten:
        with pytest.raises(LedgerVersionError, match=rf"schema version {newer};.* reads version 1. Install"):
            schema.create_tables(beaten)
        assert beaten.execute("PRAGMA user_version").fetchone() == (newer,)


@pytest.mark.parametrize("version", [0, 2, 31])
def test_a_ledger_with_another_schema_version_is_refused_and_left_as_it_is(tmp_path: Path, version: int) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = opened(path)
    read(ledger, ALICE, "r1", "m1")
    ledger.close()
    with sqlite3.connect(path) as sql:
        sql.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(LedgerVersionError, match=f"schema version {version}.* reads version 1.*give another ledger="):
        opened(path)
    with sqlite3.connect(path) as sql:
        assert sql.execute("PRAGMA user_version").fetchone() == (version,)
        sql.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION}")
    assert opened(path).states.known(ALICE, ["m1"]).states["m1"].retrieval_count == 1


def test_tables_that_cannot_all_be_created_are_not_created_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, statements = tmp_path / "ledger.sqlite3", schema._statements()
    monkeypatch.setattr(schema, "_statements", lambda: (*statements, "UPDATE nowhere SET motto = 'read'"))
    with pytest.raises(LedgerError):
        opened(path)
    monkeypatch.undo()
    with sqlite3.connect(path) as sql:
        assert sql.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert read(opened(path), ALICE, "r1", "m1") == 1


def test_a_floor_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    read(ledger, ALICE, "r1", "m1")
    for damaged in ("", "{", "[]", '{"no": "floor"}'):
        with ledger.file.writing() as sql:
            sql.execute("INSERT OR REPLACE INTO floors VALUES (1, 'manner', 0, ?)", (damaged,))
        assert ledger.floors.get(ALICE, "manner") is None


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes, not a database, and they shall stay as they are" * 20)
    with pytest.raises(LedgerError, match="SQLite file"):
        opened(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("these are notes")


@pytest.mark.parametrize(("durability", "syncs"), [("normal", 0), ("full", 3)])
def test_with_full_durability_every_write_has_been_synced_when_it_returns(
    tmp_path: Path, durability: Any, syncs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced, sync = tmp_path / "ledger.sqlite3", list[int](), sqlite_connection._sync

    def counted(log: int) -> None:
        sync(log)
        synced.append(os.fstat(log).st_ino)

    ledger = SQLiteLedger(str(path), durability=durability)
    monkeypatch.setattr(sqlite_connection, "_sync", counted)
    for dimension in range(3):
        ledger.notes.keep_embedder("model", dimension)
    assert synced == [path.with_name("ledger.sqlite3-wal").stat().st_ino] * syncs
    with ledger.file.reading() as sql:
        assert sql.execute("PRAGMA synchronous").fetchone() == (1,)
        assert sql.execute("PRAGMA journal_mode").fetchone() == ("wal",)
