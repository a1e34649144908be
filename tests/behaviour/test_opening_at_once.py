"""Can one directory be opened by several threads at the same moment? And does a wrong path leave nothing behind?"""

from __future__ import annotations

import threading
import warnings
from pathlib import Path

import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError
from tests.conftest import word_vectors

THREADS, ROUNDS = 4, 3


def test_threads_that_open_one_directory_at_once_all_get_a_memory(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def work(path: Path, start: threading.Barrier) -> None:
        try:
            start.wait(30)
            with AdaptiveMemory.open(path, embedder=word_vectors) as memory:
                memory.for_user("ana").recall("tea")
        except BaseException as error:
            errors.append(error)

    for number in range(ROUNDS):
        start = threading.Barrier(THREADS)
        threads = [threading.Thread(target=work, args=(tmp_path / str(number), start)) for _ in range(THREADS)]
        for one in threads:
            one.start()
        for one in threads:
            one.join(60)
    assert errors == []


@pytest.mark.hard("large")
def test_memories_dropped_and_opened_one_after_the_other_warn_of_nothing(tmp_path: Path) -> None:
    """Whoever opens the ledger while the one before lets go of it sees a commit under way, and no torn log."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for _ in range(40):
            memory = AdaptiveMemory.open(tmp_path, embedder=word_vectors)
            ana = memory.for_user("ana")
            ana.remember("tea", id="tea")
            ana.recall("tea")
            del memory, ana
    assert not list(tmp_path.glob("*.torn"))


def test_a_repair_of_nothing_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There is no memory in"):
        AdaptiveMemory.repair(tmp_path / "typo")
    assert not (tmp_path / "typo").exists()
