"""Is what others changed found by its words, also where the memory was closed, or was writing, at that moment?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from tests.conftest import word_vectors

pytestmark = pytest.mark.usefixtures("others_unheard")

FILLER = [{"id": f"f{n}", "text": f"nothing of note happened on day {n}"} for n in range(60)]
POLICY = Policy(channels=("dense", "lexical"), recall_k=3)
UNRELATED = "nobody asks for this"  # so that only words find it, and no recall comes upon it by its vector


def opened(directory: Path) -> AdaptiveMemory:
    return AdaptiveMemory.open(directory, embedder=word_vectors, policy=POLICY)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Of a memory that has compared all that is in its collection."""
    with opened(tmp_path / "memory") as memory:
        alice = memory.for_user("alice")
        alice.remember_many(FILLER)
        alice.recall("day 5", k=1)
        memory.sync()
    return tmp_path / "memory"


class Others:
    """Another program, with a client of its own, that writes into the collection."""

    def __init__(self, directory: Path) -> None:
        client = chromadb.PersistentClient(str(directory))
        self.collection: Any = client.get_collection("memories", embedding_function=None)

    def overwrite(self) -> str:
        self.collection.update(ids=["f5"], documents=["a zebra"], embeddings=word_vectors([UNRELATED]))
        return "f5"

    def swap(self) -> str:
        self.collection.delete(ids=["f5"])
        return self.add()

    def add(self) -> str:
        owner = [{"user_id": "alice"}]
        self.collection.add(
            ids=["theirs"], documents=["a zebra"], embeddings=word_vectors([UNRELATED]), metadatas=owner
        )
        return "theirs"


def with_zebras(alice: UserMemory) -> list[str]:
    return [hit.id for hit in alice.recall("zebra", k=3, reinforce=False) if hit.parts["words"] > 0]


def test_what_was_written_over_is_found_after_a_reopening_though_no_recall_was_counted(directory: Path) -> None:
    """The mirror tells the words of it once, and looking writes nothing."""
    with opened(directory) as memory:
        memory.for_user("alice").recall("day 7", k=1, reinforce=False)
        Others(directory).overwrite()
        memory.sync()
    with opened(directory) as memory:
        assert with_zebras(memory.for_user("alice")) == ["f5"]


def test_what_was_added_is_found_though_the_newest_is_ours_and_as_many_were_removed(directory: Path) -> None:
    """Neither the number of records nor the last one tells of it."""
    with opened(directory) as memory:
        alice, others = memory.for_user("alice"), Others(directory)
        alice.recall("day 7", k=1)
        others.add()
        alice.remember("ours")
        others.collection.delete(ids=["f5"])
        memory.sync()
        assert with_zebras(alice) == ["theirs"]
    with opened(directory) as memory:
        assert with_zebras(memory.for_user("alice")) == ["theirs"]


def test_a_swap_is_found_whatever_was_counted_before_the_mirror_found_it(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(directory) as memory:
        alice, others = memory.for_user("alice"), Others(directory)
        alice.recall("day 7", k=1)
        words: Any = memory.ports().words
        monkeypatch.setattr(words, "sync", list)  # the mirror alone
        others.add()
        alice.remember("ours")
        others.collection.delete(ids=["f5"])
        memory.sync()
        assert with_zebras(alice) == ["theirs"]


@pytest.mark.parametrize("act", [Others.overwrite, Others.swap])
def test_what_others_write_while_closing_writes_back_is_found_afterwards(
    directory: Path, act: Callable[[Others], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    others, found = Others(directory), list[str]()
    with opened(directory) as memory:
        memory.for_user("alice").recall("day 7", k=1)
        update = ChromaRecords.update_metadata

        def at_the_same_moment(store: ChromaRecords, changes: Any) -> None:
            if not found:
                found.append(act(others))
            update(store, changes)

        monkeypatch.setattr(ChromaRecords, "update_metadata", at_the_same_moment)
    assert found
    with opened(directory) as memory:
        assert with_zebras(memory.for_user("alice")) == found
        nearest = memory.for_user("alice").recall(UNRELATED, k=1, policy=Policy(channels=("dense",)))
        assert list(nearest.ids) == found
