"""How long is anybody held up by another process that writes the ledger? All for the same time; looks not at all."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping
from adaptive_memory_core.errors import LedgerError
from tests.conftest import Open

THREADS = 8
COUNT_SECONDS = 0.3
SECONDS, LONG_SECONDS = 1.0, 60.0  # several times what eight recalls compute, and more than any test takes


@pytest.fixture
def memory(open_memory: Open, request: pytest.FixtureRequest) -> AdaptiveMemory:
    """One that waits for others for so long."""
    seconds = getattr(request, "param", COUNT_SECONDS)
    memory = open_memory(keeping=Keeping(count_seconds=seconds, wait_seconds=seconds, lag_seconds=3600))
    memory.for_user("alice").remember("green tea", id="tea")
    memory.for_user("alice").recall("tea")
    return memory


@pytest.fixture
def locked(memory: AdaptiveMemory, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Another connection in the midst of writing."""
    with closing(sqlite3.connect(tmp_path / "memory" / "adaptive_memory.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other
        other.execute("ROLLBACK")


def seconds(calls: list[Callable[[], object]]) -> float:
    """How long these take at once."""
    began = time.monotonic()
    with ThreadPoolExecutor(len(calls)) as pool:
        list(pool.map(lambda call: call(), calls))
    return time.monotonic() - began


@pytest.mark.parametrize("memory", [SECONDS], indirect=True)
def test_recalls_behind_a_locked_ledger_answer_uncounted_and_do_not_wait_for_each_other(
    memory: AdaptiveMemory, locked: sqlite3.Connection
) -> None:
    answers = []

    def recall() -> None:
        answers.append(memory.for_user("alice").recall("tea"))

    one = seconds([recall])
    assert seconds([recall] * THREADS) < 3 * one
    assert [answer.ids for answer in answers] == [("tea",)] * (1 + THREADS)
    assert all("not counted" in "".join(answer.trace) for answer in answers)
    assert locked.in_transaction


@pytest.mark.parametrize("memory", [LONG_SECONDS], indirect=True)
def test_looks_do_not_wait_for_those_who_wait(memory: AdaptiveMemory, locked: sqlite3.Connection) -> None:
    alice = memory.for_user("alice")
    done: list[str] = []

    def recall() -> None:
        alice.recall("tea")
        done.append("answered")

    waiting = [threading.Thread(target=recall) for _ in range(THREADS)]
    for thread in waiting:
        thread.start()
    for _ in range(5):
        assert alice.recall("tea", reinforce=False).ids == ("tea",)
    assert (done, locked.in_transaction) == ([], True)
    locked.execute("COMMIT")
    for thread in waiting:
        thread.join()
    locked.execute("BEGIN")
    assert done == ["answered"] * THREADS


def test_what_must_be_written_says_so_in_its_time(memory: AdaptiveMemory, locked: sqlite3.Connection) -> None:
    with pytest.raises(LedgerError, match="another process"):
        memory.for_user("alice").pin("tea")
    assert locked.in_transaction


def test_whoever_waited_is_counted_once_the_ledger_is_free(memory: AdaptiveMemory, locked: sqlite3.Connection) -> None:
    alice = memory.for_user("alice")
    thread = threading.Thread(target=lambda: alice.recall("tea"))
    thread.start()
    locked.execute("COMMIT")
    thread.join()
    locked.execute("BEGIN")
    assert alice.stats().recalls == 2


@pytest.mark.usefixtures("locked")
def test_closing_and_opening_wait_for_another_writer_no_longer_than_a_call(
    memory: AdaptiveMemory, tmp_path: Path
) -> None:
    began = time.monotonic()
    with pytest.warns(RuntimeWarning, match="Not everything could be written back") as told:
        memory.close()
    assert told[0].filename == __file__
    with pytest.raises(LedgerError, match="another process was writing it all the time"):
        AdaptiveMemory.open(tmp_path / "memory", keeping=Keeping(wait_seconds=COUNT_SECONDS))
    assert time.monotonic() - began < 10.0  # and not for half a minute each
