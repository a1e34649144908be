"""Is a ledger in PostgreSQL exact for many processes, when they are killed, and when the server itself is?"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping
from tests import forked, postgres_server
from tests.behaviour.recalling_processes import RecallingProcesses
from tests.behaviour.test_interrupts import broken_off_at, in_another_thread
from tests.chroma_server import ChromaServer
from tests.forked import Forked
from tests.postgres_server import new_database
from tests.store.reader import EVERY_READ_COUNTS, embed, server_collection

pytestmark = pytest.mark.hard("PostgreSQL")
ROOT = Path(__file__).parents[2]
TEXTS = [{"text": f"memory {number}", "id": f"m{number}"} for number in range(6)]
EVERY = 211  # functions that begin, or are through in C, between two tries
KEEPING = Keeping(lag_seconds=0.2)


class World:
    """A Chroma server, a ledger in PostgreSQL, a memory over both, and processes that recall from it."""

    def __init__(self, chroma: ChromaServer, address: str | None = None) -> None:
        self.chroma, self.address = chroma, address or new_database()
        self.memory = self.another()
        self.alice = self.memory.for_user("alice")
        self.alice.remember_many(TEXTS)

    def another(self) -> AdaptiveMemory:
        collection = server_collection(self.chroma.port)
        return AdaptiveMemory(
            collection, embedder=embed, ledger=self.address, policy=EVERY_READ_COUNTS, keeping=KEEPING
        )

    def reader(self, seed: int, recalls: int) -> Forked:
        given = ["--port", self.chroma.port, "--ledger", self.address, "--threads", 2, "--seed", seed]
        process = forked.module("tests.store.reader", *given, "--recalls", recalls)
        process.stdin.write("go\n")
        process.stdin.flush()
        return process

    def shown(self) -> Counter[str]:
        """The counts as the collection shows them."""
        self.memory.flush()
        found = server_collection(self.chroma.port).get(include=["metadatas"])
        metadatas = [one["retrieval_count"] for one in found["metadatas"]]
        return +Counter(dict(zip(found["ids"], metadatas, strict=True)))

    def logged(self) -> tuple[list[str], Counter[str]]:
        """The recalls that the log has, and how often they returned each record."""
        log = self.alice.recalls(limit=1_000_000)
        assert sorted(one.step for one in log) == list(range(1, len(log) + 1))
        return [one.id for one in log], Counter(kept.id for one in log for kept in one.kept)

    def counted(self) -> Counter[str]:
        return +Counter({one["id"]: self.alice.get(one["id"]).read.retrieval_count for one in TEXTS})


@pytest.fixture
def world(chroma_server: ChromaServer) -> Iterator[World]:
    made = World(chroma_server)
    yield made
    made.memory.close()


def acknowledged(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines if len(line.split()) == 2]


def test_four_processes_lose_and_double_nothing(world: World) -> None:
    processes = [world.reader(seed, 20) for seed in range(4)]
    lines = [line for process in processes for line in process.communicate(timeout=240)[0].splitlines()]
    assert [process.returncode for process in processes] == [0] * 4
    ids, returned = world.logged()
    assert sorted(acknowledged(lines)) == sorted(ids)
    assert len(set(ids)) == 160
    assert world.counted() == returned == world.shown()


def test_killed_processes_lose_nothing_that_was_acknowledged(world: World) -> None:
    chance, lines = random.Random(5), list[str]()
    for seed in range(3):
        process = world.reader(seed, 1_000_000)
        lines.append(process.stdout.readline())  # it is ready
        killer = threading.Timer(0.5 + chance.uniform(0, 1.5), process.kill)
        killer.start()
        lines += process.communicate(timeout=120)[0].splitlines()
    ids, returned = world.logged()
    assert set(acknowledged(lines)) <= set(ids)
    assert len(ids) - len(acknowledged(lines)) <= 2 * 3  # committed, but killed before it could return: one a thread
    assert world.counted() == returned == world.shown()


def test_a_killed_server_loses_nothing_that_was_acknowledged(world: World) -> None:
    readers = RecallingProcesses([world.reader(seed, 60) for seed in range(2)])
    for _ in range(2):
        readers.have_returned(60)
        postgres_server.kill()
        postgres_server.start_again()
    assert readers.ended() == [0, 0]
    ids, returned = world.logged()
    assert sorted(readers.acknowledged()) == sorted(ids)
    assert len(set(ids)) == 240
    assert world.counted() == returned == world.shown()


@pytest.mark.hard("server")
@pytest.mark.sample
def test_what_one_machine_writes_another_finds_at_once_and_forgets_with_it(world: World) -> None:
    with world.another() as elsewhere:
        theirs = elsewhere.for_user("alice")
        theirs.remember("memory 7", id="m7")
        assert "m7" in world.alice.recall("memory 7", k=7).ids
        world.alice.pin("m7")
        assert theirs.get("m7").read.pinned
        world.alice.forget("m7")
        assert "m7" not in theirs.recall("memory 7", k=7).ids


def test_wherever_calls_are_broken_off_the_memory_works_on(world: World) -> None:
    answer = world.alice.recall("memory 3", reinforce=False)
    calls: tuple[Callable[[], object], ...] = (
        lambda: world.alice.remember("memory 8", id="m8"),
        lambda: world.alice.recall("memory 3"),
        lambda: world.alice.feedback(answer, helpful=answer.ids[:1]),
    )
    for step in range(1, 100_000, EVERY):
        answer = world.alice.recall("memory 3", reinforce=False)
        places = [broken_off_at(step, call) for call in calls]
        if places == [None] * 3:
            break
    in_another_thread(lambda: world.alice.remember("memory 9", id="m9"))
    assert "m9" in in_another_thread(lambda: world.alice.recall("memory 9", k=9)).ids
    assert world.memory.check().ok
    world.logged()  # no step is missing, none is there twice
