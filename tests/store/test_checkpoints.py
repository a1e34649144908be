"""Does the ledger's log of writes stay bounded under writers that never pause, and once a long read has ended?"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.store import sqlite_connection
from adaptive_memory_core.store.background import Background
from adaptive_memory_core.store.background_chores import checkpoints_of
from adaptive_memory_core.store.sqlite_connection import PAGE_BYTES, WAL_PAGES
from adaptive_memory_core.store.sqlite_files import commits_in_index, commits_noted
from tests import forked

PAGES_A_WRITE, WRITES = 20, 3_000  # 240 MB of writes
BOUND = 3 * WAL_PAGES * PAGE_BYTES
OTHER = """
import sys
from tests import forked
from tests.store.test_checkpoints import WRITES, Background, SQLiteLedger, checkpoints_of, write
ledger, background = SQLiteLedger(sys.argv[1]), Background()
background.start(checkpoints_of(ledger, background.wake), lambda: None)
for number in range(WRITES // 3):
    write(ledger, number)
background.stop()
"""


def write(ledger: SQLiteLedger, number: int) -> None:
    with ledger.file.writing() as sql:
        sql.execute("INSERT OR REPLACE INTO policies VALUES (?, ?)", (str(number % 10), "x" * PAGES_A_WRITE * 4_000))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SQLiteLedger]:
    made, background = SQLiteLedger(str(tmp_path / "ledger.sqlite3")), Background()
    background.start(checkpoints_of(made, background.wake), lambda: None)
    yield made
    background.stop()
    made.close()


def size(ledger: SQLiteLedger) -> int:
    assert ledger.file.place is not None
    return ledger.file.place.with_name(ledger.file.place.name + "-wal").stat().st_size


def test_the_index_of_a_log_in_use_says_what_the_log_does(tmp_path: Path) -> None:
    with closing(SQLiteLedger(str(tmp_path / "ledger.sqlite3"))) as ledger:
        place = ledger.file.place
        assert place is not None
        for number in range(5):
            write(ledger, number)
            assert commits_in_index(place) == commits_noted(place)


def test_writers_that_never_pause_leave_a_short_log(ledger: SQLiteLedger) -> None:
    sizes: list[int] = []

    def work(first: int) -> None:
        for number in range(first, WRITES, 4):
            write(ledger, number)
            sizes.append(size(ledger))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert max(sizes) < BOUND


@pytest.mark.hard("processes")
def test_several_processes_that_never_pause_leave_a_short_log(ledger: SQLiteLedger) -> None:
    others = [forked.source(OTHER, ledger.file.path) for _ in range(3)]
    sizes = [0]
    while any(one.poll() is None for one in others):
        sizes.append(size(ledger))
        time.sleep(0.005)
    assert [one.returncode for one in others] == [0, 0, 0]
    assert max(sizes) < 2 * BOUND  # of 240 MB, which is what it would grow to: nobody finds it emptied by the others


def test_the_log_is_emptied_while_others_write_once_a_long_read_has_ended(ledger: SQLiteLedger, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite3", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM policies").fetchone()
        number = 0
        while size(ledger) < BOUND:
            write(ledger, number := number + 1)
        reader.execute("COMMIT")
    for more in range(number, number + WRITES):
        write(ledger, more)
        if size(ledger) < BOUND:
            return
    raise AssertionError(size(ledger))


def test_a_ledger_in_ram_has_no_log() -> None:
    assert checkpoints_of(SQLiteLedger(":memory:"), lambda: None) == ()


@pytest.mark.parametrize("is_beside", [True, False])
def test_after_one_long_transaction_the_background_empties_the_log_if_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_beside: bool
) -> None:
    monkeypatch.setattr(sqlite_connection, "LONG_BYTES", 2**20)
    monkeypatch.setattr(sqlite_connection, "LEFT_SECONDS", 600.0 if is_beside else 0.0)
    emptied: list[str] = []
    empty = sqlite_connection.WriteAheadLog._empty

    def noted(log: sqlite_connection.WriteAheadLog, *given: Any) -> bool:
        emptied.append(threading.current_thread().name)
        return empty(log, *given)

    monkeypatch.setattr(sqlite_connection.WriteAheadLog, "_empty", noted)
    with closing(SQLiteLedger(str(tmp_path / "ledger.sqlite3"))) as ledger:
        place = ledger.file.place
        assert place is not None
        with ledger.file.writing() as sql:
            for number in range(100):
                sql.execute("INSERT INTO policies VALUES (?, ?)", (f"long {number}", "x" * PAGES_A_WRITE * 4_000))
        assert size(ledger) > 2**20
        chore = checkpoints_of(ledger, lambda: None)[0]
        for number in range(2 * sqlite_connection.LOOK_EVERY):
            if is_beside and chore.wait() == 0.0:
                chore.work(lambda: True)
            with ledger.file.writing() as sql:
                sql.execute("INSERT OR REPLACE INTO policies VALUES ('short', ?)", (str(number),))
        found = commits_in_index(place)
        assert found is not None
        assert found.pages - found.kept < 1_000
        assert emptied == ([] if is_beside else [threading.current_thread().name])


def test_what_another_connection_has_not_committed_yet_makes_no_log_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while the file is written anew after something was forgotten: its pages stand in the log until that ends."""
    monkeypatch.setattr(sqlite_connection, "LONG_BYTES", 2**20)
    monkeypatch.setattr(sqlite_connection, "MOST_BYTES", 2**20)
    with closing(SQLiteLedger(str(tmp_path / "ledger.sqlite3"))) as ledger:
        write(ledger, 0)
        log = sqlite_connection.WriteAheadLog(ledger.file.place)
        with closing(sqlite3.connect(ledger.file.path, isolation_level=None)) as other:
            other.execute("PRAGMA cache_size = 10")  # so it writes its pages before the end
            other.execute("BEGIN IMMEDIATE")
            for number in range(50):
                other.execute("INSERT INTO policies VALUES (?, ?)", (f"long {number}", "x" * PAGES_A_WRITE * 4_000))
            assert size(ledger) > 2**20
            with ledger.file.reading() as sql:
                for _ in range(sqlite_connection.LOOK_EVERY):
                    log.keep_short(sql)
            other.execute("COMMIT")
            with ledger.file.reading() as sql:
                for _ in range(sqlite_connection.LOOK_EVERY):
                    log.keep_short(sql)
        assert size(ledger) == 0
