"""Does each verb happen once, or say that it did not, whenever the network to PostgreSQL is cut or goes silent?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.errors import LedgerError, NotFoundError, StoreError
from adaptive_memory_core.store.postgres import lost_connections, postgres_connections, postgres_database
from tests import postgres_server
from tests.chroma_server import ChromaServer
from tests.conftest import Clock, word_vectors
from tests.store.reader import EVERY_READ_COUNTS, embed, server_collection
from tests.tcp_proxy import Fault, Proxy, proxy

pytestmark = pytest.mark.hard("network")
EVERY = 7  # messages between two moments at which the network is cut
FAULTS: tuple[Fault, ...] = ("cut before", "cut after")


@dataclass(frozen=True)
class Verb:
    """A call, and what is so once it has been made, however often it was tried."""

    name: str
    act: Callable[[UserMemory], object]
    holds: Callable[[UserMemory], bool]
    prepare: Callable[[UserMemory], object] = lambda _: None


def helpful(alice: UserMemory) -> int:
    return alice.get("tea").read.helpful


def judged(alice: UserMemory) -> object:
    return alice.feedback(alice.recalls(limit=1)[0].id, helpful=["tea"])


def gone(alice: UserMemory) -> bool:
    try:
        alice.get("new")
    except NotFoundError:
        return alice.stats().records == 2
    return False


def remember(alice: UserMemory) -> object:
    return alice.remember("cocoa with milk", id="new")


VERBS = [
    Verb("recall", lambda alice: alice.recall("green tea", k=1), lambda alice: alice.recalls(limit=1)[0].k == 1),
    Verb("remember", remember, lambda alice: alice.stats().records == 3 and alice.recall("cocoa").ids[0] == "new"),
    Verb("forget", lambda alice: alice.forget("new"), gone, remember),
    Verb("feedback", judged, lambda alice: helpful(alice) == 1, lambda alice: alice.recall("green tea", k=1)),
    Verb("pin", lambda alice: alice.pin("tea"), lambda alice: alice.get("tea").read.pinned),
    Verb("demote", lambda alice: alice.demote("tea"), lambda alice: alice.changes("tea")[0].what == "demoted"),
    Verb("flush", lambda alice: alice.memory.flush(), lambda alice: True, lambda alice: alice.recall("tea")),
]


class World:
    """A memory by way of a proxy, and one that looks what came of it."""

    def __init__(self, collection: Collection, made: Proxy, clock: Clock) -> None:
        self.proxy, self.collection, self.address = made, collection, postgres_server.new_database()
        given: dict[str, Any] = {"embedder": word_vectors, "clock": clock, "policy": EVERY_READ_COUNTS}
        self.memory = AdaptiveMemory(collection, ledger=made.address(self.address), **given)
        self.observer = AdaptiveMemory(collection, ledger=self.address, **given)
        self.alice, self.seen = self.memory.for_user("alice"), self.observer.for_user("alice")

    def begin(self, verb: Verb) -> None:
        """As if nothing had been done yet."""
        for one in self.seen.records(limit=10, current=True):
            self.seen.forget(one.id)
        self.seen.remember_many([{"id": "tea", "text": "green tea"}, {"id": "rain", "text": "rain on monday"}])
        verb.prepare(self.seen)

    def attempt(self, verb: Verb) -> None:
        """The call, made again where it says that it failed."""
        for _ in range(3):
            try:
                verb.act(self.alice)
            except LedgerError as error:
                assert "The ledger" in str(error) or "ledger" in str(error)  # noqa: PT017
            else:
                return
        raise AssertionError("it failed three times")

    def check(self, verb: Verb) -> None:
        assert verb.holds(self.seen), verb.name
        log = self.seen.recalls(limit=1_000)
        assert len({one.step for one in log}) == len(log) == self.seen.stats().recalls
        for one in ("tea", "rain"):
            counted = self.seen.get(one).read.retrieval_count
            assert counted == sum(one in {kept.id for kept in recall.kept} for recall in log), verb.name

    def close(self) -> None:
        self.memory.close()
        self.observer.close()


@pytest.fixture
def world(collection: Collection, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(lost_connections, "PAUSE_SECONDS", (0.001, 0.005))
    monkeypatch.setattr(lost_connections, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr(postgres_connections, "LOOK_SECONDS", 0.01)
    with proxy(postgres_server.server().get_uri()) as made:
        opened = World(collection, made, clock)
        yield opened
        opened.close()


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_wherever_the_network_is_cut_a_verb_happens_once(world: World, verb: Verb) -> None:
    cuts = 0
    for moment in range(1, 1_000, EVERY):
        world.begin(verb)
        fault = FAULTS[moment % 2]
        world.proxy.set_up(fault, lambda number, _, moment=moment: number == moment)  # type: ignore[misc]
        world.attempt(verb)
        struck = world.proxy.has_struck()
        world.check(verb)
        if not struck:
            break
        cuts += 1
    for fault in FAULTS:
        world.begin(verb)
        world.proxy.set_up(fault, lambda _, message: b"COMMIT" in message)
        world.attempt(verb)
        assert world.proxy.has_struck()
        world.check(verb)
    assert cuts > 1


@pytest.mark.parametrize("fault", ["silent before", "silent after"])
def test_a_network_that_goes_silent_keeps_nobody_for_ever(
    world: World, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing comes back and nobody says so: before a commit, after it, and amid a transaction, with others waiting."""
    monkeypatch.setattr(postgres_connections, "SILENT_SECONDS", 0.5)
    monkeypatch.setattr(postgres_connections, "CHECK_SECONDS", 0.2)
    monkeypatch.setattr(
        postgres_database, "_BEGIN", postgres_database._BEGIN.replace(f"'{postgres_database.IDLE_SECONDS}s'", "'1s'")
    )
    for words, verb in [*((b"COMMIT", one) for one in VERBS[:4]), (b"writers", VERBS[0]), (b"SELECT", VERBS[1])]:
        world.begin(verb)
        world.proxy.set_up(fault, lambda _, message, words=words: words in message)  # type: ignore[misc]
        began = time.monotonic()
        world.attempt(verb)
        assert world.proxy.has_struck()
        assert time.monotonic() - began < 30.0  # far from for ever
        world.check(verb)


@pytest.mark.sample
def test_a_memory_that_cannot_be_opened_for_want_of_chroma_says_so(chroma_server: ChromaServer, tmp_path: Path) -> None:
    """At whatever request of the opening the network to Chroma's server is cut."""
    with proxy(f"host=127.0.0.1 port={chroma_server.port}") as made:
        collection = server_collection(made.port)
        for moment in (*range(1, 6), *range(6, 100, 4)):
            made.set_up("cut before", lambda number, _, moment=moment: number == moment)  # type: ignore[misc]
            with suppress(StoreError), AdaptiveMemory(collection, embedder=embed, ledger=tmp_path / "ledger") as memory:
                memory.for_user("alice").remember("memory 1", id="m1")
                memory.for_user("alice").recall("memory 1")
            if not made.has_struck():
                break
        assert 5 < moment < 99
