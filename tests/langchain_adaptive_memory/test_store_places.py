"""Where does a store live, and what does it know afterwards? Restarts, crashes, clients, servers, other indexes."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import InvalidInputError
from adaptive_memory_core.errors import ScopeError, StoreError, StoreInUseError
from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
from tests.chroma_server import ChromaServer
from tests.conftest import Clock, delete
from tests.langchain_adaptive_memory.conftest import ANA, INDEX, vectors

ROOT = Path(__file__).parents[2]
WRITER = """
import os, signal, sys
from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
from tests.langchain_adaptive_memory.conftest import ANA, INDEX
store = AdaptiveMemoryStore(INDEX, path=sys.argv[1])
store.put(ANA, "over", {"text": "red tea"})
store.put(ANA, "gone", {"text": "old ships"})
if sys.argv[2] == "settled":
    print("ready", flush=True)
else:  # the moment between the item and its vectors
    store._shelf._settle = store._shelf._clear = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    store.batch([])
    from langgraph.store.base import PutOp
    puts = [PutOp(ANA, "over", {"text": "green hill"}), PutOp(ANA, "new", {"text": "blue sky"})]
    store.batch([*puts, PutOp(ANA, "gone", None)])
signal.pause()
"""


def best(store: AdaptiveMemoryStore, query: str) -> tuple[str, bool]:
    """The first item of a search, and whether it was found by its vector."""
    hit = store.search(ANA, query=query, limit=1)[0]
    return hit.key, hit.score is not None


def records(store: AdaptiveMemoryStore) -> int:
    assert store.scope is not None
    return store.scope.stats().records


def process(*arguments: str) -> subprocess.Popen[str]:
    environment = {"PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}", "PATH": "/usr/bin:/bin"}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *arguments], env=environment, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


def test_a_restart_loses_nothing(tmp_path: Path, clock: Clock) -> None:
    with AdaptiveMemoryStore(INDEX, path=tmp_path, clock=clock) as store:
        store.put(ANA, "1", {"text": "red tea", "deep": {"er": [None, True]}}, ttl=10)
        store.put((*ANA, "x"), "2", {"text": "old ships"}, index=False)
        store.get(ANA, "1")
        before = [*store.search(()), *store.list_namespaces()]
    with AdaptiveMemoryStore(INDEX, path=tmp_path, clock=clock) as store:
        assert [*store.search(()), *store.list_namespaces()] == before
        assert best(store, "red tea") == ("1", True)
        assert store.scope is not None
        assert store.scope.stats().reads == 1
        clock.pass_seconds(601)
        assert store.get(ANA, "1") is None


def test_several_stores_share_a_directory_and_nothing_else(tmp_path: Path) -> None:
    with (
        AdaptiveMemoryStore(INDEX, path=tmp_path) as one,
        AdaptiveMemoryStore(INDEX, path=tmp_path, collection="other") as other,
    ):
        one.put(ANA, "k", {"text": "red tea"})
        assert other.get(ANA, "k") is None
        assert other.search((), query="red tea") == []


def test_the_same_store_may_be_open_twice_in_a_process(tmp_path: Path) -> None:
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as one, AdaptiveMemoryStore(INDEX, path=tmp_path) as other:
        one.put(ANA, "k", {"text": "red tea"})
        assert best(other, "red tea") == ("k", True)


@pytest.mark.hard("processes")
def test_a_second_process_is_told_that_the_directory_is_taken(tmp_path: Path) -> None:
    with process(str(tmp_path), "settled") as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        with pytest.raises(StoreInUseError):
            AdaptiveMemoryStore(INDEX, path=tmp_path)
        writer.send_signal(signal.SIGKILL)
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as store:
        assert {one.key for one in store.search(ANA)} == {"over", "gone"}


@pytest.mark.hard("kill")
def test_a_crash_between_items_and_vectors_is_mended(tmp_path: Path) -> None:
    with process(str(tmp_path), "torn") as writer:
        assert writer.wait(60) == -signal.SIGKILL
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as store:
        assert {one.key: one.value["text"] for one in store.search(ANA)} == {"over": "green hill", "new": "blue sky"}
        assert best(store, "green hill") == ("over", True)
        assert best(store, "blue sky") == ("new", True)
        assert records(store) == 2, "of the deleted one nothing is left"


async def test_async_mends_as_well(tmp_path: Path) -> None:
    async def later(texts: Sequence[str]) -> list[list[float]]:
        return vectors(texts)

    with AdaptiveMemoryStore(path=tmp_path) as store:
        store.put(ANA, "k", {"text": "red tea"})
    async with AdaptiveMemoryStore({"embed": later, "fields": ["text"]}, path=tmp_path) as store:
        assert [one.score is not None for one in await store.asearch(ANA, query="tea")] == [True]


def test_an_index_that_comes_later_is_built_from_the_items(tmp_path: Path) -> None:
    with AdaptiveMemoryStore(path=tmp_path) as store:
        store.put(ANA, "1", {"text": "red tea"})
        store.put(ANA, "2", {"text": "old ships"}, index=False)
        store.put(ANA, "3", {"text": "x", "note": "blue sky"}, index=["note"])
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as store:
        assert best(store, "red tea") == ("1", True)
        assert best(store, "blue sky") == ("3", True)
        assert {one.key: one.score is not None for one in store.search(ANA, query="ships")} == {
            "1": True,
            "2": False,
            "3": True,
        }


def test_vectors_that_were_lost_are_made_again(tmp_path: Path) -> None:
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as store:
        store.put(ANA, "1", {"text": "red tea"})
        assert store.memory is not None
        store.memory.ports().records.collection._client.delete_collection("langgraph")
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as store:
        assert best(store, "red tea") == ("1", True)


def test_a_vector_whose_item_is_unknown_is_not_found(tmp_path: Path) -> None:
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as store:
        store.put(ANA, "1", {"text": "red tea"})
        assert store.scope is not None
        stranger = {"item": "nobody", "under_1": "users", "under_2": "users.ana"}
        store.scope.remember("red tea", metadata=stranger)
        assert [one.key for one in store.search(ANA, query="red tea")] == ["1"]


def test_what_cannot_be_embedded_is_told_and_found_without(tmp_path: Path) -> None:
    def broken(texts: Sequence[str]) -> list[list[float]]:
        if any("poison" in text for text in texts):
            raise RuntimeError("too much for me")
        return vectors(texts)

    with AdaptiveMemoryStore(path=tmp_path) as store:
        store.put(ANA, "1", {"text": "poison"})
    with AdaptiveMemoryStore({"embed": broken, "fields": ["text"]}, path=tmp_path) as store:
        with pytest.warns(RuntimeWarning, match="1 items still have no vectors"):
            assert [one.score for one in store.search(ANA, query="tea")] == [None]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            store.put(ANA, "2", {"text": "red tea"})
            assert best(store, "red tea") == ("2", True)
        with pytest.raises(RuntimeError, match="too much"):
            store.put(ANA, "3", {"text": "poison too"})
        assert store.get(ANA, "3") is None


def test_an_ephemeral_client_of_yours_keeps_the_vectors_and_stays_open() -> None:
    client = chromadb.EphemeralClient()
    with AdaptiveMemoryStore(INDEX, client=client, collection="mine-in-ram") as store:
        store.put(ANA, "1", {"text": "red tea"})
        assert client.get_collection("mine-in-ram").count() == 1
        with AdaptiveMemoryStore(INDEX, client=client, collection="mine-in-ram") as same:
            assert best(same, "red tea") == ("1", True)
        assert best(store, "red tea") == ("1", True)
    delete(client, client.get_collection("mine-in-ram"))


def test_a_store_in_ram_leaves_no_collection_behind() -> None:
    client = chromadb.EphemeralClient()
    before = {one.name for one in client.list_collections()}
    store = AdaptiveMemoryStore(INDEX)
    store.put(ANA, "1", {"text": "red tea"})
    assert len({one.name for one in client.list_collections()} - before) == 1
    del store
    assert {one.name for one in client.list_collections()} == before


def test_a_persistent_client_has_a_place_of_its_own(tmp_path: Path) -> None:
    client = chromadb.PersistentClient(str(tmp_path))
    with AdaptiveMemoryStore(INDEX, client=client) as store:
        store.put(ANA, "1", {"text": "red tea"})
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as store:
        assert best(store, "red tea") == ("1", True)
    with pytest.raises(InvalidInputError, match="Give one of them"):
        AdaptiveMemoryStore(INDEX, client=client, path=tmp_path)


def test_what_is_no_client_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="HttpClient"):
        AdaptiveMemoryStore(INDEX, client="localhost")  # type: ignore[arg-type]


def test_a_broken_items_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "adaptive_memory_items.sqlite3").write_bytes(b"not a database at all, but long enough to be read")
    with pytest.raises(StoreError, match="items file"):
        AdaptiveMemoryStore(INDEX, path=tmp_path)
    shutil.rmtree(tmp_path)
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as store:
        assert store.search(()) == []


@pytest.fixture
def server(tmp_path: Path) -> Iterator[int]:
    """The port of a real Chroma server."""
    with closing(ChromaServer(tmp_path / "server")) as made:
        made.start()
        yield made.port


@pytest.mark.hard("server")
def test_a_server_needs_a_path_for_items_and_reads_and_two_stores_share_them(server: int, tmp_path: Path) -> None:
    client = chromadb.HttpClient("127.0.0.1", server)
    with pytest.raises(InvalidInputError, match="Pass path="):
        AdaptiveMemoryStore(INDEX, client=client)
    with AdaptiveMemoryStore(INDEX, client=client, path=tmp_path / "items") as one:
        one.put(ANA, "1", {"text": "red tea"})
        other_client = chromadb.HttpClient("127.0.0.1", server)
        with AdaptiveMemoryStore(INDEX, client=other_client, path=tmp_path / "items") as other:
            assert best(other, "red tea") == ("1", True)
            other.delete(ANA, "1")
        assert one.get(ANA, "1") is None
        assert one.search(ANA, query="red tea") == []


FORKED = """
import os, sys
from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
from tests.langchain_adaptive_memory.conftest import ANA, INDEX
for index in (INDEX, None):
    with AdaptiveMemoryStore(index) as store:
        store.put(ANA, "k", {"text": "red tea"})
        child = os.fork()
        if child == 0:
            try:
                store.get(ANA, "k")
            except Exception as error:
                print(type(error).__name__, flush=True)
            store.close()
            os._exit(0)
        os.waitpid(child, 0)
        print(store.get(ANA, "k").value["text"], flush=True)
"""


@pytest.mark.hard("processes")
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork here")
def test_a_forked_process_is_refused_and_does_no_harm() -> None:
    environment = {"PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        env=environment,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.stdout.split("\n")[:4] == ["ClosedError", "red tea"] * 2, done.stderr


def test_no_scope_of_the_memory_sees_what_the_namespaces_hold(tmp_path: Path) -> None:
    with AdaptiveMemoryStore(INDEX, path=tmp_path) as store:
        store.put(ANA, "1", {"text": "red tea"})
        store.search(ANA, query="red tea")
        assert store.memory is not None
        for scope in (store.memory.for_everyone(), store.memory.for_user("users.ana"), store.memory.for_user("ana")):
            assert scope.recall("red tea").ids == ()
            assert scope.stats().records == 0
            assert [line.cue for line in scope.recalls()] == ["red tea"]
        assert store.scope is not None
        with pytest.raises(ScopeError, match="has a reserved form"):
            store.memory.for_user(str(store.scope.user))
        store.memory.for_everyone().remember("red tea for all")
        assert [item.key for item in store.search((), query="red tea")] == ["1"]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"collection": name} for name in (3, "", "of ana")),
        *({name: 3} for name in ("policy", "keeping", "clock", "ttl", "client", "index")),
        *({"ttl": ttl} for ttl in ({"default_ttl": "a day"}, {"omit_expired": 1}, {"sweep_interval_minutes": -1})),
        {"index": {"dims": 2}},
    ],
)
def test_a_wrong_argument_leaves_no_directory_behind(tmp_path: Path, wrong: dict[str, Any]) -> None:
    for index in (None, INDEX):
        given: dict[str, Any] = {"index": index, "path": tmp_path / "new", **wrong}
        with pytest.raises((ValueError, StoreError)):
            AdaptiveMemoryStore(**given)
    assert not (tmp_path / "new").exists()
