"""Who holds a directory when processes end, are killed, or fork? With real processes and the real lock."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from adaptive_memory_core.errors import StoreError, StoreInUseError
from adaptive_memory_core.store import process_locks
from adaptive_memory_core.store.background import Background
from adaptive_memory_core.store.chroma.exporter import Takeover
from tests import forked
from tests.forked import Forked

HOLD = """
import sys, time
from pathlib import Path
from adaptive_memory_core.store import process_locks
process_locks.claim(Path(sys.argv[1]))
{more}
print("held", flush=True)
sys.stdin.read()
"""
FORK = """
import os
if (child := os.fork()) == 0:
    assert not process_locks.claimed(Path(sys.argv[1]))
    os.close(1)
    time.sleep(60)
print(child, flush=True)
"""


@contextmanager
def holder(directory: Path, more: str = "") -> Iterator[Forked]:
    """A process that holds the directory, until it is killed or its input is closed."""
    with closing(forked.source(HOLD.format(more=more), directory)) as process:
        yield process


def line(process: Forked) -> str:
    return process.stdout.readline().strip()


@pytest.fixture
def background() -> Iterator[Background]:
    made = Background()
    yield made
    made.stop()


def test_a_directory_is_one_processs_and_all_its_memories_share_it(tmp_path: Path) -> None:
    with holder(tmp_path) as other:
        assert line(other) == "held"
        assert not process_locks.claimed(tmp_path)
        with pytest.raises(StoreInUseError, match="chroma run"):
            process_locks.claim(tmp_path)
        other.kill()
        other.wait(10)
        assert process_locks.claimed(tmp_path)
        assert process_locks.claimed(tmp_path)
        process_locks.release(tmp_path)
        process_locks.release(tmp_path)


@pytest.mark.hard("kill")
@pytest.mark.parametrize("how", ["killed", "ended"])
def test_another_process_takes_over_within_two_seconds(tmp_path: Path, background: Background, how: str) -> None:
    taken = threading.Event()
    with holder(tmp_path) as other:
        assert line(other) == "held"
        chore = Takeover(partial(process_locks.claimed, tmp_path), taken.set, partial(process_locks.release, tmp_path))
        background.start([chore], lambda: None)
        assert not taken.wait(1.2)
        if how == "killed":
            other.kill()
        else:
            other.communicate()
        assert taken.wait(2.0)
    assert chore.wait() is None
    process_locks.release(tmp_path)


def test_where_taking_over_fails_the_lock_is_free_for_others_and_it_is_tried_again(
    tmp_path: Path, background: Background
) -> None:
    log: list[str] = []
    done = threading.Event()

    def take_over() -> None:
        log.append("tried")
        if len(log) == 1:
            raise StoreError("Chroma cannot be opened")
        done.set()

    def release() -> None:
        process_locks.release(tmp_path)
        with holder(tmp_path) as other:
            log.append(line(other))

    chore = Takeover(partial(process_locks.claimed, tmp_path), take_over, release)
    background.start([chore], lambda: None)
    assert done.wait(10)
    assert log == ["tried", "held", "tried"]
    assert background.stats().failures == {"takeover": 1}
    process_locks.release(tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_of_the_holder_does_not_keep_the_lock_when_the_holder_is_killed(tmp_path: Path) -> None:
    with holder(tmp_path, FORK) as parent:
        child = int(line(parent))
        try:
            assert line(parent) == "held"
            parent.kill()
            parent.wait(10)
            assert _soon(partial(process_locks.claimed, tmp_path))
            os.kill(child, 0)  # it is still there
        finally:
            os.kill(child, signal.SIGKILL)
    process_locks.release(tmp_path)


def test_a_child_that_is_spawned_gets_nothing_of_the_lock(tmp_path: Path) -> None:
    process_locks.claim(tmp_path)
    child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    child.start()
    try:
        process_locks.release(tmp_path)
        with holder(tmp_path) as other:
            assert line(other) == "held"
    finally:
        child.kill()


def _soon(what: partial[bool]) -> bool:
    """Whether it comes true before long: the system closes the files of a killed process a moment later."""
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.01)
    return False
