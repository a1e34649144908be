"""Does the mirror keep records as Chroma does, and does the collection come to hold the same? Step by step."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import chromadb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive_memory_core import Fields, Record, Scope, SQLiteLedger
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import DueRecord, Ledger, Records, Stored
from adaptive_memory_core.store import due_records
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.due_records import DueRecordsOfOthers
from adaptive_memory_core.store.mirror.records import MirrorRecords
from tests.conftest import word_vectors

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
    DueRecordsOfOthers(ledger, collection, lag_seconds=5.0, batch=2).settle()
    assert ledger.due_records.waiting() == 0


def contents(collection: Any) -> dict[str, Any]:
    found = collection.get(include=["documents", "metadatas", "embeddings"])
    rows = zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True)
    return {one: (text, metadata, tuple(np.round(vector, 5).tolist())) for one, text, metadata, vector in rows}


def stored(stored_id: str, text: str, **more: Any) -> Stored:
    return Stored(Record(stored_id, text, created_at=1.0, **more), stored_id)


def vectors(*texts: str) -> Any:
    return word_vectors(texts)


def step(store: Records, what: str, stored_id: str, text: str, more: dict[str, Any]) -> None:
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


def answers(store: Records) -> dict[str, Any]:
    """What a flow may ask, in a form that can be compared: neither keeps to an order that the other knows."""
    found: dict[str, Any] = {"ids": sorted(store.ids()), "size": store.size(), "extent": store.extent().size}
    found["rows"] = sorted((one, text, metadata) for one, text, metadata in store.rows(IDS))
    for name, scope in {**SCOPES, "over": Scope("alice", over="everyone")}.items():
        found[f"fetch {name}"] = store.fetch(scope, IDS)
        found[f"pages {name}"] = sorted(one for page in store.pages(scope) for one in page)
        found[f"count {name}"] = store.count(scope)
        found[f"pinned {name}"] = sorted(store.flagged(scope, "pinned"))
        found[f"said {name}"] = sorted(store.said_in(scope, ["s1", "other"], 10))
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
@settings(max_examples=25)
def test_after_any_changes_both_answer_alike_and_the_collection_comes_to_hold_the_same(
    steps: Sequence[tuple[str, str, str, dict[str, Any]]], pauses: set[int]
) -> None:
    ledger, direct, by_others = new_ledger(), new_collection(), new_collection()
    mirror, chroma = MirrorRecords(ledger, FIELDS, "cosine"), ChromaRecords(direct, FIELDS)
    for number, one in enumerate(steps):
        step(chroma, *one)
        step(mirror, *one)
        if number in pauses:
            applied(ledger, by_others)
    assert answers(mirror) == answers(chroma)
    applied(ledger, by_others)
    assert contents(by_others) == contents(direct)
    for collection in (direct, by_others):
        chromadb.EphemeralClient().delete_collection(collection.name)


def test_nobody_changes_records_of_another_scope() -> None:
    ledger = new_ledger()
    store = MirrorRecords(ledger, FIELDS, "cosine")
    store.add(ALICE, [stored("a1", "green tea")], vectors("green tea"))
    ledger.due_records.settle(ledger.due_records.first(10))
    store.annotate(BOB, "a1", {"superseded_by": "b1"})
    store.remove(BOB, ["a1"])
    assert (store.count(ALICE), ledger.due_records.waiting()) == (1, 0)


@pytest.mark.parametrize("where", ["before Chroma", "after Chroma"])
def test_a_process_that_is_killed_while_it_applies_leaves_it_to_be_done_again(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Killed before Chroma was told, or after that and before it is struck off the list."""
    ledger, collection = new_ledger(), new_collection()
    store = MirrorRecords(ledger, FIELDS, "cosine")
    store.add(ALICE, [stored("a1", "green tea", metadata={"n": 1})], vectors("green tea"))
    applied(ledger, collection)
    store.add(ALICE, [stored("a2", "black coffee")], vectors("black coffee"))
    store.revise(ALICE, [stored("a1", "white tea")], vectors("white tea"))
    with monkeypatch.context() as patch:
        part, name = (due_records, "overwrite") if where == "before Chroma" else (ledger.due_records, "settle")
        patch.setattr(part, name, _killed)
        with pytest.raises(KeyboardInterrupt):
            DueRecordsOfOthers(ledger, collection, lag_seconds=5.0, batch=500).settle()
    assert ledger.due_records.waiting() == 2
    applied(ledger, collection)
    assert {one: text for one, (text, _, _) in contents(collection).items()} == {
        "a1": "white tea",
        "a2": "black coffee",
    }
    assert "n" not in contents(collection)["a1"][1]


def test_one_record_that_chroma_refuses_does_not_keep_the_others_waiting() -> None:
    ledger, collection = new_ledger(), new_collection()
    store = MirrorRecords(ledger, FIELDS, "cosine")
    store.add(ALICE, [stored("a1", "green tea")], vectors("green tea"))
    store.add(ALICE, [stored("a2", "odd")], np.ones((1, 3)).tolist())
    store.add(ALICE, [stored("a3", "black coffee")], vectors("black coffee"))
    with pytest.raises(StoreError, match="3"):
        DueRecordsOfOthers(ledger, collection, lag_seconds=5.0, batch=500).settle()
    assert set(contents(collection)) == {"a1", "a3"}
    assert [one.stored_id for one in ledger.due_records.first(10)] == ["a2"]


def test_what_others_left_is_applied_once_it_has_waited_for_the_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, collection, now = new_ledger(), new_collection(), [100.0]
    monkeypatch.setattr("adaptive_memory_core.store.due_records.time.monotonic", lambda: now[0])
    chore = DueRecordsOfOthers(ledger, collection, lag_seconds=1.2, batch=1)
    assert chore.wait() == due_records.LOOKED_SECONDS
    store = MirrorRecords(ledger, FIELDS, "cosine")
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
    assert chore.wait() == due_records.LOOKED_SECONDS
    assert set(contents(collection)) == {"a1", "a2"}


def test_within_a_transaction_what_is_due_is_applied_after_it() -> None:
    """Another thread may be applying, and waits for the ledger: neither would ever go on."""
    ledger, collection = new_ledger(), new_collection()
    chore = DueRecordsOfOthers(ledger, collection, lag_seconds=1.2, batch=1)
    MirrorRecords(ledger, FIELDS, "cosine").add(ALICE, [stored("a1", "green tea")], vectors("green tea"))
    with ledger.transaction():
        chore.settle()
        assert contents(collection) == {}
    assert set(contents(collection)) == {"a1"}


def _killed(*_: Sequence[DueRecord]) -> None:
    raise KeyboardInterrupt
