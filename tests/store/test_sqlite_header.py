"""Is a sound file called sound while others write it, and a torn one torn?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.store import sqlite_files
from adaptive_memory_core.store.sqlite_files import header_fault

PAGES = 50
Act = Callable[[], object]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.sqlite3"


@pytest.fixture
def written(file: Path) -> sqlite3.Connection:
    """A connection whose rows wait in a journal: the file has no more than its first pages."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE rows (row BLOB)")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.executemany("INSERT INTO rows VALUES (zeroblob(4000))", [()] * PAGES)
    return connection


def between(monkeypatch: pytest.MonkeyPatch, *, before: Act = int, after: Act = int) -> None:
    """Others do this once, before or after the header is read."""
    read, left = sqlite_files.head_of, [before, after]

    def head(file: Path, length: int) -> bytes:
        left.pop(0)() if left else None
        found = read(file, length)
        left.pop(0)() if left else None
        return found

    monkeypatch.setattr(sqlite_files, "head_of", head)


def shrunk(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM rows")
    connection.execute("VACUUM")
    connection.close()


def test_a_file_that_grows_or_shrinks_meanwhile_is_not_called_torn(
    file: Path, written: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        between(patch, before=written.close)  # which puts all of the journal into the file, and removes it
        assert header_fault(file) is None
    assert file.stat().st_size > PAGES * 4_000
    again: Any = sqlite3.connect(file, isolation_level=None)
    with monkeypatch.context() as patch:
        between(patch, after=lambda: shrunk(again))
        assert header_fault(file) is None
    assert file.stat().st_size < PAGES * 4_000


def test_a_file_that_goes_meanwhile_is_not_called_anything(
    file: Path, written: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    written.close()
    between(monkeypatch, after=file.unlink)
    assert header_fault(file) is None
    assert not file.exists()


def test_a_file_that_is_cut_is_torn(file: Path, written: sqlite3.Connection) -> None:
    written.close()
    with file.open("r+b") as content:
        content.truncate(8_192)
    assert "torn: 8192 bytes of" in str(header_fault(file))
