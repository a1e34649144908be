"""Does a reader do what its settings and its call say, and refuse at once what it cannot do?"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import Any

import pytest
from chromadb import Collection
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.schema import MetadataMode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Keeping, Policy
from adaptive_memory_core.errors import ScopeError
from adaptive_memory_core.judges import Judge
from llama_adaptive_memory import EVERYONE, AdaptiveMemoryBlock, AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever
from tests.behaviour.test_observe import CONVERSATIONS
from tests.conftest import Open
from tests.llama_adaptive_memory.conftest import TEXTS, HashedWords, ids, index_over, texts

READERS: list[Any] = [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor, AdaptiveMemoryBlock]
SPACES = ["cosine", "l2", "ip"]


def third(number: int) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key="number", value=number)])


def test_the_last_recall_is_that_of_the_call(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index) as ours:
        ours.retrieve("tea at four", similarity_top_k=1)
        assert ours.last_recall is not None
        assert ours.last_recall.k == 1
        ours.retrieve("tea")
        assert ours.last_recall.k == 2, "a call changes nothing for the next"


def test_what_a_call_cannot_say_is_named(index: VectorStoreIndex) -> None:
    wrong: dict[str, Any] = {"filter": third(3)}
    with AdaptiveMemoryRetriever.from_index(index) as ours, pytest.raises(TypeError, match="Did you mean 'filters'"):
        ours.retrieve("tea", **wrong)


@pytest.mark.parametrize("reader", [AdaptiveMemoryPostprocessor, AdaptiveMemoryBlock])
@pytest.mark.parametrize(("name", "wrong"), [("policy", "fast"), ("min_score", 2), ("reinforce", "maybe")])
def test_a_wrong_field_fails_where_it_is_assigned(index: VectorStoreIndex, reader: Any, name: str, wrong: Any) -> None:
    with reader.from_index(index, user_id="alice") as ours:
        before = getattr(ours, name)
        with pytest.raises(ValueError, match=name):
            setattr(ours, name, wrong)
        assert getattr(ours, name) == before
        ours.policy = Policy.preset("support")
        assert ours.policy == Policy.preset("support")


def test_whose_nodes_a_post_processor_ranks_is_not_assigned(index: VectorStoreIndex) -> None:
    with (
        AdaptiveMemoryPostprocessor.from_index(index, user_id="alice") as ours,
        pytest.raises(ValueError, match="user_id"),
    ):
        ours.user_id = "bob"


@pytest.mark.parametrize("space", SPACES)
def test_the_score_can_be_what_the_plain_retriever_gives(
    index_in: Callable[[str], VectorStoreIndex], space: str
) -> None:
    index = index_in(space)
    plain = index.as_retriever(similarity_top_k=6).retrieve("tea for alice")
    scores = sorted(one.score or 0 for one in plain)
    cut = SimilarityPostprocessor(similarity_cutoff=(scores[2] + scores[3]) / 2)
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=6, score="similarity") as ours:
        found = ours.retrieve("tea for alice")
        assert {one.node.node_id: one.score for one in found} == pytest.approx(
            {one.node.node_id: one.score for one in plain}, abs=1e-4
        )
        assert set(ids(cut.postprocess_nodes(found))) == set(ids(cut.postprocess_nodes(plain)))
        assert len(cut.postprocess_nodes(found)) == 3
        assert found[0].score != ours.retrieve("tea for alice", score="blend")[0].score


def test_a_post_processor_can_leave_the_score_that_came_in(index: VectorStoreIndex) -> None:
    plain = index.as_retriever(similarity_top_k=6).retrieve("tea")
    with AdaptiveMemoryPostprocessor.from_index(index, score="similarity") as ours:
        ranked = ours.postprocess_nodes(plain, query_str="tea")
    assert {one.node.node_id: one.score for one in ranked} == {one.node.node_id: one.score for one in plain}


def test_a_moment_without_a_zone_is_refused_and_a_date_of_a_document_without_one_is_utc(collection: Collection) -> None:
    index = index_over(collection)
    for name, said in (("naive", "2024-05-01T10:00:00"), ("utc", "2024-05-01T10:00:00Z")):
        index.insert(Document(text=f"tea of {name}", id_=name, metadata={"created_at": said}))
    with AdaptiveMemoryRetriever.from_index(index) as ours:
        found = ours.retrieve("tea")
        assert {ours.memory.get(one.node.node_id).created_at for one in found} == {1_714_557_600.0}
        noon = datetime(2024, 5, 1, 12)
        with pytest.raises(InvalidInputError, match="time zone"):
            ours.retrieve("tea", now=noon)
        assert len(ours.retrieve("tea", now=noon.replace(tzinfo=timezone.utc), reinforce=False)) == 2


def test_a_post_processors_threshold_leaves_out_what_is_below(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=6) as ours:
        ours.retrieve("tea")
        assert ours.last_recall is not None
        near = sorted(hit.similarity for hit in ours.last_recall)
    plain = index.as_retriever(similarity_top_k=6).retrieve("tea")
    with AdaptiveMemoryPostprocessor.from_index(index, min_similarity=near[4] - 1e-6) as ranker:
        assert len(ranker.postprocess_nodes(plain, query_str="tea")) == 2


async def test_a_blocks_threshold_leaves_out_what_is_below(memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember_many(["I drink green tea", "the car is red"])
    asked = [ChatMessage(role="user", content="green tea I drink")]
    with AdaptiveMemoryBlock(memory, user_id="alice", min_similarity=0.5) as block:
        told = await block.aget(asked)
        assert "green tea" in told
        assert "car" not in told
        block.min_similarity = None
        assert "car" in await block.aget(asked)


@pytest.mark.parametrize("reader", READERS)
def test_flushing_writes_back_at_once(index: VectorStoreIndex, collection: Collection, reader: Any) -> None:
    late = Keeping(lag_seconds=3_600.0)
    with (
        AdaptiveMemoryRetriever.from_index(index, keeping=late, similarity_top_k=1) as retriever,
        reader.from_index(index, keeping=late) as ours,
    ):
        retriever.retrieve("tea")
        ours.flush()
        rows: Any = collection.get(include=["metadatas"])["metadatas"]
        assert sum(int(row.get("retrieval_count", 0)) for row in rows) == 1


@pytest.mark.parametrize("fallback", ["handbook", EVERYONE])
async def test_who_has_nothing_reads_what_is_shared(collection: Collection, fallback: Any) -> None:
    index = index_over(collection)
    whose = {} if fallback is EVERYONE else {"user_id": fallback}
    index.insert(Document(text="tea is at four", metadata=whose))
    index.insert(Document(text="tea of bob", metadata={"user_id": "bob"}))
    with AdaptiveMemoryRetriever.from_index(index, user_id="new", fallback=fallback, shared=["handbook"]) as ours:
        other = ours.for_user("other")
        assert texts(other.retrieve("tea")) == texts(await other.aretrieve("tea")) == ["tea is at four"]
        with AdaptiveMemoryBlock.from_index(index, fallback=fallback, shared=["handbook"]) as block:
            told = await block.aget([ChatMessage(role="user", content="tea?")], session_id="monday")
            assert "tea is at four" in told
            assert "shared: " in told
    for user in (None, "new"):
        with pytest.raises(ScopeError, match="not declared to be shared"):
            AdaptiveMemoryBlock.from_index(index, user_id=user, fallback="unheard of")


def test_an_empty_question_finds_nothing_whatever_is_asked_besides(collection: Collection) -> None:
    with AdaptiveMemoryRetriever.from_collection(collection, HashedWords()) as ours:
        assert ours.retrieve("", similarity_top_k=3) == []


@pytest.mark.parametrize("reader", [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor])
def test_an_unknown_argument_is_refused_with_the_names_that_are_allowed(index: VectorStoreIndex, reader: Any) -> None:
    with pytest.raises(TypeError, match=r"no argument 'ledgr'\. Did you mean 'ledger'\? Allowed: .*, ledger, fields"):
        reader.from_index(index, ledgr="x")


@pytest.mark.parametrize("reader", [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor, AdaptiveMemoryBlock])
def test_what_reads_a_memory_is_not_pickled_and_says_where_to_make_it(index: VectorStoreIndex, reader: Any) -> None:
    with reader.from_index(index, user_id="alice") as ours, pytest.raises(TypeError, match="in the process that uses"):
        pickle.dumps(ours)


def test_the_name_of_a_preset_is_no_policy(index: VectorStoreIndex) -> None:
    with pytest.raises(ValueError, match="policy is 'support'"):
        AdaptiveMemoryPostprocessor.from_index(index, policy="support")


@pytest.mark.parametrize("kind", [AdaptiveMemoryRetriever, AdaptiveMemoryPostprocessor])
def test_an_argument_that_there_is_not_is_named_also_beside_a_memory(memory: Any, kind: Any) -> None:
    meant = r"no argument 'k'\. Did you mean 'similarity_top_k' or 'top_n'\? .*, ledger, fields"
    with pytest.raises(TypeError, match=meant):
        kind(memory=memory.for_user("ana"), k=3)


def test_a_model_is_shown_the_name_of_an_episode_and_no_ids(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    known = user.observe(CONVERSATIONS)
    user.themes()
    first = AdaptiveMemoryRetriever(user, policy=Policy(shape="top_down")).retrieve("beagle puppy shoes")[0].node
    shown = first.get_content(MetadataMode.LLM)
    assert first.metadata["episode"] in shown
    assert known[0] not in shown


def supports(question: str, answer: str, texts: Sequence[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if "tea" in text]


JUDGE = Judge(supports=supports, sufficient=lambda question, texts: True)


async def test_the_block_says_what_an_answer_rests_on(over: Open) -> None:
    ann = over().for_user("ann")
    ann.remember_many([{"id": str(n), "text": text} for n, text in enumerate(TEXTS)])
    block = AdaptiveMemoryBlock(ann, judge=JUDGE, similarity_top_k=3)
    await block.aget([ChatMessage(role="user", content="who drinks tea or coffee?")])
    assert block.feedback(block.last_recall, answer="Alice.") == 3
    assert await block.afeedback(block.last_recall, answer="Alice.") == 0
    assert ann.get("0").read.helpful == 1
