"""Does the post-processor re-rank what any retriever found, and write back what was read?"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from chromadb import Collection
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import LongContextReorder, PrevNextNodePostprocessor, SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import MetadataMode, NodeRelationship, NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.tools import RetrieverTool

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.errors import EmbedderError, InvalidInputError, PolicyError, ScopeError
from llama_adaptive_memory import AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever
from tests.conftest import Clock
from tests.llama_adaptive_memory.conftest import EVERY_READ, TEXTS, add_plainly, counts, ids, index_over, texts


def ranker(index: VectorStoreIndex, **arguments: Any) -> AdaptiveMemoryPostprocessor:
    return AdaptiveMemoryPostprocessor.from_index(index, **arguments)


@pytest.fixture
def ours(index: VectorStoreIndex) -> Iterator[AdaptiveMemoryPostprocessor]:
    with ranker(index) as opened:
        yield opened


def found(index: VectorStoreIndex, query: str = "tea for alice", top: int = 6) -> list[NodeWithScore]:
    return index.as_retriever(similarity_top_k=top).retrieve(query)


def test_it_is_a_post_processor_of_llama_index() -> None:
    assert BaseNodePostprocessor in AdaptiveMemoryPostprocessor.__mro__
    assert AdaptiveMemoryPostprocessor.class_name() == "AdaptiveMemoryPostprocessor"


async def test_async_gives_the_same(index: VectorStoreIndex) -> None:
    with ranker(index, top_n=3, reinforce=False) as ours:
        blocking = ours.postprocess_nodes(found(index), query_str="tea")
        awaited = await ours.apostprocess_nodes(found(index), query_str="tea")
    assert ids(blocking) == ids(awaited)
    assert [node.score for node in blocking] == pytest.approx([node.score for node in awaited])


def test_where_nothing_was_learned_the_order_stays(index: VectorStoreIndex, ours: AdaptiveMemoryPostprocessor) -> None:
    assert ids(ours.postprocess_nodes(found(index), query_str="tea")) == ids(found(index))


def test_no_nodes_give_no_nodes(index: VectorStoreIndex, ours: AdaptiveMemoryPostprocessor) -> None:
    assert ours.postprocess_nodes([], query_str="tea") == []
    assert ours.memory.stats().recalls == 0


def test_only_what_is_kept_counts_as_read(index: VectorStoreIndex) -> None:
    nodes = found(index)
    with ranker(index, top_n=2) as ours:
        kept = ours.postprocess_nodes(nodes, query_str="tea")
        assert len(kept) == 2
        assert sorted(counts(ours.memory, nodes)) == [0, 0, 0, 0, 1, 1]
        assert counts(ours.memory, kept) == [1, 1]


def test_keeping_more_than_there_are_keeps_all(index: VectorStoreIndex) -> None:
    with ranker(index, top_n=50) as ours:
        assert len(ours.postprocess_nodes(found(index), query_str="tea")) == len(TEXTS)


@pytest.mark.parametrize("bundle", [None, QueryBundle(""), QueryBundle("\ninput is tea\n")])
def test_any_query_or_none_will_do(
    index: VectorStoreIndex, ours: AdaptiveMemoryPostprocessor, bundle: QueryBundle | None
) -> None:
    assert len(ours.postprocess_nodes(found(index), bundle)) == 6


def test_unknown_scores_are_neutral(index: VectorStoreIndex, ours: AdaptiveMemoryPostprocessor) -> None:
    nodes = [NodeWithScore(node=one.node, score=None) for one in found(index)]
    scores = {node.score for node in ours.postprocess_nodes(nodes, query_str="tea")}
    assert list(scores) == [pytest.approx(0.5 * (0.95 + 0.025 * 0.5))]  # in the middle; nothing read, nothing judged


@pytest.mark.parametrize("scores", [[7.2, 0.1, -3.0], [0.03, 0.02, 0.01], [0.9, 0.8, 0.7], [float("nan"), 0.5, 0.4]])
def test_scores_of_any_kind_keep_their_order(
    index: VectorStoreIndex, ours: AdaptiveMemoryPostprocessor, scores: list[float]
) -> None:
    nodes = [NodeWithScore(node=one.node, score=score) for one, score in zip(found(index, top=3), scores, strict=True)]
    known = [node for node in nodes if node.score == node.score]
    ranked = ours.postprocess_nodes(nodes, query_str="tea")
    assert [one for one in ids(ranked) if one in ids(known)] == ids(known)
    assert all(node.score is not None and 0 <= node.score <= 1 for node in ranked)


@pytest.mark.parametrize("space", ["cosine", "l2", "ip"])
def test_scores_of_the_vector_store_are_read_as_similarity(
    index_in: Callable[[str], VectorStoreIndex], space: str
) -> None:
    index = index_in(space)
    with ranker(index) as ours, AdaptiveMemoryRetriever.from_index(index, similarity_top_k=6, reinforce=False) as other:
        ours.postprocess_nodes(found(index), query_str="tea for alice")
        other.retrieve("tea for alice")
        assert ours.last_recall is not None
        assert other.last_recall is not None
        near = {hit.id: hit.similarity for hit in other.last_recall}
        assert {hit.id: hit.similarity for hit in ours.last_recall} == pytest.approx(near, abs=1e-4)


def test_an_absolute_floor_holds_for_similarities_and_not_for_ranks(index: VectorStoreIndex) -> None:
    strict = Policy(min_similarity=0.3)
    fused = [NodeWithScore(node=one.node, score=one.score / 50) for one in found(index) if one.score]
    with ranker(index, policy=strict, reinforce=False) as ours:
        assert 0 < len(ours.postprocess_nodes(found(index), query_str="tea")) < 6
        assert len(ours.postprocess_nodes(fused, query_str="tea")) == 6


def test_what_comes_in_is_left_as_it_was(index: VectorStoreIndex, ours: AdaptiveMemoryPostprocessor) -> None:
    nodes = found(index)
    before = copy.deepcopy([(node.score, node.node.to_dict(), node.node.hash) for node in nodes])
    ranked = ours.postprocess_nodes(nodes, query_str="tea")
    assert [(node.score, node.node.to_dict(), node.node.hash) for node in nodes] == before
    assert not any(one is other for one in ranked for other in nodes)
    assert {id(one.node) for one in ranked} == {id(one.node) for one in nodes}


def test_our_state_is_in_no_text(index: VectorStoreIndex, ours: AdaptiveMemoryPostprocessor) -> None:
    ranked = ours.postprocess_nodes(found(index), query_str="tea")
    assert not any("retrieval_count" in node.node.get_content(MetadataMode.ALL) for node in ranked)


def test_a_node_that_comes_twice_is_kept_once_with_its_best_score(
    index: VectorStoreIndex, ours: AdaptiveMemoryPostprocessor
) -> None:
    nodes = found(index, top=2)
    twice = [NodeWithScore(node=nodes[0].node, score=0.2), *nodes]
    assert ids(ours.postprocess_nodes(twice, query_str="tea")) == ids(nodes)


def test_nodes_from_elsewhere_are_ranked_along_and_not_learned_of(index: VectorStoreIndex) -> None:
    stranger = NodeWithScore(node=TextNode(text="from a keyword index", id_="elsewhere"), score=0.99)
    nodes = found(index, top=3)
    with ranker(index, top_n=3) as ours:
        ranked = ours.postprocess_nodes([*nodes, stranger], query_str="tea")
        assert ids(ranked)[0] == "elsewhere"
        assert ours.memory.stats().reads == 2
        assert ours.memory.stats().records == len(TEXTS)
        assert sum(counts(ours.memory, nodes)) == 2


def owned(collection: Collection) -> VectorStoreIndex:
    index = index_over(collection, ["tea of nobody"])
    for user in ("alice", "bob"):
        index.insert(Document(text=f"tea of {user}", metadata={"user_id": user}))
    return index


@pytest.mark.parametrize(("user", "kept"), [("alice", "tea of alice"), (None, "tea of nobody"), ("carol", None)])
def test_nodes_of_others_are_dropped_with_the_reason(
    collection: Collection, user: str | None, kept: str | None
) -> None:
    index = owned(collection)
    with ranker(index, user_id=user) as ours:
        ranked = ours.postprocess_nodes(found(index, "tea"), query_str="tea")
        assert texts(ranked) == ([] if kept is None else [kept])
        assert ours.last_recall is not None
        reasons = {one.id: one.reason for one in ours.last_recall.dropped}
        assert set(reasons) == set(ids(found(index, "tea"))) - set(ids(ranked))
        assert set(reasons.values()) == {"not a record of this scope"}


def test_a_node_from_elsewhere_that_names_another_user_is_dropped(index: VectorStoreIndex) -> None:
    hers = NodeWithScore(node=TextNode(text="secret", metadata={"user_id": "alice"}), score=0.9)
    for user in (None, "bob"):
        with ranker(index, user_id=user) as ours:
            assert ours.postprocess_nodes([hers], query_str="secret") == []
    with ranker(index, user_id="alice") as ours:
        assert texts(ours.postprocess_nodes([hers], query_str="secret")) == ["secret"]


def test_a_record_whose_id_two_users_share_is_known_by_its_place(
    memory: AdaptiveMemory, collection: Collection
) -> None:
    for user in ("alice", "bob"):
        memory.for_user(user).remember(f"tea of {user}", id="note")
    nodes = found(index_over(collection), "tea")
    ours = AdaptiveMemoryPostprocessor(memory, user_id="bob")
    assert texts(ours.postprocess_nodes(nodes, query_str="tea")) == ["tea of bob"]
    assert memory.for_user("bob").get("note").read.retrieval_count == 1


def test_looking_without_reinforcing_changes_nothing(index: VectorStoreIndex) -> None:
    with ranker(index, reinforce=False) as ours:
        ours.postprocess_nodes(found(index), query_str="tea")
        assert ours.memory.stats().recalls == 0


def test_reads_stand_in_the_collection_after_closing(index: VectorStoreIndex, collection: Collection) -> None:
    with AdaptiveMemoryPostprocessor(collection=collection, top_n=1) as ours:
        (kept,) = ours.postprocess_nodes(found(index), query_str="tea")
    row: Any = collection.get(ids=[kept.node.node_id], include=["metadatas"])["metadatas"]
    assert row[0]["retrieval_count"] == 1


def test_it_needs_no_embedding_model_and_says_so_where_one_is_needed(
    index: VectorStoreIndex, collection: Collection
) -> None:
    with AdaptiveMemoryPostprocessor.from_vector_store(index.vector_store) as ours:
        assert ours.postprocess_nodes(found(index), query_str="tea")
        with pytest.raises(EmbedderError, match="embed_model="):
            ours.memory.remember("tea")


def test_it_shares_the_memory_of_a_retriever(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index) as retriever:
        with AdaptiveMemoryPostprocessor.from_vector_store(index.vector_store) as ours:
            assert ours.memory.memory is retriever.memory.memory
        assert retriever.retrieve("tea")


def test_its_settings_survive_being_dumped(index: VectorStoreIndex, collection: Collection) -> None:
    policy = Policy.preset("equal").replace(half_life_days=3)
    with ranker(index, user_id="alice", top_n=3, similarity="relative", policy=policy, reinforce=False) as ours:
        dumped = ours.model_dump()
        floors = {"score", "min_score", "min_similarity"}
        assert set(dumped) == {"user_id", "over", "top_n", "similarity", "policy", "reinforce", "class_name"} | floors
        knobs = {name: value for name, value in dumped.items() if name != "class_name"}
        with AdaptiveMemoryPostprocessor(collection=collection, **knobs) as again:
            assert again.model_dump() == dumped
            assert again.policy == policy


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"similarity": "cosine"}, PolicyError),
        ({"top_n": 0}, ValueError),
        ({"user_id": ""}, ScopeError),
        ({"collection": None}, InvalidInputError),
        ({"collection": "docs"}, InvalidInputError),
        ({"clocks": 1}, TypeError),
    ],
)
def test_bad_arguments_are_refused(collection: Collection, arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        AdaptiveMemoryPostprocessor(**{"collection": collection, **arguments})


def test_it_works_between_the_built_in_ones(index: VectorStoreIndex) -> None:
    with ranker(index, top_n=4) as ours:
        chain = [SimilarityPostprocessor(similarity_cutoff=0.2), ours, LongContextReorder()]
        engine = index.as_query_engine(similarity_top_k=6, node_postprocessors=chain)
        answer = engine.query("tea for alice")
        assert len(answer.source_nodes) == 4
        assert counts(ours.memory, answer.source_nodes) == [1] * 4


async def test_a_query_engine_reads_once_for_each_question(index: VectorStoreIndex) -> None:
    with ranker(index, top_n=1, policy=EVERY_READ) as ours:
        engine = index.as_query_engine(similarity_top_k=6, node_postprocessors=[ours])
        answer = engine.query("tea for alice")
        await engine.aquery("tea for alice")
        assert counts(ours.memory, answer.source_nodes) == [2]


@pytest.mark.parametrize("mode", ["context", "condense_plus_context"])
def test_a_chat_engine_reads_once_for_each_message(index: VectorStoreIndex, mode: Any) -> None:
    with ranker(index, top_n=1, policy=EVERY_READ) as ours:
        engine = index.as_chat_engine(chat_mode=mode, node_postprocessors=[ours], llm=MockLLM(max_tokens=4))
        engine.chat("tea for alice")
        engine.chat("coffee for bob")
        assert ours.memory.stats().recalls == 2


def test_a_retriever_tool_uses_it(index: VectorStoreIndex) -> None:
    with ranker(index, top_n=1) as ours:
        tool = RetrieverTool.from_defaults(index.as_retriever(similarity_top_k=6), node_postprocessors=[ours])
        tool.call(input="tea for alice")
        assert ours.memory.stats().reads == 1


def test_fused_scores_are_ranked(index: VectorStoreIndex) -> None:
    fusion = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=6)],
        num_queries=1,
        similarity_top_k=6,
        mode="reciprocal_rerank",  # type: ignore[arg-type]
    )
    nodes = fusion.retrieve("tea for alice")
    with ranker(index, top_n=6) as ours:
        assert ids(ours.postprocess_nodes(nodes, query_str="tea")) == ids(nodes)


async def test_an_evaluator_measures_without_changing(index: VectorStoreIndex) -> None:
    (best,) = found(index, top=1)
    with ranker(index, top_n=2, reinforce=False) as ours:
        evaluator = RetrieverEvaluator.from_metric_names(
            ["hit_rate", "mrr"], retriever=index.as_retriever(similarity_top_k=6), node_postprocessors=[ours]
        )
        result = await evaluator.aevaluate(query="tea for alice", expected_ids=[best.node.node_id])
        assert result.metric_vals_dict == {"hit_rate": 1.0, "mrr": 1.0}
        assert ours.memory.stats().recalls == 0


def test_no_read_of_four_threads_is_lost(index: VectorStoreIndex) -> None:
    nodes = found(index, top=2)
    with ranker(index, policy=EVERY_READ) as ours:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: ours.postprocess_nodes(list(nodes), query_str="tea"), range(100)))
        assert counts(ours.memory, nodes) == [100, 100]


async def test_no_read_of_many_tasks_is_lost(index: VectorStoreIndex) -> None:
    nodes = found(index, top=2)
    with ranker(index, policy=EVERY_READ) as ours:
        await asyncio.gather(*(ours.apostprocess_nodes(list(nodes), query_str="tea") for _ in range(40)))
        assert counts(ours.memory, nodes) == [40, 40]


def test_our_state_stays_out_of_nodes_that_chroma_holds_plainly(collection: Collection) -> None:
    """LlamaIndex takes all metadata of a record it did not store for the node's own, and shows them to the model."""
    add_plainly(collection, "tea at four", topic="z")
    index = index_over(collection)
    for _ in range(2):
        with AdaptiveMemoryPostprocessor.from_index(index, top_n=1, policy=Policy.preset("equal")) as ours:
            given = index.as_retriever().retrieve("tea at four")
            found = ours.postprocess_nodes(given, query_str="tea at four")
            assert found[0].node.metadata == {"topic": "z"}
    assert "retrieval_count" in given[0].node.metadata


@pytest.mark.parametrize("shrink", [1.0, 0.02], ids=["chroma's scores", "fused scores"])
@pytest.mark.parametrize("floor", [0.0, 0.05])
def test_a_neighbour_without_a_score_stands_above_no_real_hit(
    collection: Collection, clock: Clock, shrink: float, floor: float
) -> None:
    index = index_over(collection)
    lines = ["dull words", "tea at four", "more dull words", "green tea", "other things", "black tea", "the end"]
    nodes = [TextNode(text=text, id_=f"n{number}") for number, text in enumerate(lines)]
    for before, after in pairwise(nodes):
        before.relationships[NodeRelationship.NEXT] = after.as_related_node_info()
        after.relationships[NodeRelationship.PREVIOUS] = before.as_related_node_info()
    index.insert_nodes(nodes)
    docstore = SimpleDocumentStore()
    docstore.add_documents(nodes)
    real = index.as_retriever(similarity_top_k=3).retrieve("tea")
    found = [NodeWithScore(node=one.node, score=(one.score or 0) * shrink) for one in real]
    around = PrevNextNodePostprocessor(docstore=docstore, num_nodes=1, mode="both").postprocess_nodes(found)
    assert len(around) == 7
    with ranker(index, clock=clock, policy=Policy(min_similarity=floor)) as ours:
        for name in ("n0", "n2", "n4", "n6"):
            ours.memory.pin(name)
        ours.memory.recall("dull words and other things, the end", k=4)
        ours.feedback(helpful=ours.memory.recall("more dull words", k=1))
        ranked = ids(ours.postprocess_nodes(around, query_str="tea"))
    assert set(ranked[:3]) == {"n1", "n3", "n5"}
    assert len(ranked) == 7
