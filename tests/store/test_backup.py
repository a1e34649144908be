"""Is a memory that is in use copied whole, and is nothing left of a copy that failed?"""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.errors import InvalidInputError, StoreError
from tests.conftest import Clock, Open, word_vectors

EVERY = Policy(refresh_floor_seconds=0.0)
RECORDS = 40


@pytest.fixture
def memory(open_memory: Open) -> AdaptiveMemory:
    memory = open_memory(policy=EVERY)
    alice = memory.for_user("alice")
    alice.remember_many([{"id": f"m{one}", "text": f"note {one} about topic{one}"} for one in range(RECORDS)])
    alice.pin("m3")
    recall = alice.recall("topic7", k=2)
    alice.feedback(recall, helpful=["m7"])
    return memory


def opened(path: Path, clock: Clock) -> AdaptiveMemory:
    return AdaptiveMemory.open(path, embedder=word_vectors, policy=EVERY, clock=clock)


def test_a_copy_is_opened_like_the_memory_itself(memory: AdaptiveMemory, tmp_path: Path, clock: Clock) -> None:
    heard: list[tuple[int, int]] = []
    copy = memory.backup(tmp_path / "copy", progress=lambda done, total: heard.append((done, total)))
    assert copy == tmp_path / "copy"
    assert heard[-1][0] == heard[-1][1] > 0
    alice, later = memory.for_user("alice"), memory.for_user("alice").remember("written later", id="later")
    with opened(copy, clock) as restored:
        assert restored.check().ok, str(restored.check())
        mine = restored.for_user("alice")
        assert mine.get("m7").read.retrieval_count == alice.get("m7").read.retrieval_count == 1
        assert mine.get("m3").read.pinned
        assert [one.cue for one in mine.recalls()] == ["topic7"]
        assert mine.recall("topic30", k=1).ids == ("m30",)
        assert later not in mine.recall("written later", k=50).ids
        assert mine.stats().records == RECORDS
    assert memory.check().ok
    alice.remember("and it goes on")


def test_what_was_acknowledged_before_is_in_a_copy_that_is_made_while_others_write(
    memory: AdaptiveMemory, tmp_path: Path, clock: Clock
) -> None:
    over, written, counted = threading.Event(), list[str](), [0]

    def remember() -> None:
        while not over.is_set():
            written.append(memory.for_user("bob").remember(f"bob's note {len(written)}"))

    def recall() -> None:
        while not over.is_set():
            memory.for_user("carl").recall("topic5", k=1)
            counted[0] += 1

    memory.for_user("carl").remember("a note about topic5")
    threads = [threading.Thread(target=work) for work in (remember, recall)]
    for thread in threads:
        thread.start()
    while len(written) < 3 or counted[0] < 3:
        over.wait(0.005)
    known, recalls = list(written), counted[0]
    memory.backup(tmp_path / "copy")
    over.set()
    for thread in threads:
        thread.join()
    with opened(tmp_path / "copy", clock) as restored:
        assert restored.check().ok, str(restored.check())
        assert [restored.for_user("bob").get(one).id for one in known] == known
        assert restored.for_user("carl").stats().recalls >= recalls


@pytest.mark.parametrize("place", ["memory/inside", "full"])
def test_a_place_that_is_taken_is_refused(memory: AdaptiveMemory, tmp_path: Path, place: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").write_text("of somebody's")
    with pytest.raises(InvalidInputError, match="does not exist yet, or is empty"):
        memory.backup(tmp_path / place)
    assert (tmp_path / "full" / "something").read_text() == "of somebody's"


def test_of_a_copy_that_failed_nothing_is_left_and_the_memory_goes_on(memory: AdaptiveMemory, tmp_path: Path) -> None:
    def fails(done: int, total: int) -> None:
        raise KeyboardInterrupt

    before = {one.name for one in tmp_path.iterdir()}
    with pytest.raises(KeyboardInterrupt):
        memory.backup(tmp_path / "copy", progress=fails)
    assert {one.name for one in tmp_path.iterdir()} == before
    memory.for_user("alice").remember("it goes on")
    assert memory.backup(tmp_path / "copy").is_dir()


def test_a_damaged_memory_is_not_copied_for_a_whole_one(memory: AdaptiveMemory, tmp_path: Path, clock: Clock) -> None:
    memory.close()
    with opened(tmp_path / "memory", clock) as again:
        ledger: Any = again.ports().ledger
        with ledger.file.writing() as sql:
            sql.execute("UPDATE records SET retrieval_count = -5")
        with pytest.raises(StoreError, match="is not whole"):
            again.backup(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_one_in_ram_cannot_be_copied(tmp_path: Path) -> None:
    collection = chromadb.EphemeralClient().get_or_create_collection("backup-in-ram", embedding_function=None)
    memory = AdaptiveMemory(collection, embedder=word_vectors)
    with closing(memory), pytest.raises(StoreError, match="export_state"):
        memory.backup(tmp_path / "copy")


async def test_it_has_an_async_twin(memory: AdaptiveMemory, tmp_path: Path, clock: Clock) -> None:
    copy = await memory.abackup(tmp_path / "copy")
    with opened(copy, clock) as restored:
        assert restored.for_user("alice").stats().records == RECORDS
