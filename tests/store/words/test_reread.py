"""Is a text that another program changed found by its new words, though Chroma tells of no update?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.store.words import reread as second_look
from adaptive_memory_core.store.words import up_to_date as lexical_channel
from tests.conftest import Clock, Vectors, background_done

FILLER = [f"nothing of note happened on day {n}" for n in range(60)]


@pytest.fixture
def alice(
    collection: Collection, embed: Callable[..., Vectors], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[UserMemory]:
    monkeypatch.setattr(lexical_channel, "AGAIN_SECONDS", 0.0)
    policy = Policy(channels=("dense", "lexical"), recall_k=3)
    with closing(AdaptiveMemory(collection, embedder=embed, clock=clock, policy=policy)) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"id": f"f{n}", "text": text} for n, text in enumerate(FILLER)])
        looked_again(alice)
        yield alice


def looked_again(alice: UserMemory, cue: str = "nothing") -> None:
    """A recall that counts, and the end of what it begins."""
    alice.recall(cue, k=1)
    background_done(alice.memory)


def words_of(alice: UserMemory, cue: str) -> dict[str, float]:
    return {one.id: one.parts["words"] for one in alice.recall(cue, k=3, reinforce=False)}


def test_a_text_that_was_updated_elsewhere_is_found_by_its_new_words_and_no_longer_by_the_old(
    alice: UserMemory, collection: Collection, embed: Callable[..., Vectors]
) -> None:
    collection.update(ids=["f5"], documents=["a zebra"], embeddings=embed(["nobody asks for this"]))
    assert words_of(alice, "zebra").get("f5", 0.0) == 0.0
    looked_again(alice)
    assert words_of(alice, "zebra")["f5"] > 0.0


def test_many_records_are_looked_at_again_page_by_page(
    alice: UserMemory, collection: Collection, embed: Callable[..., Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_look, "REREAD_AT_ONCE", 20)
    monkeypatch.setattr(second_look, "LATEST_REREAD", 1)
    collection.update(ids=["f41"], documents=["a zebra"], embeddings=embed(["nobody asks for this"]))
    for _ in range(4):
        looked_again(alice)
    assert words_of(alice, "zebra")["f41"] > 0.0


def test_a_record_that_was_deleted_and_added_again_elsewhere_is_found_by_its_new_words(
    alice: UserMemory, collection: Collection, embed: Callable[..., Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_look, "REREAD_AT_ONCE", 1)
    collection.delete(ids=["f50"])
    owned: Any = [{"user_id": "alice"}]
    collection.add(ids=["f50"], documents=["a zebra"], embeddings=embed(["nobody asks for this"]), metadatas=owned)
    looked_again(alice)
    assert words_of(alice, "zebra")["f50"] > 0.0


def test_what_is_written_here_meanwhile_is_not_overruled_by_what_was_read_before(
    alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = alice._memory.ports().records
    read = store.rows

    def then_written(ids: Any) -> Any:
        found = [(one, "a giraffe" if one == "f5" else text, metadata) for one, text, metadata in read(ids)]
        monkeypatch.setattr(store, "rows", read)
        alice.remember("a zebra", id="f5")
        return found

    monkeypatch.setattr(store, "rows", then_written)
    monkeypatch.setattr(second_look, "LATEST_REREAD", 1)
    looked_again(alice)
    assert words_of(alice, "zebra")["f5"] > 0.0


def test_looking_alone_begins_no_second_look(alice: UserMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    channel: Any = alice._memory.ports().words
    before = channel._read_again
    alice.recall("nothing", reinforce=False)
    assert channel._read_again == before


def test_what_was_written_over_in_an_embedded_collection_is_found_without_reading_all_again(
    tmp_path: Path, embed: Callable[..., Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mirror compares with Chroma's own numbers of writes, and tells the words."""

    def reread(*_: object) -> None:
        raise AssertionError("texts were read again")

    policy = Policy(channels=("dense", "lexical"), recall_k=3)
    with AdaptiveMemory.open(tmp_path / "memory", embedder=embed, policy=policy) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"id": f"f{n}", "text": text} for n, text in enumerate(FILLER)])
        memory.sync()
        looked_again(alice)
        monkeypatch.setattr(lexical_channel, "AGAIN_SECONDS", 0.0)
        monkeypatch.setattr(lexical_channel, "reread", reread)
        collection = chromadb.PersistentClient(str(tmp_path / "memory")).get_collection("memories")
        vectors: Any = embed(["nobody asks for this"])
        collection.update(ids=["f5"], documents=["a zebra"], embeddings=vectors)
        memory.sync()
        assert words_of(alice, "zebra")["f5"] > 0.0
        looked_again(alice)
        assert words_of(alice, "zebra")["f5"] > 0.0
        assert "f5" not in words_of(alice, "day 5")
