"""Is a document just what stands in the collection, with what we know beside it, and does it go back unchanged?"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest
from langchain_core.documents import Document

from adaptive_memory_core import AdaptiveMemory, Fields, InvalidInputError, Policy, ScopeError, UserMemory, Weights
from adaptive_memory_core.fields import read_driven
from langchain_adaptive_memory import EVERYONE, AdaptiveMemoryRetriever, AdaptiveMemoryVectorStore
from langchain_adaptive_memory.convert import DETAILS, SCORE
from tests.conftest import Clock, contents, word_vectors
from tests.langchain_adaptive_memory.conftest import NewRetriever, NewStore


def without_ours(document: Document) -> dict[str, Any]:
    return {key: value for key, value in document.metadata.items() if key not in (SCORE, DETAILS)}


def test_a_document_is_what_the_vector_store_returns_and_two_keys(new_store: NewStore) -> None:
    store = new_store(created_at="2026-01-15T10:00:00Z", importance="high", tags=["a", "b"], kind="note")
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=5) as retriever:
        for _ in range(2):
            plain = {one.id: one for one in store.as_retriever(search_kwargs={"k": 5}).invoke("tea")}
            ours = retriever.invoke("tea")
            assert {one.id for one in ours} == set(plain)
            for one in ours:
                assert one.page_content == plain[one.id].page_content
                expected = {
                    key: value for key, value in plain[one.id].metadata.items() if key not in read_driven(Fields())
                }
                assert without_ours(one) == expected
            retriever.memory.flush()  # the second time, the read-driven keys stand in the collection


@pytest.mark.parametrize("fields", [Fields(), Fields(useful_at="u", strength="s", boost="b")], ids=["usual", "renamed"])
@pytest.mark.parametrize("annotate", [True, False])
def test_no_key_that_reads_and_feedback_write_is_in_a_document(
    new_store: NewStore, fields: Fields, annotate: bool
) -> None:
    store, ours = new_store(created_at="2026-01-15T10:00:00Z"), read_driven(fields)
    expected = {one.id: one.metadata for one in store.get_by_ids(["tea"])}["tea"]
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=1, annotate=annotate, fields=fields) as retriever:
        retriever.feedback(helpful=retriever.invoke("green tea"))
        retriever.memory.for_everyone().pin("tea")
        retriever.flush()
        assert store.get_by_ids(["tea"])[0].metadata.keys() >= ours  # all of them are in the collection
        through_a_store = AdaptiveMemoryVectorStore(retriever.memory, user_id=EVERYONE)
        for _ in range(2):
            found = [*retriever.invoke("green tea"), retriever.batch(["green tea"])[0][0]]
            assert [without_ours(one) for one in found] == [expected] * 2
            for one in (*through_a_store.get_by_ids(["tea"]), *through_a_store.similarity_search("green tea", k=1)):
                assert not one.metadata.keys() & ours
            retriever.flush()


def test_texts_and_vectors_and_the_keys_of_others_are_as_before(new_store: NewStore) -> None:
    store = new_store(strength="500 mg")
    before = contents(store._collection)
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=5) as retriever:
        assert retriever.invoke("tea")[0].metadata["strength"] == "500 mg"
        retriever.feedback(helpful=retriever.invoke("tea"))
    after = contents(store._collection)
    for one, (text, metadata, vector) in before.items():
        assert (after[one][0], after[one][2]) == (text, vector)
        assert (after[one][1] or {}).items() >= (metadata or {}).items()


def test_a_score_lies_in_the_unit_interval_best_first_and_its_parts_add_up(new_retriever: NewRetriever) -> None:
    found = new_retriever(user_id="alice", k=5).invoke("green tea")
    scores = [one.metadata[SCORE] for one in found]
    assert scores == sorted(scores, reverse=True)
    for one in found:
        details = one.metadata[DETAILS]
        assert 0 <= one.metadata[SCORE] <= 1
        assert sum(details["parts"].values()) == pytest.approx(one.metadata[SCORE])
        assert (details["id"], type(one.metadata[SCORE])) == (one.id, float)
        assert set(details["parts"]) == {"recency", "importance", "similarity", "words", "useful"}


def test_what_is_known_of_a_record_stands_under_one_key_as_of_now(
    alice: UserMemory, clock: Clock, new_retriever: NewRetriever
) -> None:
    retriever = new_retriever(alice, k=1)
    first = retriever.invoke("green tea")[0].metadata[DETAILS]
    clock.pass_days(1)
    alice.pin("tea")
    second = retriever.invoke("green tea")[0].metadata[DETAILS]
    assert (first["retrieval_count"], first["last_read"], first["pinned"]) == (0, None, False)
    assert (second["retrieval_count"], second["pinned"]) == (1, True)
    assert second["last_read"] == clock.now - 86_400
    assert second["recall_id"] != first["recall_id"]
    assert second["importance"] == 0.5


def test_a_document_is_json_through_and_through(new_retriever: NewRetriever) -> None:
    for one in new_retriever(user_id="alice", k=5).invoke("green tea"):
        assert json.loads(json.dumps(one.metadata, allow_nan=False)) == one.metadata
        assert Document.model_validate_json(one.model_dump_json()) == one


def test_documents_are_nobody_elses(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice", k=1)
    one = retriever.invoke("green tea")[0]
    one.metadata.clear()
    one.page_content = "gone"
    assert retriever.invoke("green tea")[0].page_content == "green tea is nice"


def test_a_record_without_metadata_is_a_document(new_store: NewStore) -> None:
    store = new_store(())
    store._collection.add(ids=["bare"], documents=["green tea"], embeddings=word_vectors(["tea"]))
    with AdaptiveMemoryRetriever.from_vectorstore(store) as retriever:
        assert without_ours(retriever.invoke("tea")[0]) == {}


def test_metadata_of_the_users_own_under_our_two_names_is_hidden_and_not_lost(new_store: NewStore) -> None:
    store = new_store(score=7, adaptive_memory="yes")
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=1) as retriever:
        found = retriever.invoke("green tea")[0]
        assert 0 <= found.metadata[SCORE] <= 1
        assert found.metadata[DETAILS]["hidden"] == {"score": 7, "adaptive_memory": "yes"}
        retriever.add_documents([found])
    again = store.get_by_ids(["tea"])[0]
    assert (again.metadata["score"], again.metadata["adaptive_memory"]) == (7, "yes")


def test_a_recalled_document_that_is_added_again_is_the_record_it_was(
    memory: AdaptiveMemory, alice: UserMemory, clock: Clock, new_retriever: NewRetriever
) -> None:
    alice.remember("likes tea", id="t", importance=0.8, kind="fact", metadata={"source": "chat"}, created_at=clock.now)
    retriever = new_retriever(user_id="alice", k=1)
    for _ in range(2):
        retriever.invoke("likes tea")
        clock.pass_days(1)
    memory.flush()
    before, found = alice.get("t"), retriever.invoke("likes tea", reinforce=False)[0]
    assert retriever.add_documents([found]) == ["t"]
    assert alice.get("t") == before
    assert (before.read.retrieval_count, before.metadata) == (2, {"source": "chat"})


def test_metadata_with_a_meaning_has_it(memory: AdaptiveMemory, new_retriever: NewRetriever, clock: Clock) -> None:
    keys = {"importance": 0.9, "kind": "fact", "created_at": "2025-01-01T00:00:00Z", "page": 3, "gone": None}
    new_retriever(user_id="alice").add_documents([Document("purple juice", id="j", metadata=keys)])
    record = memory.for_user("alice").get("j")
    assert (record.importance, record.kind, record.created_at) == (0.9, "fact", 1_735_689_600.0)
    assert record.metadata == {"page": 3}


def test_a_document_may_name_what_it_was_derived_from_and_goes_back_as_it_came(
    memory: AdaptiveMemory, new_retriever: NewRetriever
) -> None:
    retriever = new_retriever(memory=memory, user_id="ana", k=5)
    retriever.add_documents([Document("the office is in Rome", id="rome")])
    retriever.add_documents([Document("the office, in short", id="short", metadata={"derived_from": ["rome"]})])
    found = {one.id: one for one in retriever.invoke("the office")}
    assert found["short"].metadata["derived_from"] == ["rome"]
    retriever.add_documents([found["short"]])
    assert memory.for_user("ana").get("short").derived_from == ("rome",)
    memory.for_user("ana").forget("rome")
    assert retriever.invoke("the office") == []
    (ended,) = memory.for_user("ana").recall("the office").dropped
    assert ended.reason == "derived from a record that was forgotten"


async def test_a_document_of_one_user_is_not_added_for_another(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice")
    note = Document("purple juice", metadata={"user_id": "bob"})
    with pytest.raises(ScopeError, match="bob"):
        retriever.add_documents([note])
    with pytest.raises(ScopeError, match="bob"):
        await retriever.aadd_documents([note])
    assert len(await retriever.aadd_documents([note], user_id="bob")) == 1


def test_what_cannot_be_stored_is_refused_with_its_name(new_retriever: NewRetriever) -> None:
    retriever = new_retriever(user_id="alice")
    with pytest.raises(InvalidInputError, match="nested"):
        retriever.add_documents([Document("x", metadata={"nested": {"a": 1}})])
    with pytest.raises(InvalidInputError, match="Document"):
        retriever.add_documents(["just a text"])  # type: ignore[list-item]


def test_keys_under_other_names_keep_them(new_store: NewStore) -> None:
    fields = Fields(user_id="owner", importance="salience", last_read="seen_at")
    store = new_store(owner="ana", salience=0.9)
    policy = Policy(weights=Weights(recency=1, importance=1, similarity=1))
    with AdaptiveMemoryRetriever.from_vectorstore(store, fields=fields, user_id="ana", policy=policy) as retriever:
        retriever.invoke("tea")
        retriever.memory.flush()
        found = retriever.invoke("tea")[0]
        assert (found.metadata["owner"], found.metadata["salience"]) == ("ana", 0.9)
        assert "seen_at" not in found.metadata
        assert found.metadata[DETAILS]["importance"] == 0.9
        assert "seen_at" in store.get_by_ids([str(found.id)])[0].metadata


@pytest.mark.parametrize(
    "moment", [datetime(2026, 5, 1, 12), "2026-05-01T12:00:00", "2026-05-01T14:00:00+02:00"], ids=str
)
def test_a_time_without_a_zone_is_that_of_utc_however_it_is_given(
    alice: UserMemory, new_retriever: NewRetriever, moment: Any
) -> None:
    new_retriever(user_id="alice").add_documents([Document("may day", id="may", metadata={"created_at": moment})])
    assert alice.get("may").created_at == datetime(2026, 5, 1, 12, tzinfo=timezone.utc).timestamp()


async def test_an_empty_page_is_skipped_with_a_warning_and_the_others_are_added(memory: AdaptiveMemory) -> None:
    retriever = AdaptiveMemoryRetriever(memory=memory, user_id="ana")
    store = AdaptiveMemoryVectorStore(memory, user_id="ana")
    pages = [Document("tea", id="one"), Document(" \n", id="empty"), Document("coffee", id="three")]
    said = "1 of 3 documents have no text and were skipped, at the positions 1"
    with pytest.warns(UserWarning, match=said) as warned:
        assert retriever.add_documents(pages) == ["one", "three"]
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match=said):
        assert await retriever.aadd_documents(pages) == ["one", "three"]
    with pytest.warns(UserWarning, match=said):
        assert store.add_documents(pages, ids=["a", "b", "c"]) == ["a", "c"]
    with pytest.warns(UserWarning, match=said) as warned:
        assert await store.aadd_texts(["tea", "", "milk"], ids=["x", "y", "z"]) == ["x", "z"]
    with pytest.warns(UserWarning, match="1 of 1"):
        assert store.add_texts([""]) == []
    assert {one.id for one in memory.for_user("ana").records()} == {"one", "three", "a", "c", "x", "z"}
