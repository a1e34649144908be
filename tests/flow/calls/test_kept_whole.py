"""Is an id written once, however many write it at once? Threads, processes, cancelled tasks, crashed holders."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, NotFoundError, Policy
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.records import Scope
from tests import forked
from tests.chroma_server import ChromaServer
from tests.conftest import Open, Vectors, ledger_rows, word_vectors
from tests.store.reader import server_collection

ANA, BOB = Scope("ana"), Scope("bob")
THREADS = 3


class Together:
    """An embedder that answers once all threads have asked it, so that they write at one moment."""

    def __init__(self, parties: int) -> None:
        self._barrier = threading.Barrier(parties)
        self.waits = True

    def __call__(self, texts: Sequence[str]) -> Vectors:
        if self.waits:
            self._barrier.wait(30)
        return word_vectors(texts)


def all_at_once(work: Callable[[int], object]) -> list[object]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


@pytest.fixture
def together() -> Together:
    return Together(THREADS)


@pytest.fixture(params=["disk", "RAM"])
def opened(
    request: pytest.FixtureRequest, open_memory: Open, collection: Collection, together: Together
) -> Iterator[AdaptiveMemory]:
    if request.param == "disk":
        yield open_memory(embedder=together)
    else:
        with AdaptiveMemory(collection, embedder=together) as memory:
            yield memory


def stored_ids(memory: AdaptiveMemory) -> list[str]:
    store: Any = memory.ports().records
    return sorted(store.ids())


def test_threads_that_remember_one_new_id_make_one_record(opened: AdaptiveMemory) -> None:
    ids = [f"id{number:02}" for number in range(12)]
    alice = opened.for_user("alice")

    def write(thread: int) -> None:
        for one in ids:
            alice.remember(f"{one} as thread {thread} has it", id=one)

    all_at_once(write)
    assert stored_ids(opened) == ids
    assert alice.stats().records == len(ids)
    for one in ids:
        alice.forget(one)
    assert stored_ids(opened) == []


def test_what_reads_have_taught_survives_writers_of_one_id(opened: AdaptiveMemory, together: Together) -> None:
    alice = opened.for_user("alice")

    def write(thread: int, text: str) -> object:
        return alice.remember_many([{"text": text, "id": f"id{n}", "importance": thread / 10} for n in range(5)])

    all_at_once(lambda thread: write(thread, "tea"))
    together.waits = False
    assert len(alice.recall("tea", k=5)) == 5
    together.waits = True
    all_at_once(lambda thread: write(thread, "tea" + " " * thread))
    assert [alice.get(f"id{n}").read.retrieval_count for n in range(5)] == [1] * 5
    all_at_once(lambda thread: write(thread, f"mate {thread}"))
    assert [alice.get(f"id{n}").read.retrieval_count for n in range(5)] == [0] * 5


@pytest.mark.parametrize(("text", "count"), [("green  tea", 2), ("white tea", 0)])
def test_a_read_that_comes_in_while_a_record_is_written_over_stays_shown_with_its_words(
    memory: AdaptiveMemory, collection: Collection, monkeypatch: pytest.MonkeyPatch, text: str, count: int
) -> None:
    alice = memory.for_user("alice")
    alice.remember("green tea", id="tea", metadata={"cup": 1})
    alice.recall("tea")
    memory.flush()
    records: Any = memory.ports().records
    revise = records.revise

    def read_meanwhile(*arguments: Any) -> None:
        alice.recall("tea", policy=Policy(refresh_floor_seconds=0.0))
        memory.flush()
        revise(*arguments)

    monkeypatch.setattr(records, "revise", read_meanwhile)
    alice.remember(text, id="tea")
    memory.flush()
    (shown,) = collection.get(ids=["tea"])["metadatas"] or []
    assert (shown["retrieval_count"], alice.get("tea").read.retrieval_count) == (count, count)
    assert "cup" not in shown


def test_two_users_at_once_keep_one_id_each(opened: AdaptiveMemory) -> None:
    users = ["ana", "bob", "eve"]
    all_at_once(lambda thread: opened.for_user(users[thread]).remember(f"tea of {users[thread]}", id="note"))
    assert [opened.for_user(one).get("note").text for one in users] == ["tea of ana", "tea of bob", "tea of eve"]
    assert len(stored_ids(opened)) == 3


def test_forget_removes_a_twin_as_well(memory: AdaptiveMemory, collection: Collection) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea", id="a")
    twin = scoped_id(alice.scope, "a")
    collection.add(ids=[twin], documents=["tea"], metadatas=[{"user_id": "alice"}], embeddings=word_vectors(["tea"]))
    alice.forget("a")
    assert stored_ids(memory) == []
    with pytest.raises(NotFoundError):
        alice.forget("a")


def test_batches_in_opposite_orders_do_not_wait_for_each_other(opened: AdaptiveMemory) -> None:
    alice = opened.for_user("alice")
    ids = [f"id{number}" for number in range(30)]

    def write(thread: int) -> None:
        order = ids if thread % 2 else ids[::-1]
        for start in range(0, 30, 10):
            alice.remember_many([{"text": f"{one} {thread}", "id": one} for one in order[start : start + 10]])

    all_at_once(write)
    assert stored_ids(opened) == sorted(ids)


def test_pinning_what_is_being_forgotten_leaves_no_trace(
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = memory.for_user("alice")
    alice.remember("tea", id="a")
    store: Any = memory.ports().records
    looking, pinned = threading.Event(), threading.Event()
    remove = store.remove

    def slowly(*arguments: Any) -> None:
        looking.set()
        pinned.wait(0.2)  # the pin cannot come before forget is done
        remove(*arguments)

    monkeypatch.setattr(store, "remove", slowly)
    with ThreadPoolExecutor(1) as pool:
        forgetting = pool.submit(alice.forget, "a")
        looking.wait(30)
        with pytest.raises(NotFoundError):
            alice.pin("a")
        pinned.set()
        forgetting.result()
    assert ledger_rows(memory)["records"] == []


def test_what_is_forgotten_while_states_are_restored_leaves_no_trace(
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = memory.for_user("alice")
    alice.remember_many([{"text": "tea", "id": "a"}, {"text": "coffee", "id": "b"}])
    alice.recall("tea", k=2)
    state, states = alice.export_state(), memory.ports().ledger.states
    change, restoring = states.change, threading.Event()

    def slowly(*arguments: Any, **named: Any) -> Any:
        restoring.set()
        forgotten.wait(0.2)  # it cannot be done before the states are restored
        return change(*arguments, **named)

    forgotten = threading.Event()
    monkeypatch.setattr(states, "change", slowly)
    with ThreadPoolExecutor(1) as pool:
        restored = pool.submit(alice.restore_state, state)
        restoring.wait(30)
        for one in ("a", "b"):
            alice.forget(one)
        forgotten.set()
        assert restored.result().records == 2
    assert ledger_rows(memory)["records"] == []


# --- processes

WRITER = """
import sys
from adaptive_memory_core import AdaptiveMemory
from tests.conftest import word_vectors
from tests.store.reader import server_collection
with AdaptiveMemory(server_collection(int(sys.argv[1])), embedder=word_vectors, ledger=sys.argv[2]) as memory:
    alice = memory.for_user("alice")
    print("ready", flush=True)
    for line in sys.stdin:
        alice.remember(f"{line.strip()} by {sys.argv[3]}", id=line.strip())
        print("done", flush=True)
"""


@pytest.mark.hard("server")
def test_processes_on_a_server_make_one_record_of_one_new_id(chroma_server: ChromaServer, tmp_path: Path) -> None:
    ledger, ids = tmp_path / "ledger.sqlite3", [f"id{number:02}" for number in range(12)]
    writers = [forked.source(WRITER, chroma_server.port, ledger, number) for number in range(2)]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for one in ids:
        for writer in writers:
            writer.stdin.write(one + "\n")
            writer.stdin.flush()
        for writer in writers:
            assert writer.stdout.readline() == "done\n"
    for writer in writers:
        writer.communicate()
    assert sorted(server_collection(chroma_server.port).get()["ids"]) == ids
