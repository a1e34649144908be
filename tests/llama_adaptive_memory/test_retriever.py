"""Does the retriever give what `index.as_retriever()` gives, ranked and remembered?"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import ImageNode, IndexNode, MetadataMode, QueryBundle, TextNode
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters

from adaptive_memory_core import AdaptiveMemory, Fields, Keeping, Policy, Recall, Weights
from adaptive_memory_core.errors import FilterError, InvalidInputError, ScopeError
from adaptive_memory_core.fields import read_driven
from adaptive_memory_core.flow.recall import recall
from adaptive_memory_core.verbs import recalling
from llama_adaptive_memory import AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever
from tests.conftest import Clock, word_vectors
from tests.llama_adaptive_memory.conftest import HashedWords, add_plainly, counts, ids, index_over, texts

VECTORS = Policy(channels=("dense",))
STATE_KEYS = read_driven(Fields())


def retriever(index: VectorStoreIndex, **arguments: Any) -> AdaptiveMemoryRetriever:
    return AdaptiveMemoryRetriever.from_index(index, **arguments)


def test_it_is_a_retriever_of_llama_index() -> None:
    assert BaseRetriever in AdaptiveMemoryRetriever.__mro__


def test_nodes_are_those_that_the_plain_retriever_builds(index: VectorStoreIndex) -> None:
    plain = index.as_retriever(similarity_top_k=6).retrieve("tea for alice")
    with retriever(index, similarity_top_k=6) as ours:
        for _ in range(3):
            found = ours.retrieve("tea for alice")
            assert {n.node.node_id: n.node.to_dict() for n in found} == {
                n.node.node_id: n.node.to_dict() for n in plain
            }
            assert {n.node.hash for n in found} == {n.node.hash for n in plain}


@pytest.mark.parametrize(
    ("asked", "policy"), [("tea for alice", VECTORS), ("unheard of", None)], ids=["by vectors", "words nobody has"]
)
def test_where_nothing_was_learned_the_order_is_that_of_similarity(
    index: VectorStoreIndex, asked: str, policy: Policy | None
) -> None:
    plain = index.as_retriever(similarity_top_k=6).retrieve(asked)
    with retriever(index, similarity_top_k=6, policy=policy) as ours:
        assert ids(ours.retrieve(asked)) == ids(plain)


async def test_async_keeps_the_loop_free(index: VectorStoreIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    free, waited = threading.Event(), list[bool]()

    def recall_then(*given: Any) -> Recall:
        waited.append(free.wait(60.0))
        return recall(*given)

    async def beat() -> None:
        await asyncio.sleep(0.01)
        free.set()

    monkeypatch.setattr(recalling, "recall_own", recall_then)
    with retriever(index) as ours:
        heart = asyncio.create_task(beat())
        assert await ours.aretrieve("tea")
        await heart
    assert waited == [True]


def test_our_state_reaches_neither_metadata_nor_any_text(index: VectorStoreIndex, collection: Collection) -> None:
    with retriever(index) as ours:
        ours.retrieve("tea")
    with retriever(index) as ours:
        found = ours.retrieve("tea")
    for node in found:
        assert not set(STATE_KEYS) & set(node.node.metadata)
        for mode in MetadataMode:
            assert not any(key in node.node.get_content(mode) for key in STATE_KEYS)


def test_a_plain_record_comes_as_a_node_with_one_hash_and_without_our_keys(collection: Collection) -> None:
    metadata: dict[str, Any] = {"topic": "tea", "kind": "note", "b": 1, "a": 2.0, "z": True, "created_at": "2024-05-01"}
    add_plainly(collection, "plain tea", **metadata)
    seen = []
    for _ in range(4):
        with AdaptiveMemoryRetriever.from_collection(collection, HashedWords()) as ours:
            (node,) = ours.retrieve("tea")
        seen.append(node.node.hash)
        assert node.node.metadata == metadata
        assert list(node.node.metadata) == sorted(metadata)
    assert len(set(seen)) == 1


@pytest.mark.parametrize("fields", [Fields(), Fields(useful_at="u", strength="s", boost="b")], ids=["usual", "renamed"])
def test_no_key_that_reads_and_feedback_write_is_in_a_node(collection: Collection, fields: Fields) -> None:
    add_plainly(collection, "plain tea", topic="tea", a=2.0)
    index, ours = index_over(collection, ["stored tea"], topic="tea"), read_driven(fields)
    with (
        AdaptiveMemoryRetriever.from_index(index, fields=fields) as reader,
        AdaptiveMemoryPostprocessor.from_index(index, fields=fields) as ranker,
    ):
        reader.feedback(helpful=reader.retrieve("tea"))
        for one in ids(reader.retrieve("tea")):
            reader.memory.pin(one)
        reader.flush()
        assert all(one.keys() >= ours for one in collection.get()["metadatas"] or [])  # all are in the collection
        for _ in range(2):
            plain = index.as_retriever().retrieve("tea")
            found = [*reader.retrieve("tea"), *ranker.postprocess_nodes(plain, query_str="tea")]
            assert len(found) == 4
            for node in found:
                assert not node.node.metadata.keys() & ours
                assert not any(key in json.dumps(node.node.to_dict()) for key in ours if len(key) > 1)
            reader.flush()


def test_a_key_of_somebody_elses_that_only_sounds_like_ours_is_kept(collection: Collection) -> None:
    add_plainly(collection, "aspirin", strength="500 mg")
    with AdaptiveMemoryRetriever.from_collection(collection, HashedWords()) as ours:
        assert ours.retrieve("aspirin")[0].node.metadata == {"strength": "500 mg"}


def test_what_remember_wrote_reads_as_its_words_alone(memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember("likes tea", metadata={"source": "chat"})
    (node,) = AdaptiveMemoryRetriever(memory, user_id="alice").retrieve("tea")
    assert node.node.get_content(MetadataMode.LLM) == "source: chat\n\nlikes tea"
    assert node.node.get_content(MetadataMode.EMBED) == "source: chat\n\nlikes tea"


def test_relationships_and_other_kinds_of_nodes_survive(collection: Collection) -> None:
    index = index_over(collection)
    index.insert_nodes([IndexNode(text="about tea", index_id="tea", id_="i"), ImageNode(text="tea picture", id_="g")])
    index.insert(Document(text="tea document", id_="doc"))
    with retriever(index, similarity_top_k=5) as ours:
        found = {type(node.node).__name__: node.node for node in ours.retrieve("tea")}
    assert set(found) == {"IndexNode", "ImageNode", "TextNode"}
    assert found["TextNode"].ref_doc_id == "doc"


def test_an_index_node_leads_on_to_its_object(collection: Collection) -> None:
    target = TextNode(text="the whole chapter on tea", id_="chapter")
    index = VectorStoreIndex(
        objects=[IndexNode(text="tea", index_id="chapter", obj=target)],
        storage_context=index_over(collection).storage_context,
        embed_model=HashedWords(),
    )
    plain = index.as_retriever(similarity_top_k=1).retrieve("tea")
    with retriever(index, similarity_top_k=1) as ours:
        assert texts(ours.retrieve("tea")) == texts(plain) == ["the whole chapter on tea"]


def test_a_filter_on_our_counts_works_once_they_stand_in_the_collection(index: VectorStoreIndex) -> None:
    read = MetadataFilters(filters=[MetadataFilter(key="retrieval_count", value=1, operator=FilterOperator.GTE)])
    with retriever(index, similarity_top_k=1, write="through") as ours:
        found = ours.retrieve("tea at four")
        ours.filters, ours.similarity_top_k = read, 6
        assert ids(ours.retrieve("anything")) == ids(found)


def test_a_filter_that_chroma_cannot_answer_is_refused_at_once(index: VectorStoreIndex) -> None:
    words = MetadataFilters(filters=[MetadataFilter(key="number", value="x", operator=FilterOperator.TEXT_MATCH)])
    with pytest.raises(FilterError):
        retriever(index, filters=words)


async def test_a_vector_that_is_given_is_used(index: VectorStoreIndex) -> None:
    coffee = word_vectors(["bob drinks black coffee"])[0].tolist()
    with retriever(index, similarity_top_k=1, policy=VECTORS) as ours:
        for asked in (QueryBundle("tea", embedding=coffee), QueryBundle("", embedding=coffee)):
            assert texts(ours.retrieve(asked)) == ["bob drinks black coffee"]
            assert texts(await ours.aretrieve(asked)) == ["bob drinks black coffee"]


async def test_texts_to_embed_instead_of_the_question_are_used_together(index: VectorStoreIndex) -> None:
    asked = QueryBundle("unheard of", custom_embedding_strs=["bob drinks", "black coffee"])
    with retriever(index, similarity_top_k=1) as ours:
        assert texts(ours.retrieve(asked)) == texts(await ours.aretrieve(asked)) == ["bob drinks black coffee"]
        assert asked.embedding is None


def test_what_was_read_of_late_is_favoured_where_the_policy_says_so(collection: Collection, clock: Clock) -> None:
    index = index_over(collection, ["tea of spring", "tea of autumn"])
    fresh = Policy(weights=Weights(recency=1.0, importance=0.0, similarity=0.01))
    with retriever(index, clock=clock, policy=fresh, similarity_top_k=1) as ours:
        for season in ("autumn", "spring"):
            ours.policy = None
            assert texts(ours.retrieve(f"tea of {season}")) == [f"tea of {season}"]
            ours.policy = fresh
            clock.pass_days(30)
            assert texts(ours.retrieve("tea")) == [f"tea of {season}"]
            clock.pass_days(30)


def _written(index: VectorStoreIndex) -> int:
    """How many reads the collection's own metadata speak of."""
    stored = index.vector_store.client.get(include=["metadatas"])["metadatas"]
    return sum(int(one.get("retrieval_count", 0)) for one in stored)


def test_closing_one_of_two_retrievers_writes_back_what_it_learned(index: VectorStoreIndex) -> None:
    late = Keeping(lag_seconds=3_600.0)
    with retriever(index, keeping=late) as first:
        with retriever(index, similarity_top_k=1, keeping=late) as second:
            second.retrieve("tea")
            assert _written(index) == 0
        assert _written(index) == 1
        with first.for_user(None) as lent:
            lent.retrieve("the deploy failed on friday")
        assert _written(index) > 1
    lent.close()  # once more, and after the memory


def test_a_memory_that_was_given_stays_open(memory: AdaptiveMemory) -> None:
    with AdaptiveMemoryRetriever(memory, user_id="alice") as ours:
        ours.memory.remember("tea")
    with AdaptiveMemoryRetriever.from_memory(memory.for_user("alice")) as ours:
        assert texts(ours.retrieve("tea")) == ["tea"]
    with pytest.raises(ScopeError):
        AdaptiveMemoryRetriever(memory.for_user("alice")).for_user("bob")


def test_a_query_engine_answers_from_it(index: VectorStoreIndex) -> None:
    with retriever(index) as ours:
        answer = RetrieverQueryEngine.from_args(ours).query("tea?")
        assert len(answer.source_nodes) == 2
        assert all(count == 1 for count in counts(ours.memory, answer.source_nodes))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (AdaptiveMemoryRetriever, "Neither memory="),
        (lambda: AdaptiveMemoryRetriever.from_index("docs"), "Give a VectorStoreIndex"),
        (lambda: AdaptiveMemoryRetriever.from_index(VectorStoreIndex([])), "Give a ChromaVectorStore"),
        (lambda: AdaptiveMemoryRetriever.from_vector_store(object()), "Give a ChromaVectorStore"),
        (lambda: AdaptiveMemoryRetriever("a name"), "Give an AdaptiveMemory"),  # type: ignore[arg-type]
        (lambda: AdaptiveMemoryRetriever.from_collection("a name"), "chromadb.Collection"),
    ],
)
def test_what_is_no_index_over_chroma_is_refused_with_what_to_give(make: Callable[[], object], error: str) -> None:
    with pytest.raises(InvalidInputError, match=error):
        make()


def test_a_node_shows_what_it_was_derived_from_and_no_model_reads_that(clock: Clock, tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path / "derived", embedder=word_vectors, clock=clock) as memory:
        ana = memory.for_user("ana")
        ana.remember("the office is in Rome", id="rome")
        ana.remember("the office, in short", id="short", derived_from=["rome"])
        with AdaptiveMemoryRetriever.from_memory(memory, user_id="ana", similarity_top_k=5) as ours:
            (node,) = [one.node for one in ours.retrieve("the office") if one.node.node_id == "short"]
            assert node.metadata["derived_from"] == ["rome"]
            assert node.get_content(MetadataMode.LLM) == "the office, in short"
            ana.remember("the office is in Oslo", id="oslo", supersedes="rome")
            assert [one.node.node_id for one in ours.retrieve("the office")] == ["oslo"]
