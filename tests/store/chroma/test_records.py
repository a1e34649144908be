"""Records in the ledger and, exported, in a collection in RAM, on disk and on a server: both give the same answers."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chromadb
import numpy as np
import pytest

from adaptive_memory_core import AdaptiveMemory, Fields, Keeping, ReadState, Record, Scope
from adaptive_memory_core.errors import FilterError, StoreError
from adaptive_memory_core.flow.ports.ledger_values import Extent
from adaptive_memory_core.flow.ports.records import Stored
from adaptive_memory_core.record_metadata import hits_of, projection, state_in_metadata
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.chroma_search import ChromaSearch
from adaptive_memory_core.store.chroma.exporter import Exporter
from adaptive_memory_core.store.chroma.open_collection import CollectionAccess
from adaptive_memory_core.store.ledger_records import LedgerRecords
from tests.chroma_server import ChromaServer
from tests.store.ledger.implementations import IMPLEMENTATIONS, Ledgers
from tests.store.reader import embed

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

ALICE, BOB, EVERYONE = Scope("alice"), Scope("bob"), Scope(None)


@pytest.fixture(params=["ephemeral", "persistent", pytest.param("server", marks=pytest.mark.hard("server"))])
def collection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "server":
        server: ChromaServer = request.getfixturevalue("chroma_server")
        client = chromadb.HttpClient("127.0.0.1", server.port)
    elif request.param == "persistent":
        client = chromadb.PersistentClient(str(tmp_path / "chroma"))
    else:
        client = chromadb.EphemeralClient()
    yield client.create_collection(
        "contract", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}, get_or_create=True
    )
    client.delete_collection("contract")


def scattered(texts: Sequence[str]) -> Any:
    """Vectors in all directions, the same for the same text."""
    return np.array([np.random.default_rng(zlib.crc32(text.encode())).normal(size=8) for text in texts])


def stored(name: str, **more: Any) -> Stored:
    return Stored(Record(name, f"text {name[1:]}", created_at=1.0, **more), name)


class Written:
    """Records that are written into a ledger, and from there into the collection."""

    def __init__(self, ledger: Ledger, collection: Any) -> None:
        self._exporter = Exporter(ledger, collection, Keeping(), Fields())
        self.own = LedgerRecords(ledger, Fields(), "cosine", CollectionAccess())
        self.shown = ChromaRecords(collection, Fields())

    def put(self, scope: Scope, *records: Stored) -> None:
        self.own.add(scope, records, embed([one.record.text for one in records]))

    def both(self) -> tuple[LedgerRecords, ChromaRecords]:
        """The ledger's records, and the collection's once it has what is pending."""
        self._exporter.settle()
        assert self._exporter.pending() == 0
        return self.own, self.shown


@pytest.fixture
def written(collection: Any, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Written]:
    with closing(Ledgers(IMPLEMENTATIONS[getattr(request, "param", "SQLite in RAM")](tmp_path))) as ledgers:
        yield Written(ledgers(), collection)


def of_alice(store: LedgerRecords | ChromaRecords, stored_id: str) -> Record:
    found = [one for page in store.pages(ALICE) for one in page if one.stored_id == stored_id]
    return hits_of(ALICE, found, {}, Fields())[0].record


@pytest.mark.parametrize(
    "written",
    ["SQLite in RAM", "SQLite file", pytest.param("PostgreSQL", marks=pytest.mark.hard("PostgreSQL"))],
    indirect=True,
)
def test_the_contract(collection: Any, written: Written) -> None:
    search = ChromaSearch(collection, Fields())
    written.put(ALICE, stored("m3"), stored("m1"), stored("m2", metadata={"topic": "tea", "odd": [1, 2]}))
    written.put(BOB, stored("b1"))
    written.put(EVERYONE, stored("e1"))

    assert list(written.own.fetch(ALICE, ["m2", "nothing", "m3", "b1"])) == ["m2", "m3"]  # in the order asked for
    for store in written.both():
        assert of_alice(store, "m2").metadata == {"odd": [1, 2], "topic": "tea"}
        assert (store.count(ALICE), store.count(BOB), store.count(EVERYONE)) == (3, 1, 1)
        assert (store.size(), store.latest(2), set(store.ids())) == (5, ["b1", "e1"], {"m1", "m2", "m3", "b1", "e1"})
        assert [[one.stored_id for one in page] for page in store.pages(ALICE)] == [["m3", "m1", "m2"]]
        assert store.names_users()
    found = search.nearest(ALICE, embed(["text 1"])[0], 10, None)
    assert found[0].stored_id == "m1"
    assert {one.stored_id for one in found} == {"m1", "m2", "m3"}
    assert found[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert [one.stored_id for one in search.nearest(EVERYONE, embed(["text 1"])[0], 10, None)] == ["e1"]
    assert [one.stored_id for one in search.nearest(ALICE, embed(["text 1"])[0], 10, {"topic": "tea"})] == ["m2"]

    revision = Stored(Record("m2", "text 9", created_at=2.0, metadata={"new": 1}), "m2")
    written.own.revise(ALICE, [revision], embed(["text 9"]))
    for store in written.both():
        revised = of_alice(store, "m2")
        assert (revised.text, revised.metadata) == ("text 9", {"new": 1})
    assert search.nearest(ALICE, embed(["text 9"])[0], 1, None)[0].stored_id == "m2"

    written.own.annotate(BOB, "m2", {"superseded_by": "b1"})  # not Bob's: nothing happens
    written.own.remove(BOB, ["m2"])
    for store in written.both():
        assert of_alice(store, "m2").superseded_by is None
    written.own.annotate(ALICE, "m2", {"superseded_by": "m1"})
    for store in written.both():
        assert of_alice(store, "m2").superseded_by == "m1"
    assert written.shown.mentioning(ALICE, "m1") == ["m2"]
    written.own.unlink(ALICE, "m1", None)
    assert written.both()[1].mentioning(ALICE, "m1") == []
    written.own.remove(ALICE, ["m2"])
    for store in written.both():
        assert (store.count(ALICE), store.rows(["m2"])) == (2, [])
    assert {one.stored_id for one in search.nearest(ALICE, embed(["text 9"])[0], 10, None)} == {"m1", "m3"}


def test_read_state_survives_the_way_through_the_database(collection: Any, written: Written) -> None:
    written.put(ALICE, stored("m1"))
    state = ReadState(last_read=1763686800.123456, retrieval_count=3, remembered=True, strength=0.735092)
    _, store = written.both()
    store.update_metadata({"m1": projection(state, {}, Fields())})
    back = state_in_metadata(store.metadata(["m1"])["m1"], Fields())
    assert (back.last_read, back.retrieval_count, back.remembered, back.strength) == (
        1763686800.123456,
        3,
        True,
        0.735092,
    )
    assert collection.get(where={"remembered": 1})["ids"] == store.flagged(ALICE, "remembered") == ["m1"]


def test_a_filter_that_chroma_refuses_is_the_callers_error(collection: Any, written: Written) -> None:
    written.put(ALICE, stored("m1"))
    written.both()
    search = ChromaSearch(collection, Fields())
    refused: list[dict[str, Any]] = [{"topic": {"$like": "tea"}}, {"$and": []}, {"topic": None}, {"topic": object()}]
    for bad in refused:
        with pytest.raises(FilterError, match="where"):
            search.nearest(ALICE, embed(["text 1"])[0], 5, bad)


@pytest.mark.parametrize(("space", "expected"), [("cosine", 0.0), ("ip", 0.0), ("l2", 0.0)])
def test_orthogonal_unit_vectors_have_similarity_0_in_every_space(space: str, expected: float) -> None:
    client = chromadb.EphemeralClient()
    configuration: Any = {"hnsw": {"space": space}}
    collection: Any = client.create_collection(f"space-{space}", embedding_function=None, configuration=configuration)
    collection.add(ids=["same", "other"], documents=["a", "b"], embeddings=[[1.0, 0.0], [0.0, 1.0]])
    search = ChromaSearch(collection, Fields())
    found = {one.stored_id: one.similarity for one in search.nearest(EVERYONE, [1.0, 0.0], 5, None)}
    assert found["same"] == pytest.approx(1.0)
    assert found["other"] == pytest.approx(expected)
    client.delete_collection(f"space-{space}")


def test_everyones_records_are_found_behind_any_number_of_users() -> None:
    client = chromadb.EphemeralClient()
    collection: Any = client.create_collection("mixed", embedding_function=None)
    near = [[math.cos(0.001 * number), math.sin(0.001 * number)] for number in range(900)]
    owners: list[Any] = [
        {"user_id": f"user {number % 300}"} if number % 3 else {"user_id": number} for number in range(900)
    ]
    collection.add(
        ids=[f"u{number}" for number in range(900)], documents=["x"] * 900, embeddings=near, metadatas=owners
    )
    collection.add(ids=["free"], documents=["free"], embeddings=[[-1.0, 0.1]])
    search = ChromaSearch(collection, Fields())
    assert [one.stored_id for one in search.nearest(EVERYONE, [1.0, 0.0], 5, None)] == ["free"]
    client.delete_collection("mixed")


@pytest.mark.hard("large")
def test_more_records_than_one_answer_of_chroma_may_hold() -> None:
    client = chromadb.EphemeralClient()
    collection: Any = client.create_collection("large", embedding_function=None)
    with AdaptiveMemory(collection, embedder=scattered) as memory:
        everyone = memory.for_everyone()
        everyone.remember_many([f"text {number}" for number in range(33_000)])
        assert everyone.stats().records == 33_000
        assert len(everyone.recall("text 1", k=10_000, reinforce=False)) == 10_000
    client.delete_collection("large")


def test_a_collection_that_is_gone_is_an_error_that_says_so() -> None:
    client = chromadb.EphemeralClient()
    collection: Any = client.create_collection("gone", embedding_function=None)
    with AdaptiveMemory(collection, embedder=embed) as memory:
        alice = memory.for_user("alice")
        alice.remember("memory 1")
        client.delete_collection("gone")
        calls: tuple[Callable[[], object], ...] = (
            lambda: alice.recall("memory 1"),
            lambda: alice.remember("2"),
            memory.flush,
        )
        for call in calls:
            with pytest.raises(StoreError, match="was deleted"):
                call()


@pytest.mark.hard("large")
def test_a_scope_among_ten_thousand_equal_vectors_is_found_whole() -> None:
    """Equal vectors let Chroma's graph fall apart in some runs, and Chroma says nothing."""
    client = chromadb.EphemeralClient()
    collection: Any = client.create_collection("unreached", embedding_function=None)
    with AdaptiveMemory(collection, embedder=lambda texts: [[1.0, 0.0]] * len(texts)) as memory:
        alice, bob = memory.for_user("alice"), memory.for_user("bob")
        bob.remember_many([f"bob's {number}" for number in range(5)])
        alice.remember_many([f"text {number}" for number in range(12_000)])
        assert len(alice.recall("text", k=9_000, reinforce=False)) == 9_000
        assert len(bob.recall("text", reinforce=False)) == 5
    client.delete_collection("unreached")


def test_records_that_chromas_graph_does_not_reach_are_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    client = chromadb.EphemeralClient()
    collection: Any = client.create_collection("cut", embedding_function=None)
    whole = type(collection).query

    def unreached(self: Any, **asked: Any) -> Any:
        """Chroma's own answer as it was seen: the nearest are missing, and what is left comes without a word."""
        answer = whole(self, **asked)
        return {key: [row[2:] for row in value] if isinstance(value, list) else value for key, value in answer.items()}

    with AdaptiveMemory(collection, embedder=embed) as memory:
        bob = memory.for_user("bob")
        ids = bob.remember_many([f"memory {number}" for number in range(5)])
        monkeypatch.setattr(type(collection), "query", unreached)
        assert {hit.id for hit in bob.recall("memory 3", reinforce=False)} == set(ids)
        assert bob.recall("memory 3", k=1, reinforce=False)[0].text == "memory 3"
    client.delete_collection("cut")


def test_numbers_of_others_under_our_keys_survive_the_write_back() -> None:
    client = chromadb.EphemeralClient()
    collection: Any = client.create_collection("numbers", embedding_function=None)
    theirs = {"strength": 99.0, "pinned": 7, "remembered": 5, "retrieval_count": 3.7, "importance_boost": 12.0}
    collection.add(ids=["a"], documents=["memory 1"], embeddings=embed(["memory 1"]), metadatas=[theirs])
    with AdaptiveMemory(collection, embedder=embed) as memory:
        memory.for_everyone().recall("memory 1")
        memory.flush()
        assert memory.for_everyone().stats().projection.conflicts == 1
    shown = collection.get(ids=["a"])["metadatas"][0]
    assert {key: shown[key] for key in theirs} == theirs
    client.delete_collection("numbers")


def test_how_many_there_are_and_which_is_the_last_whatever_was_expected(written: Written) -> None:
    own, store = written.both()
    assert store.extent() == store.extent(Extent(0, None)) == store.extent(Extent(2, "m2")) == Extent(0, None)
    assert own.extent() == Extent(0, None)
    written.put(ALICE, stored("m1"), stored("m3"), stored("m2"))
    written.both()
    right = Extent(3, "m2")
    others = [Extent(3, "m1"), Extent(2, "m3"), Extent(1, "m1"), Extent(4, "m4"), Extent(9, "m9"), Extent(0, None)]
    assert [store.extent(one) for one in [None, right, *others]] == [right] * 8
    assert own.extent() == right


def test_where_nothing_was_added_or_removed_one_question_tells_how_many_there_are(written: Written) -> None:
    written.put(ALICE, stored("m1"), stored("m2"))
    _, store = written.both()
    known, asked, whole = store.extent(), list[str](), store.collection

    class Noting:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(whole, name)

    noting: Any = Noting()
    store.collection = noting
    assert store.extent(known) == known
    assert asked == ["get"]
