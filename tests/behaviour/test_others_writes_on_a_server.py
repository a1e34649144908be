"""On a real Chroma server: is what others write found, and what they delete gone, once the bound is over?"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.importer import Importer
from tests.behaviour.conftest import eventually, noting
from tests.chroma_server import ChromaServer
from tests.conftest import word_vectors

pytestmark = [pytest.mark.hard("server"), pytest.mark.usefixtures("others_unheard")]
BOUND_SECONDS = 0.2
KEEPING = Keeping(others_seen_seconds=BOUND_SECONDS, lag_seconds=0.2)
RECORDS = 30


def told(one: object) -> str:
    return f"note {one} about topic{one}"


class World:
    """A memory over a server's collection, and another program that writes into it."""

    def __init__(self, server: ChromaServer, ledger: Any, keeping: Keeping = KEEPING) -> None:
        client = chromadb.HttpClient("127.0.0.1", server.port)
        collection = client.create_collection("memories", embedding_function=None)
        self.memory = AdaptiveMemory(collection, embedder=word_vectors, ledger=ledger, keeping=keeping)
        self.alice = self.memory.for_user("alice")
        self.theirs: Any = chromadb.HttpClient("127.0.0.1", server.port).get_collection(
            "memories", embedding_function=None
        )
        self.random, self.number = random.Random(3), RECORDS
        self.alice.remember_many([{"id": f"m{one}", "text": told(one)} for one in range(RECORDS)])
        self.memory.sync()

    def known(self) -> str:
        """Any but the last: a server tells how many there are, and which came last."""
        ids: list[str] = self.theirs.get(include=[])["ids"]
        return self.random.choice(ids[:-1])

    def add(self, one: str | None = None) -> None:
        self.number += 1
        text, owner = told(self.number), [{"user_id": "alice"}]
        self.theirs.add(
            ids=[one or f"t{self.number}"], documents=[text], metadatas=owner, embeddings=word_vectors([text])
        )

    def delete(self) -> None:
        self.theirs.delete(ids=[self.known()])

    def delete_and_add(self) -> None:
        self.delete()
        self.add()

    def delete_and_add_anew(self) -> None:
        one = self.known()
        self.theirs.delete(ids=[one])
        self.add(one)

    def delete_while_we_write(self) -> None:
        self.delete()
        self.alice.remember(told(f"ours {self.number}"))
        self.memory.flush()  # a busy machine may take longer for it than until the bound

    def settled(self) -> None:
        """Soon after the bound is over, recalls show what is in the collection."""
        assert eventually(lambda: self.shown() == self.in_the_collection())

    def shown(self) -> dict[str, str]:
        return {hit.id: hit.text for hit in self.alice.recall("note about", k=200)}

    def in_the_collection(self) -> dict[str, str]:
        found = self.theirs.get(include=["documents"])
        return dict(zip(found["ids"], found["documents"], strict=True))


@pytest.fixture
def world(chroma_server: ChromaServer, tmp_path: Any) -> Iterator[World]:
    made = World(chroma_server, tmp_path / "reads.sqlite3")
    yield made
    made.memory.close()


ACTS: list[Callable[[World], None]] = [
    World.add,
    World.delete,
    World.delete_and_add,
    World.delete_and_add_anew,
    World.delete_while_we_write,
]


def test_after_the_bound_recalls_are_as_the_collection(world: World) -> None:
    records: Any = world.memory.ports().records
    for step in range(15):
        ACTS[step % len(ACTS)](world)
        world.settled()
        assert world.shown() == world.in_the_collection(), ACTS[step % len(ACTS)].__name__
        world.memory.sync()
        assert records._access.open.importer.ready
        assert world.shown() == world.in_the_collection()


def test_what_is_written_back_has_nobody_read_the_whole_collection_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.settled()
    world.memory.sync()
    compared: list[object] = []
    run = Importer._compare

    def noted(*given: Any, **named: Any) -> Iterator[None]:
        compared.append(given)
        return run(*given, **named)

    monkeypatch.setattr(Importer, "_compare", noted)
    for number in range(3):
        world.alice.recall(f"note {number}")
        world.memory.flush()
        world.settled()
    assert len(compared) <= 1  # what was remembered before
    assert world.memory.check().ok


def test_recalls_ask_the_server_nothing_until_the_bound_is_over(
    chroma_server: ChromaServer, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeping = Keeping(others_seen_seconds=600.0, lag_seconds=0.2)
    world = World(chroma_server, tmp_path / "reads.sqlite3", keeping)
    world.shown()
    asked: list[str] = []
    for name in ("size", "extent", "ids", "rows"):
        monkeypatch.setattr(ChromaRecords, name, noting(asked, name, getattr(ChromaRecords, name)))
    for number in range(3):
        world.alice.remember(told(f"ours {number}"), id=f"ours {number}")
        world.memory.flush()
        asked.clear()
        assert world.alice.recall(f"note ours {number}", k=1).ids == (f"ours {number}",)
        assert asked == []
    world.memory.close()


@pytest.mark.parametrize("is_async", [False, True])
def test_no_recall_asks_for_them_itself(
    chroma_server: ChromaServer, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, *, is_async: bool
) -> None:
    world = World(chroma_server, tmp_path / "reads.sqlite3")
    ask = world.memory.for_user("alice")
    askers: set[str] = set()
    extent = ChromaRecords.extent

    def noted(*given: Any) -> Any:
        askers.add(threading.current_thread().name)
        return extent(*given)

    def shown() -> set[str]:
        found = asyncio.run(ask.arecall("note about", k=200)) if is_async else ask.recall("note about", k=200)
        return set(found.ids)

    monkeypatch.setattr(ChromaRecords, "extent", noted)
    for change in (World.add, World.delete):
        change(world)
        assert eventually(lambda: shown() == set(world.in_the_collection()))
    assert askers == {"adaptive-memory-background"}
    world.memory.close()
