"""The exporter: the collection comes to hold what the ledger has, and other clients of the process see it at once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chromadb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import AdaptiveMemory, Fields, Record, Scope, SQLiteLedger, UserMemory
from adaptive_memory_core.errors import NotFoundError, StoreError
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.flow.ports.records import Stored
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.store.chroma import exporter, importer
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.exporter import Exporter
from adaptive_memory_core.store.chroma.open_collection import CollectionAccess
from adaptive_memory_core.store.ledger_records import LedgerRecords
from tests.chroma_server import ChromaServer
from tests.conftest import Open, word_vectors
from tests.suites import at_most

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

FIELDS = Fields()
ALICE, BOB, EVERYONE = Scope("alice"), Scope("bob"), Scope(None)
SCOPES = {"a": ALICE, "b": BOB, "e": EVERYONE}
IDS = [f"{owner}{number}" for owner in SCOPES for number in range(3)]


def new_collection() -> Any:
    configuration: Any = {"hnsw": {"space": "cosine"}}
    client = chromadb.EphemeralClient()
    return client.create_collection(f"m-{uuid.uuid4()}", embedding_function=None, configuration=configuration)


def new_ledger() -> SQLiteLedger:
    ledger = SQLiteLedger(":memory:")
    ledger.attach("uuid", "memories")
    return ledger


def applied(ledger: Ledger, collection: Any) -> None:
    Exporter(ledger, collection, Keeping(lag_seconds=5.0, batch=2), Fields()).settle()
    assert ledger.due_records.waiting() == 0


def contents(collection: Any) -> dict[str, Any]:
    found = collection.get(include=["documents", "metadatas", "embeddings"])
    rows = zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True)
    return {one: (text, metadata, tuple(np.round(vector, 5).tolist())) for one, text, metadata, vector in rows}


def stored(stored_id: str, text: str, **more: Any) -> Stored:
    return Stored(Record(stored_id, text, created_at=1.0, **more), stored_id)


def vectors(*texts: str) -> Any:
    return word_vectors(texts)


def step(store: LedgerRecords, what: str, stored_id: str, text: str, more: dict[str, Any]) -> None:
    """One change, of a record of the scope that its id begins with."""
    scope = SCOPES[stored_id[0]]
    one, there = stored(stored_id, text, **more), bool(store.taken([stored_id]))
    if what == "write":
        (store.revise if there else store.add)(scope, [one], vectors(text))
    elif what == "remove":
        store.remove(scope, [stored_id])
    elif what == "annotate":
        store.annotate(scope, stored_id, {"superseded_by": f"{stored_id[0]}1", "valid_until": 5.0})
    elif what == "unlink":
        store.unlink(scope, stored_id, 5.0)
    elif there:
        store.update_metadata({stored_id: {"pinned": 1, "retrieval_count": 3}})


def paged(store: ChromaRecords, scope: Scope) -> dict[str, Found]:
    """What the user knows by these ids, of all that there is; a user's own before everyone's."""
    known: dict[str, Found] = {}
    for part in reversed(scope.parts):
        known |= {record_id(part, one.stored_id): one for page in store.pages(part) for one in page}
    return {one: known[one] for one in IDS if one in known}


def answers(store: LedgerRecords | ChromaRecords) -> dict[str, Any]:
    """What a flow may ask, in a form that can be compared: neither keeps to an order that the other knows."""
    found: dict[str, Any] = {"ids": sorted(store.ids()), "size": store.size(), "extent": store.extent().size}
    found["rows"] = sorted((one, text, metadata) for one, text, metadata in store.rows(IDS))
    for name, scope in {**SCOPES, "over": Scope("alice", over="everyone")}.items():
        found[f"fetch {name}"] = store.fetch(scope, IDS) if isinstance(store, LedgerRecords) else paged(store, scope)
        found[f"pages {name}"] = sorted(one for page in store.pages(scope) for one in page)
        found[f"count {name}"] = store.count(scope)
        found[f"pinned {name}"] = sorted(store.flagged(scope, "pinned"))
        found[f"said {name}"] = sorted(store.of_sessions(scope, ["s1", "other"], 10))
    return found


MORE = st.sampled_from([{}, {"metadata": {"session_id": "s1", "n": 2}}, {"metadata": {"session_id": "s2", "x": 0.5}},
                        {"supersedes": "a1", "kind": "fact"}])  # fmt: skip
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "remove", "annotate", "unlink", "update"]),
        st.sampled_from(IDS),
        st.sampled_from(["green tea", "black coffee", "red wine"]),
        MORE,
    ),
    max_size=14,
)


@given(steps=STEPS, pauses=st.sets(st.integers(0, 13)))
@at_most(25)
def test_after_any_changes_both_answer_alike_and_the_collection_comes_to_hold_the_same(
    steps: Sequence[tuple[str, str, str, dict[str, Any]]], pauses: set[int]
) -> None:
    ledger, bit_by_bit, at_last = new_ledger(), new_collection(), new_collection()
    records = LedgerRecords(ledger, FIELDS, "cosine", CollectionAccess())
    for number, one in enumerate(steps):
        step(records, *one)
        if number in pauses:
            applied(ledger, bit_by_bit)
    applied(ledger, bit_by_bit)
    assert answers(records) == answers(ChromaRecords(bit_by_bit, FIELDS))
    ledger.due_records.mark(sorted(ledger.mirror.stored_ids()), gone=False)
    applied(ledger, at_last)
    assert contents(bit_by_bit) == contents(at_last)
    for collection in (bit_by_bit, at_last):
        chromadb.EphemeralClient().delete_collection(collection.name)


def test_nobody_changes_records_of_another_scope() -> None:
    ledger = new_ledger()
    store = LedgerRecords(ledger, FIELDS, "cosine", CollectionAccess())
    store.add(ALICE, [stored("a1", "green tea")], vectors("green tea"))
    ledger.due_records.settle(ledger.due_records.of(ledger.due_records.ids(10)))
    store.annotate(BOB, "a1", {"superseded_by": "b1"})
    store.remove(BOB, ["a1"])
    assert (store.count(ALICE), ledger.due_records.waiting()) == (1, 0)


def test_one_record_that_chroma_refuses_does_not_keep_the_others_waiting() -> None:
    ledger, collection = new_ledger(), new_collection()
    store = LedgerRecords(ledger, FIELDS, "cosine", CollectionAccess())
    store.add(ALICE, [stored("a1", "green tea")], vectors("green tea"))
    store.add(ALICE, [stored("a2", "odd")], np.ones((1, 3)).tolist())
    store.add(ALICE, [stored("a3", "black coffee")], vectors("black coffee"))
    with pytest.raises(StoreError, match="3"):
        Exporter(ledger, collection, Keeping(lag_seconds=5.0, batch=500), Fields()).settle()
    assert set(contents(collection)) == {"a1", "a3"}
    assert [one.stored_id for one in ledger.due_records.of(ledger.due_records.ids(10))] == ["a2"]


def test_what_others_left_is_applied_once_it_has_waited_for_the_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, collection, now = new_ledger(), new_collection(), [100.0]
    monkeypatch.setattr("adaptive_memory_core.store.chroma.exporter.time.monotonic", lambda: now[0])
    chore = Exporter(ledger, collection, Keeping(lag_seconds=1.2, batch=1), Fields())
    assert chore.wait() == exporter.LOOKED_SECONDS
    store = LedgerRecords(ledger, FIELDS, "cosine", CollectionAccess())
    store.add(ALICE, [stored("a1", "green tea"), stored("a2", "red wine")], vectors("green tea", "red wine"))
    waits = []
    while wait := chore.wait():
        waits.append(wait)
        now[0] += wait
    assert waits == pytest.approx([0.5, 0.5, 0.2])
    chore.work(lambda: True)
    assert chore.wait() == 0.0  # there is more
    chore.work(lambda: True)
    chore.work(lambda: True)
    assert chore.wait() == exporter.LOOKED_SECONDS
    assert set(contents(collection)) == {"a1", "a2"}


def test_within_a_transaction_what_is_due_is_applied_after_it() -> None:
    """Another thread may be applying, and waits for the ledger: neither would ever go on."""
    ledger, collection = new_ledger(), new_collection()
    chore = Exporter(ledger, collection, Keeping(lag_seconds=1.2, batch=1), Fields())
    LedgerRecords(ledger, FIELDS, "cosine", CollectionAccess()).add(
        ALICE, [stored("a1", "green tea")], vectors("green tea")
    )
    with ledger.transaction():
        chore.settle()
        assert contents(collection) == {}
    assert set(contents(collection)) == {"a1"}


def test_an_export_keeps_the_order_of_writing() -> None:
    ledger, collection = new_ledger(), new_collection()
    texts = [f"text {number}" for number in (3, 1, 2)]
    LedgerRecords(ledger, FIELDS, "cosine", CollectionAccess()).add(
        ALICE, [stored(f"a{text[-1]}", text) for text in texts], vectors(*texts)
    )
    Exporter(ledger, collection, Keeping(lag_seconds=5.0, batch=500), Fields()).settle()
    assert collection.get(include=[])["ids"] == ["a3", "a1", "a2"]


def another_client(memory: AdaptiveMemory) -> Any:
    """The memory's collection, got again, as a program beside it does."""
    inside: Any = memory.ports().records
    return chromadb.EphemeralClient().get_collection(inside.collection.name, embedding_function=None)


@pytest.fixture
def held_back(over: Open) -> AdaptiveMemory:
    """A memory that exports nothing by itself."""
    late = Keeping(lag_seconds=3_600.0, queue_limit=1_000_000)
    return over(keeping=late)


READS: dict[str, Callable[[Any], set[str]]] = {
    "get": lambda theirs: set(theirs.get()["ids"]),
    "get by id": lambda theirs: set(theirs.get(ids=["tea", "wine"])["ids"]),
    "get by metadata": lambda theirs: set(theirs.get(where={"user_id": "alice"})["ids"]),
    "query": lambda theirs: set(theirs.query(query_embeddings=word_vectors(["tea"]), n_results=9)["ids"][0]),
    "peek": lambda theirs: set(theirs.peek()["ids"]),
    "count": lambda theirs: {"tea", "wine"} if theirs.count() == 2 else set(),
}


@pytest.mark.parametrize("look", READS.values(), ids=READS.keys())
def test_what_is_pending_is_exported_before_another_client_reads(
    held_back: AdaptiveMemory, look: Callable[[Any], set[str]]
) -> None:
    alice, theirs = held_back.for_user("alice"), another_client(held_back)
    alice.remember_many([{"id": one, "text": f"green {one}"} for one in ("tea", "wine", "beer")])
    alice.forget("beer")
    assert look(theirs) == {"tea", "wine"}
    assert held_back.ports().ledger.due_records.waiting() == 0


def test_a_read_of_another_client_does_not_wait_for_a_large_export(held_back: AdaptiveMemory) -> None:
    alice, theirs = held_back.for_user("alice"), another_client(held_back)
    alice.remember_many([f"note {number}" for number in range(importer.PAGE + 1)])
    assert theirs.count() == 0
    held_back.flush()
    assert theirs.count() == importer.PAGE + 1


def many_pending(memory: AdaptiveMemory) -> tuple[UserMemory, Any]:
    """More than a read of another client waits for."""
    alice = memory.for_user("alice")
    alice.remember_many([{"id": f"n{number}", "text": f"note {number}"} for number in range(importer.PAGE + 100)])
    return alice, another_client(memory)


def test_what_another_client_names_is_exported_first_however_much_is_pending(held_back: AdaptiveMemory) -> None:
    alice, theirs = many_pending(held_back)
    assert theirs.get(ids=["n0"])["documents"] == ["note 0"]
    coffee = {"documents": ["black coffee"], "embeddings": word_vectors(["black coffee"])}
    theirs.delete(ids=["n1"])
    theirs.update(ids=["n2"], **coffee)
    theirs.upsert(ids=["n3"], metadatas=[{"user_id": "alice"}], **coffee)
    theirs.add(ids=["n4"], **coffee)  # it is there: Chroma leaves it as it is
    assert held_back.ports().ledger.due_records.waiting() == importer.PAGE + 95
    held_back.flush()
    with pytest.raises(NotFoundError):
        alice.get("n1")
    assert [alice.get(one).text for one in ("n2", "n3", "n4")] == ["black coffee", "black coffee", "note 4"]
    assert theirs.get(ids=["n1", "n2", "n3", "n4"])["documents"] == ["black coffee", "black coffee", "note 4"]


def test_what_another_clients_filter_is_to_delete_is_exported_first(held_back: AdaptiveMemory) -> None:
    alice, theirs = many_pending(held_back)
    theirs.delete(where={"user_id": "alice"})
    assert alice.records() == []
    held_back.flush()
    assert theirs.count() == 0


def test_an_export_ends_however_fast_others_write(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, written = new_ledger(), list[str]()
    store = LedgerRecords(ledger, FIELDS, "cosine", CollectionAccess())

    def remember_more(_: Any, rows: Sequence[MirrorRow], _gone: Sequence[str]) -> None:
        written.extend(row.stored_id for row in rows)
        more = [f"more{len(written)}", "a1", "a3"]
        store.add(ALICE, [stored(one, "green tea") for one in more], vectors(*["green tea"] * 3))

    store.add(ALICE, [stored(f"a{n}", "red wine") for n in (1, 2, 3)], vectors(*["red wine"] * 3))
    monkeypatch.setattr(exporter, "overwrite", remember_more)
    Exporter(ledger, new_collection(), Keeping(lag_seconds=5.0, batch=2)).settle()
    assert written == ["a1", "a2", "a3"]


@pytest.mark.hard("server")
def test_an_async_client_reads_what_is_pending(chroma_server: ChromaServer, tmp_path: Path) -> None:
    late, port = Keeping(lag_seconds=3_600.0), chroma_server.port
    mine: Any = chromadb.HttpClient("127.0.0.1", port).create_collection("shared", embedding_function=None)

    async def ids() -> list[str]:
        client = await chromadb.AsyncHttpClient("127.0.0.1", port)
        theirs = await client.get_collection("shared", embedding_function=None)
        return list((await theirs.get())["ids"])

    ledger = str(tmp_path / "ledger.sqlite3")
    with AdaptiveMemory(mine, embedder=word_vectors, ledger=ledger, keeping=late) as memory:
        memory.for_user("alice").remember("green tea", id="tea")
        assert memory.ports().ledger.due_records.waiting() == 1
        assert asyncio.run(ids()) == ["tea"]


@pytest.mark.hard("server")
def test_where_the_server_is_dead_what_is_pending_waits(chroma_server: ChromaServer, tmp_path: Path) -> None:
    mine: Any = chromadb.HttpClient("127.0.0.1", chroma_server.port).create_collection(
        "memories", embedding_function=None
    )
    ledger = str(tmp_path / "ledger.sqlite3")
    with AdaptiveMemory(mine, embedder=word_vectors, ledger=ledger) as memory:
        alice = memory.for_user("alice")
        alice.remember("red wine", id="wine")
        memory.flush()
        chroma_server.stop()
        alice.remember("green tea", id="tea")
        alice.forget("wine")
        assert alice.recall("green tea").ids == ("tea",)
        with pytest.raises(StoreError):
            memory.flush()
        assert memory.ports().ledger.due_records.among(["tea", "wine"]) == {"tea", "wine"}
        chroma_server.start()
        memory.flush()
        assert mine.get()["ids"] == ["tea"]


def test_a_write_back_that_was_cut_off_is_made_up_for_in_the_ledgers_copy_as_well() -> None:
    """A process was killed between the collection and the ledger; another exports the copy, with what it says."""
    collection = new_collection()
    keeping = Keeping(lag_seconds=3_600.0, queue_limit=1_000_000)
    with AdaptiveMemory(collection, embedder=word_vectors, keeping=keeping) as memory:
        alice = memory.for_user("alice")
        access: Any = memory.ports().records._access
        write_back = access.open.write_back
        store, update = write_back._store, write_back._store.update_metadata

        def then_killed(changes: Any) -> None:
            store.update_metadata = update
            update(changes)
            raise StoreError("killed")

        alice.remember("green tea", id="tea")
        alice.recall("tea", k=1)
        memory.flush()
        alice.remember("black coffee", id="tea")  # its copy shows the old reads until its own are written back
        store.update_metadata = then_killed
        with pytest.raises(StoreError, match="killed"):
            write_back.flush()
        write_back.flush()
        memory.flush()
        text, metadata, _ = contents(collection)["tea"]
        assert (text, metadata["retrieval_count"], metadata.get("last_read")) == ("black coffee", 0, None)
        assert memory.check().ok
