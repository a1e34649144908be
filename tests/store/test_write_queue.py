"""Do writers of one process come in turn, in the order in which they came, and is none held up by one that has left?"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.store.sqlite_connection import WriteQueue, queue_of

WRITERS = 6


def waiting(queue: WriteQueue, how_many: int) -> None:
    deadline = time.monotonic() + 10
    while len(queue._line) < how_many:
        assert time.monotonic() < deadline
        time.sleep(0.001)


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
