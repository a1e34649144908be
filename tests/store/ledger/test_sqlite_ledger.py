"""What is the SQLite ledger's own? Point lookups, migrations, damaged rows, what SQLite is told."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import Policy, ReadState, SQLiteLedger
from adaptive_memory_core.errors import LedgerError, LedgerVersionError
from adaptive_memory_core.learn.decay.strength import strength
from adaptive_memory_core.policy.decay import Phase, Regime
from adaptive_memory_core.store import group_commit
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
        state_rows.known_states(sql, 1, 1, ["m1", "m2"])
        sql.set_trace_callback(None)
        plan = sql.execute("EXPLAIN QUERY PLAN " + seen[0]).fetchall()
    assert [step[3] for step in plan] == [
        "SEARCH records USING INDEX records_by_stored_id (collection_key=? AND stored_id=?)"
    ]


def test_an_older_ledger_is_brought_up_to_date_with_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = opened(path)
    read(ledger, ALICE, "r1", "m1")
    ledger.close()
    step = "ALTER TABLE users ADD COLUMN motto TEXT;\nUPDATE users SET motto = 'read';"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    ledger = opened(path)
    assert ledger.states.known(ALICE, ["m1"]).states["m1"].retrieval_count == 1
    with ledger.file.reading() as sql:
        assert sql.execute("SELECT motto FROM users").fetchall() == [("read",)]
    ledger.close()
    monkeypatch.undo()
    with pytest.raises(LedgerVersionError, match="newer version"):
        opened(path)


def test_a_ledger_that_a_newer_package_changes_as_we_begin_keeps_its_version(tmp_path: Path) -> None:
    path, newer = tmp_path / "ledger.sqlite3", len(schema.MIGRATIONS) + 1

    class Beaten(sqlite3.Connection):
        def execute(self, query: str, *given: Any) -> sqlite3.Cursor:
            if query == "BEGIN IMMEDIATE":
                with sqlite3.connect(path) as other:
                    other.execute(f"PRAGMA user_version = {newer}")
            return super().execute(query, *given)

    with sqlite3.connect(path, factory=Beaten, isolation_level=None) as beaten:
        with pytest.raises(LedgerVersionError, match="newer version"):
            schema.migrate(beaten)
        assert beaten.execute("PRAGMA user_version").fetchone() == (newer,)


def test_a_new_ledger_is_the_same_by_the_steps_and_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_known_new", [])
    assert schema_of_a_new_file() == schema_of_a_new_file()
    assert len(schema._known_new) == 1


def schema_of_a_new_file() -> Any:
    """All that is in it: what its objects are and hold, and the version."""
    with sqlite3.connect(":memory:", isolation_level=None) as sql:
        schema.migrate(sql)
        objects = sql.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()
        rows = [sql.execute(f'SELECT * FROM "{name}"').fetchall() for kind, name, *_ in objects if kind == "table"]
        assert len(objects) > 100
        return objects, rows, sql.execute("PRAGMA user_version").fetchone()


def test_what_an_older_version_kept_has_not_decayed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.sqlite3"
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        with sqlite3.connect(path) as sql:
            schema.migrate(sql)
            sql.execute("INSERT INTO collections (uuid, name) VALUES ('uuid-of-a-collection', 'memories')")
            sql.execute("INSERT INTO users (collection_key, name, steps) VALUES (1, 'alice', 40)")
            sql.execute(
                "INSERT INTO records (collection_key, user_key, stored_id, settled_step, last_read, retrieval_count) "
                "VALUES (1, 1, 'm1', 3, 5.0, 1), (1, 1, 'm2', 0, NULL, 0)"
            )
    ledger = opened(path)
    known = ledger.states.known(ALICE, ["m1", "m2"])
    arm = Policy.preset("aggressive")
    timeline = known.timeline.under(Regime((Phase(arm.pace, 0.0),)))
    assert [strength(known.states[one], None, timeline, now=9e9) for one in ("m1", "m2")] == [1.0, 1.0]
    assert known.states["m1"].retrieval_count == 1
    with ledger.file.reading() as sql:
        assert sql.execute("SELECT rows FROM collections").fetchone() == (2,)


def test_what_no_recall_can_bear_is_mended_when_an_older_ledger_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, strange = tmp_path / "ledger.sqlite3", (1e308, float("inf"), -3.0, -1e300, 10**13)
    good = ReadState(last_read=5.0, retrieval_count=2, strength=0.5, boost=0.25, useful_at=4.0, helpful=1)
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:7])
        with sqlite3.connect(path) as sql:
            schema.migrate(sql)
            sql.execute("INSERT INTO collections (uuid, name) VALUES ('uuid-of-a-collection', 'memories')")
            sql.execute("INSERT INTO users (collection_key, name, steps) VALUES (1, 'alice', 40)")
            names = "stored_id, last_read, retrieval_count, strength, boost, useful_at, helpful"
            states = [(one, 5.0, 2, 0.5, 0.25, 4.0, 1) for one in ("good", "bad")]
            sql.executemany(
                f"INSERT INTO records (collection_key, user_key, {names}) VALUES (1, 1, ?, ?, ?, ?, ?, ?, ?)", states
            )
            sql.execute(
                "UPDATE records SET strength = ?, useful_at = ?, boost = ?, last_read = ?, retrieval_count = ? "
                "WHERE stored_id = 'bad'",
                strange,
            )
    known = opened(path).states.known(ALICE, ["good", "bad"]).states
    mended = replace(good, strength=1.0, useful_at=None, boost=0.0, last_read=None, retrieval_count=0)
    assert known == {"good": good, "bad": mended}


def test_a_floor_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    read(ledger, ALICE, "r1", "m1")
    for damaged in ("", "{", "[]", '{"no": "floor"}'):
        with ledger.file.writing() as sql:
            sql.execute("INSERT OR REPLACE INTO floors VALUES (1, 'manner', 0, ?)", (damaged,))
        assert ledger.floors.get(ALICE, "manner") is None


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.sqlite3"
    opened(path).close()
    step = "ALTER TABLE users ADD COLUMN motto TEXT;\nUPDATE nowhere SET motto = 'read';"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    with pytest.raises(LedgerError):
        opened(path)
    monkeypatch.undo()
    ledger = opened(path)
    with ledger.file.reading() as sql:
        assert "motto" not in [column[1] for column in sql.execute("PRAGMA table_info(users)")]


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes, not a database, and they shall stay as they are" * 20)
    with pytest.raises(LedgerError, match="SQLite file"):
        opened(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("these are notes")


@pytest.mark.parametrize(("durability", "syncs"), [("normal", 0), ("full", 3)])
def test_with_full_durability_every_write_has_been_synced_when_it_returns(
    tmp_path: Path, durability: Any, syncs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced, sync = tmp_path / "ledger.sqlite3", list[int](), group_commit._sync

    def counted(log: int) -> None:
        sync(log)
        synced.append(os.fstat(log).st_ino)

    ledger = SQLiteLedger(str(path), durability=durability)
    monkeypatch.setattr(group_commit, "_sync", counted)
    for dimension in range(3):
        ledger.notes.keep_embedder("model", dimension)
    assert synced == [path.with_name("ledger.sqlite3-wal").stat().st_ino] * syncs
    with ledger.file.reading() as sql:
        assert sql.execute("PRAGMA synchronous").fetchone() == (1,)
        assert sql.execute("PRAGMA journal_mode").fetchone() == ("wal",)
