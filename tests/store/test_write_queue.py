"""Do writers of one process come in turn, and do commits that wait at the same moment share a sync?"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, SQLiteLedger
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.store import sqlite_connection
from adaptive_memory_core.store.sqlite_connection import GroupCommit
from adaptive_memory_core.store.sqlite_file import WriteQueue, queue_of
from tests.behaviour.conftest import eventually
from tests.conftest import Open

WRITERS = 6


def waiting(queue: WriteQueue, how_many: int) -> None:
    assert eventually(lambda: len(queue._line) >= how_many)


def test_first_come_first_served() -> None:
    queue, order = WriteQueue(), list[int]()

    def write(number: int) -> None:
        with queue.turn(10.0) as came:
            assert came
            order.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    with queue.turn(0.0) as came:
        assert came
        for number, thread in enumerate(threads, 1):
            thread.start()
            waiting(queue, 1 + number)
    for thread in threads:
        thread.join()
    assert order == list(range(WRITERS))


def test_whoever_has_no_patience_left_leaves_and_holds_nobody_up() -> None:
    queue = WriteQueue()
    with queue.turn(0.0), queue.turn(0.0) as came:
        assert not came
    with queue.turn(0.0) as came:
        assert came


def test_whoever_fails_in_its_turn_gives_it_back() -> None:
    queue = WriteQueue()
    with pytest.raises(KeyboardInterrupt), queue.turn(0.0):
        raise KeyboardInterrupt
    with queue.turn(0.0) as came:
        assert came


def test_all_connections_to_a_file_queue_together(tmp_path: Path) -> None:
    one, other = (SQLiteLedger(str(tmp_path / "ledger.sqlite3")) for _ in range(2))
    assert one.file._queue is other.file._queue is queue_of(tmp_path / "." / "ledger.sqlite3")
    assert one.file._queue is not SQLiteLedger(":memory:").file._queue
    written = []

    def write() -> None:
        other.notes.keep_embedder("other", 3)
        written.append("other")

    thread = threading.Thread(target=write)
    with one.file.writing():
        thread.start()
        waiting(one.file._queue, 2)
        written.append("one")
    thread.join()
    assert written == ["one", "other"]


THREADS = 8


@pytest.fixture
def commits(tmp_path: Path) -> GroupCommit:
    (tmp_path / "ledger.sqlite3-wal").write_bytes(b"a log")
    return GroupCommit(tmp_path / "ledger.sqlite3")


def test_those_that_come_during_a_sync_share_the_next_one(
    commits: GroupCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, first, go_on, syncs = sqlite_connection._sync, threading.Event(), threading.Event(), list[int]()

    def slow(log: int) -> None:
        syncs.append(log)
        first.set()
        assert go_on.wait(10)
        sync(log)

    monkeypatch.setattr(sqlite_connection, "_sync", slow)
    threads = [threading.Thread(target=commits.wait) for _ in range(1 + THREADS)]
    threads[0].start()
    assert first.wait(10)
    for thread in threads[1:]:
        thread.start()
    assert commits._done == 0
    go_on.set()
    for thread in threads:
        thread.join()
    assert 2 <= len(syncs) <= 3  # 3 where one came only after the others had been served


def test_a_sync_that_fails_is_told_and_the_next_one_is_tried(
    commits: GroupCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_log: int) -> None:
        raise OSError("disk")

    with monkeypatch.context() as broken:
        broken.setattr(sqlite_connection, "_sync", fails)
        with pytest.raises(OSError, match="disk"):
            commits.wait()
    commits.wait()
    assert commits._done == 2


def test_a_log_that_is_gone_stands_in_the_file(tmp_path: Path) -> None:
    GroupCommit(tmp_path / "ledger.sqlite3").wait()


def test_it_is_an_option_of_a_memory(open_memory: Open, tmp_path: Path) -> None:
    def group_of(memory: AdaptiveMemory) -> object:
        ledger: Any = memory.ports().ledger
        return ledger.file._group

    assert group_of(open_memory(durability="full", keeping=Keeping(log=False))) is not None
    assert group_of(open_memory(path=tmp_path / "usual")) is None
    with pytest.raises(PolicyError, match="'some'"):
        open_memory(path=tmp_path / "wrong", durability="some")
