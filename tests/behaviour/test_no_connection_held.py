"""Does the ledger wait for anybody? It is not locked, and no connection to it is held, while Chroma, a model or a
function of the caller's is asked."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection
from psycopg_pool import ConnectionPool

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy
from adaptive_memory_core.flow.ports.models import Boundary, EpisodeText, Fact, Facts, Line, Roles, Title
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.policy import Advanced, Graphs
from adaptive_memory_core.records import Scope
from tests.behaviour.conftest import eventually
from tests.conftest import Clock, background_done, delete, word_vectors
from tests.postgres_server import new_database

pytestmark = pytest.mark.hard("PostgreSQL")
ASKED = ("add", "count", "delete", "get", "modify", "query", "update", "upsert")
POLICY = Policy(
    refresh_floor_seconds=0.0,
    channels=("dense", "lexical", "graph", "mine"),
    advanced=Advanced(graph=Graphs(names_alike=0.7)),
)
QUICK = Keeping(lag_seconds=0.05)
PRUNING = Keeping(lag_seconds=0.05, prune_max_records=30, prune_hours=0.0001)
MESSAGES = [
    {"speaker": "Ana", "text": f"My dog Rex likes place{one}.", "at": 1_760_000_000.0 + one} for one in range(12)
]


class Watch:
    """Who has a connection, and who asked others while having one."""

    def __init__(self) -> None:
        self.held, self.faults, self.asked = list[int](), list[str](), set[str]()
        self.locks: list[Any] = []

    def ask(self, what: str) -> None:
        self.asked.add(what)
        if threading.get_ident() in self.held or any(one._is_owned() for one in self.locks):
            self.faults.append(what)

    def over(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any, **named: Any) -> Any:
            self.ask(name)
            return function(*given, **named)

        return watched


class WatchedPool(ConnectionPool[Any]):
    """A pool that tells who has its connections."""

    watch: Watch

    def getconn(self, timeout: float | None = None) -> Any:
        connection = super().getconn(timeout)
        self.watch.held.append(threading.get_ident())
        return connection

    def putconn(self, conn: Any) -> None:
        self.watch.held.remove(threading.get_ident())
        super().putconn(conn)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    made = Watch()
    for name in ASKED:
        monkeypatch.setattr(Collection, name, made.over(f"Chroma: {name}", getattr(Collection, name)))
    return made


@pytest.fixture
def pool(watch: Watch) -> Iterator[WatchedPool]:
    with WatchedPool(new_database(), min_size=1, max_size=4, open=False) as made:
        made.watch = watch
        yield made


def options(watch: Watch, clock: Clock) -> dict[str, Any]:
    """All that a caller can give which is asked."""

    def boundary(before: Sequence[Line], new: Sequence[Line]) -> Boundary:
        return Boundary(ends=len(before) > 2, note=None)

    roles = Roles(
        boundary=watch.over("role: boundary", boundary),
        episode=watch.over("role: episode", lambda lines: EpisodeText("a talk", "They talked.")),
        semantics=watch.over("role: semantics", lambda lines: Facts([Fact(lines[0].text, [0])], None)),
        theme_name=watch.over("role: theme", lambda texts: Title("dogs", None)),
    )
    return {
        "embedder": watch.over("embedder", word_vectors),
        "policy": POLICY,
        "keeping": QUICK,
        "clock": clock,
        "channels": {"mine": watch.over("channel", lambda cue, user, limit: {})},
        "reranker": watch.over("reranker", lambda cue, texts: [float(len(one)) for one in texts]),
        "same_fact": watch.over("same_fact", lambda cue, texts: [None] * len(texts)),
        "entities": watch.over("entities", lambda text: [one for one in text.split() if one.istitle()]),
        "roles": roles,
    }


def every_verb(memory: AdaptiveMemory, clock: Clock) -> None:
    alice, everyone = memory.for_user("alice"), memory.for_everyone()
    alice.remember_many([{"id": f"m{one}", "text": f"Ana met Bob{one % 5} at place{one}"} for one in range(40)])
    everyone.remember("the office opens at nine", id="hours")
    alice.remember("Ana met Bob1 at home", id="home", supersedes="m1")
    alice.remember("Ana met Bob2 at place2, she said", id="m2")
    alice.remember("a summary of both", id="both", derived_from=["m3", "m4"])
    found = alice.recall("where did Ana meet Bob1?", k=5)
    alice.recall("Ana", policy=POLICY.replace(channels=("dense",)), turn="t1")
    alice.rerank("Ana", dict.fromkeys(found.ids, 0.5))
    alice.feedback(found, helpful=found.ids[:1], unhelpful=found.ids[1:2])
    alice.feedback_on_answer(helpful=[*found.ids[2:3], "t1"])
    both = memory.for_user("alice", over="everyone")
    both.feedback(both.recall("the office opens at nine", k=1), helpful=["hours"])
    both.forget_learned()
    alice.pin("m5"), alice.unpin("m5"), alice.demote("m6"), alice.get("m7"), alice.records(current=True)
    alice.why(found, "m9")
    state = alice.export_state()
    alice.restore_state(state)
    alice.observe(MESSAGES)
    alice.themes()
    alice.remembered(), alice.pinned(), alice.changes(), alice.history(), alice.stats(), alice.recalls()
    alice.calibrate()
    alice.forget("m8")
    alice.forget("both", replaced=True)
    clock.pass_days(400)
    alice.prune(below=0.5, limit=2)
    alice.prune(unread_for=300, max_records=35)
    add_twin(memory)
    memory.flush()
    memory.sync()
    memory.check(repair=True)
    assert memory.check().ok


def add_twin(memory: AdaptiveMemory) -> None:
    """A second record under a user's id, which a repair merges with the first."""
    collection: Any = memory.ports().records.collection
    twin, text = scoped_id(Scope("alice"), "m5"), "Ana met Bob0 at place5"
    row: Any = {"ids": [twin], "documents": [text], "metadatas": [{"user_id": "alice"}]}
    collection.add(**row, embeddings=word_vectors([text]))


def upkeep(memory: AdaptiveMemory, other: AdaptiveMemory, watch: Watch) -> None:
    """What the background does by itself, pruning on a schedule among it, and new vectors while others write."""
    alice = memory.for_user("alice")
    alice.remember_many([{"id": f"n{one}", "text": f"Eve saw place{one}"} for one in range(40)])
    assert eventually(lambda: alice.stats().records <= 30)
    background_done(memory)
    late = iter(["late1", "late2"])

    def turned(texts: Sequence[str]) -> Any:
        watch.ask("another embedder")
        if (one := next(late, None)) is not None:
            other.for_user("bob").remember(f"Eve was {one}", id=one)
        return word_vectors(texts)[:, ::-1]

    memory.reembed(turned)
    assert alice.recall("Eve").ids
    assert sorted(memory.for_user("bob").recall("Eve was here").ids) == ["late1", "late2"]


def test_no_connection_is_held_while_others_are_asked(watch: Watch, pool: WatchedPool, clock: Clock) -> None:
    client, given = chromadb.EphemeralClient(), options(watch, clock)
    collection = client.create_collection(f"test-{uuid.uuid4()}", embedding_function=None)

    def another(keeping: Keeping) -> AdaptiveMemory:
        return AdaptiveMemory(collection, ledger=pool, **{**given, "keeping": keeping})  # type: ignore[arg-type]

    with another(QUICK) as memory:
        every_verb(memory, clock)
    with another(PRUNING) as memory, another(QUICK) as other:
        upkeep(memory, other, watch)
    delete(client, client.get_collection(collection.name))
    assert watch.faults == []
    assert watch.held == []


def test_the_file_is_not_locked_while_others_are_asked(watch: Watch, tmp_path: Path, clock: Clock) -> None:
    given = options(watch, clock)
    with AdaptiveMemory.open(tmp_path, **given) as memory:
        watch.locks = [memory.ports().ledger.file._lock]
        every_verb(memory, clock)
    with (
        AdaptiveMemory.open(tmp_path, **{**given, "keeping": PRUNING}) as memory,
        AdaptiveMemory.open(tmp_path, **given) as other,
    ):
        watch.locks = [one.ports().ledger.file._lock for one in (memory, other)]
        upkeep(memory, other, watch)
    assert watch.faults == []
    asked = {one for one in watch.asked if not one.startswith("Chroma")}
    assert asked == {
        "embedder",
        "another embedder",
        "channel",
        "reranker",
        "same_fact",
        "entities",
        "role: boundary",
        "role: episode",
        "role: semantics",
        "role: theme",
    }
