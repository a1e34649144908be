"""Does a verdict reach the recall that is meant, whatever LlamaIndex handed on?"""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor import LongContextReorder, SimilarityPostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_index.core.tools import RetrieverTool, ToolOutput

from adaptive_memory_core import AdaptiveMemory, NotFoundError
from adaptive_memory_core.errors import InvalidInputError
from llama_adaptive_memory import (
    AdaptiveMemoryBlock,
    AdaptiveMemoryPostprocessor,
    AdaptiveMemoryRetriever,
    one_question,
)
from tests.llama_adaptive_memory.conftest import agent, ids


@pytest.fixture
def ours(index: VectorStoreIndex) -> Iterator[AdaptiveMemoryRetriever]:
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=2) as retriever:
        yield retriever


def helpful(ours: Any, node: NodeWithScore) -> int:
    read = ours.memory.get(node.node.node_id).read
    return int(read.helpful)


def engine(ours: AdaptiveMemoryRetriever, **more: Any) -> RetrieverQueryEngine:
    return RetrieverQueryEngine.from_args(ours, llm=MockLLM(max_tokens=4), **more)


FORMS: dict[str, Callable[[list[NodeWithScore]], Any]] = {
    "nodes with scores": lambda found: found,
    "one node with its score": lambda found: found[0],
    "nodes": lambda found: [one.node for one in found],
    "ids": ids,
    "one id": lambda found: found[0].node.node_id,
    "a response": lambda found: Response("tea", source_nodes=found),
    "its source nodes": lambda found: Response("tea", source_nodes=found).source_nodes,
    "a tool's output": lambda found: ToolOutput(tool_name="look_up", content="tea", raw_input={}, raw_output=found),
    "copies": copy.deepcopy,
    "pickled": lambda found: pickle.loads(pickle.dumps(found)),
    "sent as json": lambda found: [TextNode.from_dict(json.loads(one.node.to_json())) for one in found],
    "wrapped anew": lambda found: [NodeWithScore(node=one.node.model_copy(), score=0.1) for one in found],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_that_an_answer_has_can_be_judged(ours: AdaptiveMemoryRetriever, form: str) -> None:
    found = ours.retrieve("tea")
    ours.retrieve("coffee")  # the last recall is another one
    given = FORMS[form](found)
    judged = 1 if form.startswith("one") else 2
    assert ours.feedback(helpful=given) == judged
    assert [helpful(ours, one) for one in found] == [1, judged - 1]
    assert ours.feedback(helpful=given) == 0


def test_a_node_names_its_recall_and_not_the_last_that_returned_it(ours: AdaptiveMemoryRetriever) -> None:
    (first, _), recall = ours.retrieve("tea"), ours.last_recall
    ours.retrieve("tea")
    assert recall is not None
    ours.feedback(helpful=first)
    assert ours.memory.changes(first.node.node_id)[0].by == f"recall {recall.id}"


def test_the_note_is_in_no_text_no_hash_and_no_dump(ours: AdaptiveMemoryRetriever, index: VectorStoreIndex) -> None:
    plain = {one.node.node_id: one for one in index.as_retriever(similarity_top_k=6).retrieve("tea")}
    with AdaptiveMemoryPostprocessor.from_index(index) as ranker:
        for one in [*ours.retrieve("tea"), *ranker.postprocess_nodes(ours.retrieve("tea"), query_str="tea")]:
            twin = plain[one.node.node_id]
            assert (one.node.hash, one.node.to_dict(), one.node == twin.node) == (
                twin.node.hash,
                twin.node.to_dict(),
                True,
            )
            assert ours.last_recall is not None
            for mode in MetadataMode:
                assert one.node.get_content(mode) == twin.node.get_content(mode)
            for said in (one.model_dump_json(), repr(one), str(one), str(one.node.metadata)):
                assert "adaptive_memory" not in said


def test_what_is_gone_or_from_elsewhere_costs_the_others_nothing(ours: AdaptiveMemoryRetriever) -> None:
    found = ours.retrieve("tea")
    assert len(ours.forget([found[0], found[0].node])) == 1
    web = NodeWithScore(node=TextNode(text="tea on the web", id_="web"), score=0.5)
    assert ours.feedback(helpful=[*found, web, "never heard of"]) == 1
    assert helpful(ours, found[1]) == 1
    with pytest.raises(NotFoundError):
        ours.feedback(helpful=[found[0], web])


@pytest.mark.parametrize("wrong", [7, {"id": "d0"}, [None], object()])
def test_what_cannot_be_judged_is_refused_with_what_can(ours: AdaptiveMemoryRetriever, wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="Give ids, nodes, a response"):
        ours.feedback(helpful=wrong)


def test_an_answer_of_a_query_engine_is_judged_through_what_stands_behind_it(
    ours: AdaptiveMemoryRetriever, index: VectorStoreIndex
) -> None:
    with AdaptiveMemoryPostprocessor.from_index(index) as ranker:
        behind = [SimilarityPostprocessor(similarity_cutoff=0.0), ranker, LongContextReorder()]
        response = engine(ours, node_postprocessors=behind).query("tea?")
        assert ours.feedback(helpful=response) == 2  # once each, though two of ours looked
        assert ranker.feedback(unhelpful=response.source_nodes[0]) == 1  # a changed mind


def test_an_answer_of_a_fusion_is_judged_once_for_the_question(ours: AdaptiveMemoryRetriever) -> None:
    class Asking(MockLLM):
        def _generate_text(self, length: int) -> str:
            return "green tea\nblack tea"

    fusion = QueryFusionRetriever([ours], llm=Asking(max_tokens=4), num_queries=3, use_async=False, similarity_top_k=3)
    response = RetrieverQueryEngine.from_args(fusion, llm=MockLLM(max_tokens=4)).query("tea?")
    assert len(ours.memory.recalls()) == 3
    assert ours.feedback(helpful=response) == len(response.source_nodes)
    assert all(helpful(ours, one) == 1 for one in response.source_nodes)


def test_an_answer_of_a_chat_engine_is_judged(ours: AdaptiveMemoryRetriever) -> None:
    chat = ContextChatEngine.from_defaults(
        ours, llm=MockLLM(max_tokens=4), memory=ChatMemoryBuffer.from_defaults(token_limit=1_000)
    )
    assert ours.feedback(helpful=chat.chat("tea?")) == 2


async def test_an_agents_answer_is_judged_by_all_its_look_ups(ours: AdaptiveMemoryRetriever) -> None:
    tool = RetrieverTool.from_defaults(ours, name="look_up", description="looks up")
    output = await agent([tool], [("look_up", {"input": one}) for one in ("tea", "coffee")]).run("what do they drink?")
    returned = {one.id for recall in ours.memory.recalls() for one in recall.kept}
    assert len(ours.memory.recalls()) == 2
    assert await ours.afeedback(helpful=output) == len(returned) == 3


def test_a_question_s_name_means_all_that_was_returned_for_it(ours: AdaptiveMemoryRetriever) -> None:
    with one_question() as question:
        found = [*ours.retrieve("tea"), *ours.retrieve("coffee")]
    ours.retrieve("tea")
    assert ours.feedback(helpful=question) == len(set(ids(found)))
    with one_question() as second:
        ours.retrieve("tea")
    assert ours.feedback(unhelpful=ids(found), turn=second) == 2


async def test_what_a_block_recalled_is_judged_in_the_session_it_is_of(memory: AdaptiveMemory) -> None:
    block = AdaptiveMemoryBlock(memory)
    await block.aput([ChatMessage(role="user", content="I drink tea")], session_id="monday")
    await block.aget([ChatMessage(role="user", content="tea?")], session_id="monday")
    assert block.last_recall is not None
    assert block.feedback(helpful=block.last_recall, session_id="monday") == 1
    assert await block.afeedback(unhelpful=list(block.last_recall.ids), session_id="monday") == 1
    with pytest.raises(NotFoundError):
        block.feedback(helpful=block.last_recall, session_id="tuesday")
    assert len(block.forget(block.last_recall, session_id="monday")) == 1
    with pytest.raises(NotFoundError):
        await block.aforget(block.last_recall, session_id="monday")


@pytest.mark.parametrize("mode", [MetadataMode.NONE, MetadataMode.ALL])
async def test_an_answer_with_citations_is_judged_by_the_records_behind_them(
    index: VectorStoreIndex, mode: MetadataMode
) -> None:
    long = "Tea is at four. " * 30 + "Cake is at five. " * 30
    index.insert_nodes([TextNode(text=long, id_="long", metadata={"file": "day.md"})])
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=2) as ours:
        engine = CitationQueryEngine(
            ours, MockLLM(max_tokens=4), citation_chunk_size=64, citation_chunk_overlap=8, metadata_mode=mode
        )
        response = engine.query("tea at four, cake at five")
        ours.retrieve("coffee")  # the last recall is another one
        assert len(response.source_nodes) > 2, "the long record is cited in parts"
        assert ours.feedback(helpful=response) == 2
        assert ours.memory.get("long").read.helpful == 1
        assert await ours.afeedback(unhelpful=response.source_nodes[-1]) == 1
        unknown = TextNode(text="Source 1:\nNobody returned this.\n")
        with pytest.raises(NotFoundError):
            ours.feedback(helpful=unknown)
