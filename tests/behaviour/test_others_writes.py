"""Does a recall find what the collection has, whoever wrote it last, and whatever happened in between?"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.chroma.chroma_calls import distances_to
from tests.behaviour.conftest import eventually
from tests.conftest import Open, word_vectors

pytestmark = pytest.mark.usefixtures("others_unheard")

WORDS = ("tea", "beer", "milk", "rain", "snow", "wind", "Ana", "Bo", "Paris", "Rome")
SOON = Keeping(others_seen_seconds=0.05, lag_seconds=3600.0)  # states are written back when the test says so
SCOPES = (Scope("alice"), Scope("bob"), Scope(None))
FILTERS: list[Any] = [None, {"kind": "fact"}, {"n": {"$gte": 5}}]


class World:
    """A memory, the collection below it, and what may happen to them."""

    def __init__(self, open_memory: Open, seed: int) -> None:
        self.open_memory, self.random = open_memory, random.Random(seed)
        self.memory = open_memory(keeping=SOON)
        self.number = 0

    @property
    def collection(self) -> Any:
        inside: Any = self.memory.ports().records
        return inside.collection

    def user(self) -> UserMemory:
        name = self.random.choice(["alice", "bob", None])
        return self.memory.for_everyone() if name is None else self.memory.for_user(name)

    def text(self) -> str:
        self.number += 1
        return f"{' '.join(self.random.sample(WORDS, 3))} {self.number}"

    def known(self) -> str | None:
        ids = sorted(self.collection.get(include=[])["ids"])
        return self.random.choice(ids) if ids else None

    def theirs(self) -> dict[str, Any]:
        owner = self.random.choice(["alice", "bob", None, 7])
        metadata = {"user_id": owner, "n": self.random.randrange(10), "kind": self.random.choice(["fact", "event"])}
        return {key: value for key, value in metadata.items() if value is not None}

    def remember(self) -> None:
        self.user().remember_many([{"text": self.text(), "kind": "fact"} for _ in range(self.random.randrange(1, 4))])

    def remember_anew(self) -> None:
        alice = self.memory.for_user("alice")
        alice.remember(self.text(), id="anew", metadata={"n": self.random.randrange(10)})

    def supersede(self) -> None:
        alice = self.memory.for_user("alice")
        alice.remember(self.text(), supersedes=alice.remember(self.text()))

    def forget(self) -> None:
        user = self.user()
        for one in user.recall("tea", k=1).ids:
            user.forget(one)

    def recall_and_write_back(self) -> None:
        self.user().recall(self.text(), k=3)
        self.memory.flush()

    def they_add(self) -> None:
        self.add_to(self.collection)

    def add_to(self, collection: Any) -> None:
        text = self.text()
        collection.add(
            ids=[f"theirs-{self.number}"], documents=[text], embeddings=word_vectors([text]), metadatas=[self.theirs()]
        )

    def they_change_text(self) -> None:
        if (one := self.known()) is not None:
            text = self.text()
            self.collection.update(ids=[one], documents=[text], embeddings=word_vectors([text]))

    def they_change_metadata(self) -> None:
        if (one := self.known()) is not None:
            self.collection.update(ids=[one], metadatas=[self.theirs()])

    def they_delete(self) -> None:
        if (one := self.known()) is not None:
            self.collection.delete(ids=[one])

    def they_swap(self) -> None:
        self.they_delete()
        self.they_add()

    def restart(self) -> None:
        self.memory.close()
        self.memory = self.open_memory(keeping=SOON)

    def they_write_while_it_is_closed(self) -> None:
        directory, name = locations.directory_of(self.collection), self.collection.name
        self.memory.close()
        client = chromadb.PersistentClient(str(directory))
        self.add_to(client.get_collection(name, embedding_function=None))
        self.memory = self.open_memory(keeping=SOON)

    def the_ledger_fails_a_write(self) -> None:
        inside: Any = self.memory.ports()
        index = inside.indexes[-1]

        def broken(*_: Any) -> None:
            raise LedgerError("as the test asked")

        index.wrote = broken
        with pytest.raises(LedgerError):
            self.remember()
        del index.wrote
        self.memory.sync()

    def copies_are_torn(self) -> None:
        self.memory.flush()  # what is pending is nowhere else
        inside: Any = self.memory.ports().ledger
        with inside.file.writing() as sql:
            sql.execute("UPDATE mirror_vectors SET vector = x'0000'")
        inside.mirror.keep_complete_at("0")
        self.memory.for_user("alice").recall("tea")

    def copies_are_gone(self) -> None:
        self.memory.flush()  # what is pending is nowhere else
        inside: Any = self.memory.ports().ledger
        with inside.file.writing() as sql:
            sql.execute("DELETE FROM mirror")
        self.memory.close()
        self.memory = self.open_memory(keeping=SOON)


HAPPENINGS: list[Callable[[World], None]] = [
    *(World.remember, World.remember_anew, World.supersede, World.forget, World.recall_and_write_back),
    *(World.they_add, World.they_change_text, World.they_change_metadata, World.they_delete, World.they_swap),
    *(World.restart, World.they_write_while_it_is_closed, World.the_ledger_fails_a_write, World.copies_are_torn),
    World.copies_are_gone,
]


def brute_force(world: World, scope: Scope, cue: str, where: Any) -> dict[str, float]:
    """All that the scope has and the filter lets pass, by Chroma's own answer; each with its similarity."""
    found = world.collection.get(where=where, include=["metadatas", "embeddings"])
    rows = zip(found["ids"], found["metadatas"], found["embeddings"], strict=True)
    own = {one: vector for one, metadata, vector in rows if (metadata or {}).get("user_id") == scope.user}
    if not own:
        return {}
    distances = distances_to(word_vectors([cue])[0], list(own.values()), space="cosine")
    return dict(zip(own, (1.0 - distances).tolist(), strict=True))


def agrees(world: World, cue: str) -> None:
    """Soon the search finds what brute force finds over the collection's own contents."""
    world.memory.flush()
    deadline = time.monotonic() + 20
    while True:
        try:
            agrees_now(world, cue)
        except (AssertionError, KeyError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def agrees_now(world: World, cue: str) -> None:
    search = world.memory.ports().search
    vector = word_vectors([cue])[0]
    for scope in SCOPES:
        for where in FILTERS:
            expected = brute_force(world, scope, cue, where)
            found = search.nearest(scope, vector, 4, where)
            best = sorted(expected.values(), reverse=True)[:4]
            assert [one.similarity for one in found] == pytest.approx(best, abs=1e-5)
            assert all(expected[one.stored_id] == pytest.approx(one.similarity, abs=1e-5) for one in found)
        shown = world.collection.get(ids=[one.stored_id for one in found] or ["none"])
        rows = zip(shown["ids"], shown["documents"], shown["metadatas"], strict=True)
        here = {one: (text, metadata) for one, text, metadata in rows}
        assert all(here[one.stored_id] == (one.text, one.metadata) for one in found)


def mirrored(memory: AdaptiveMemory) -> bool:
    """Whether recalls look into the ledger alone."""
    records: Any = memory.ports().records
    return bool(records._access.open.importer.ready)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.hard("random run")
def test_searches_agree_with_brute_force_after_whatever_happens(open_memory: Open, seed: int) -> None:
    world = World(open_memory, seed)
    world.remember()
    through_mirror = 0
    for _ in range(30):
        world.random.choice(HAPPENINGS)(world)
        agrees(world, world.text())
        if world.random.random() < 0.6:
            world.memory.sync()
            assert mirrored(world.memory)
            through_mirror += 1
            agrees(world, world.text())
    assert through_mirror > 8


@pytest.mark.parametrize("happening", HAPPENINGS, ids=lambda one: one.__name__)
def test_each_of_them_alone(open_memory: Open, happening: Callable[[World], None]) -> None:
    world = World(open_memory, 11)
    for _ in range(3):
        world.remember()
    world.they_add()
    world.memory.sync()
    assert mirrored(world.memory)
    happening(world)
    agrees(world, "tea and milk")
    world.memory.sync()
    assert mirrored(world.memory)
    agrees(world, "tea and milk")


def test_our_own_writes_keep_the_mirror_in_use(open_memory: Open) -> None:
    world = World(open_memory, 5)
    world.remember()
    assert mirrored(world.memory)
    for act in (world.remember, world.remember_anew, world.supersede, world.forget, world.recall_and_write_back):
        act()
        assert mirrored(world.memory)


def test_a_large_collection_is_taken_in_beside_recalls(open_memory: Open) -> None:
    memory = open_memory()
    inside: Any = memory.ports().records
    texts = [f"{WORDS[number % 10]} {number}" for number in range(700)]
    owners: Any = [{"user_id": "alice"}] * 700
    inside.collection.add(ids=texts, documents=texts, embeddings=word_vectors(texts), metadatas=owners)
    alice = memory.for_user("alice")
    assert eventually(lambda: alice.recall(texts[3], k=1, reinforce=False).ids == (texts[3],))
    memory.sync()
    assert mirrored(memory)
    assert alice.recall(texts[3], k=1, reinforce=False).ids == (texts[3],)
    assert memory.ports().ledger.mirror.size() == 700


def test_sync_has_an_async_twin(open_memory: Open) -> None:
    memory = open_memory()
    inside: Any = memory.ports().records
    owner: Any = [{"user_id": "alice"}]
    inside.collection.add(ids=["a"], documents=["tea"], embeddings=word_vectors(["tea"]), metadatas=owner)
    asyncio.run(memory.async_sync())
    assert memory.ports().ledger.mirror.stored_ids() == {"a"}


def test_a_record_that_is_written_over_is_found_all_the_while(open_memory: Open) -> None:
    world = World(open_memory, 3)
    alice = world.memory.for_user("alice")
    alice.remember("tea at four", id="note")
    inside: Any = world.memory.ports()
    revise, found = inside.records.revise, list[Any]()

    def looked_at(*arguments: Any) -> None:
        found.append(alice.recall("tea at four", k=1, reinforce=False).ids)
        revise(*arguments)
        found.append(alice.recall("tea at four", k=1, reinforce=False).ids)

    inside.records.revise = looked_at
    alice.remember("tea at five", id="note")
    assert found == [("note",), ("note",)]
