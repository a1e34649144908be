"""Do LlamaIndex's parts find a team's documents for each reader, and learn of them for that reader alone?"""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.schema import TextNode

from adaptive_memory_core import AdaptiveMemory, ScopeError
from llama_adaptive_memory import AdaptiveMemoryBlock, AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever
from llama_adaptive_memory.tools import create_recall_tool
from tests.llama_adaptive_memory.conftest import texts

OVER: dict[str, Any] = {"over": "everyone"}


def helpful(retriever: AdaptiveMemoryRetriever, user: str, one: str) -> int:
    return retriever.for_user(user).memory.get(one).read.helpful


async def test_a_retriever_finds_both_and_learns_for_its_user_alone(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index, "ana", similarity_top_k=3, **OVER) as ana:
        ana.memory.remember("ana drinks green tea at four", id="mine")
        found = ana.retrieve("green tea")
        assert {"ana drinks green tea at four", "alice drinks green tea"} <= set(texts(found))
        assert "ana drinks green tea at four" not in texts(await ana.for_user("ben").aretrieve("green tea"))
        shared = next(one for one in found if "alice" in one.node.get_content())
        assert ana.feedback(helpful=shared) == 1
        assert await ana.afeedback(unhelpful=shared.node.node_id) == 1
        assert ana.feedback(helpful=shared) == 1
        assert [helpful(ana, one, shared.node.node_id) for one in ("ana", "ben")] == [1, 0]
        assert [one.id for one in ana.forget(found)] == ["mine"]
        with pytest.raises(ScopeError, match="everyone's"):
            ana.forget(shared)
        assert len(ana.retrieve("green tea", user_id="ben")) == 3


async def test_a_post_processor_ranks_and_learns_for_its_user(index: VectorStoreIndex) -> None:
    nodes = index.as_retriever(similarity_top_k=4).retrieve("tea for alice")
    with (
        AdaptiveMemoryPostprocessor.from_index(index, "ana") as alone,
        AdaptiveMemoryPostprocessor.from_index(index, "ana", **OVER) as ana,
        AdaptiveMemoryPostprocessor.from_index(index) as everyone,
    ):
        assert alone.postprocess_nodes(nodes, query_str="tea for alice") == []
        ranked = ana.postprocess_nodes(nodes, query_str="tea for alice")
        assert len(ranked) == len(await ana.apostprocess_nodes(nodes, query_str="tea for alice")) == 4
        best = ranked[0].node.node_id
        assert ana.feedback(helpful=ranked[0]) == 1
        assert (ana.memory.get(best).read.helpful, everyone.memory.get(best).read.helpful) == (1, 0)
        assert everyone.memory.get(best).read.retrieval_count == 0


def test_a_post_processor_of_one_users_memory_says_what_it_reads(memory: AdaptiveMemory) -> None:
    ours = AdaptiveMemoryPostprocessor(memory.for_user("ana", over="everyone"))
    assert (ours.user_id, ours.over) == ("ana", "everyone")


async def test_a_block_shows_a_chat_what_is_everyones(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryBlock.from_index(index, user_id="ana", similarity_top_k=2, **OVER) as block:
        memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])
        shown = "\n".join(one.content or "" for one in await memory.aget("alice's green tea"))
        assert "alice drinks green tea" in shown
        assert "shared: everyone" in shown
        await block.aput(
            [ChatMessage(role="user", content="my tea is cold", additional_kwargs={"session_id": "monday"})]
        )
        assert [hit.shared for hit in block.memory.recall("my tea is cold", k=1)] == [None]
    with AdaptiveMemoryBlock.from_index(index, similarity_top_k=2, **OVER) as block:  # a session that is nobody's
        assert "alice drinks green tea" in await block.aget([ChatMessage("alice's green tea")], session_id="monday")


async def test_a_tool_shows_an_agent_what_is_everyones(memory: AdaptiveMemory) -> None:
    memory.for_everyone().remember("the office drinks green tea")
    tool = create_recall_tool(memory, user_id="ana", **OVER)
    for told in (tool.call("green tea"), await tool.acall("green tea")):
        assert "shared: everyone] the office drinks green tea" in told.content


def test_what_cannot_be_read_over_is_refused_at_once(index: VectorStoreIndex, memory: AdaptiveMemory) -> None:
    with pytest.raises(ScopeError, match="over is"):
        AdaptiveMemoryRetriever.from_index(index, "ana", over="bob")
    with pytest.raises(ScopeError, match="over is"):
        create_recall_tool(memory, user_id="ana", over="bob")  # type: ignore[arg-type] # that is the test
    with pytest.raises(ScopeError):
        AdaptiveMemoryRetriever.from_index(index, "ana", fallback="handbook", **OVER)


async def test_an_index_without_users_is_read_by_each_user_until_a_node_names_one(
    index: VectorStoreIndex, caplog: pytest.LogCaptureFixture
) -> None:
    plain = {one.node.node_id for one in index.as_retriever(similarity_top_k=9).retrieve("green tea")}
    with AdaptiveMemoryRetriever.from_index(index, "ana", similarity_top_k=9) as ana:
        ben = ana.for_user("ben")
        found = ana.retrieve("green tea")
        for nodes in (
            found,
            await ana.aretrieve("green tea"),
            ben.retrieve("green tea"),
            ana.retrieve("tea", user_id=7),
        ):
            assert {one.node.node_id for one in nodes} == plain
        assert ana.explain_last().count("no record of the collection names a user") == 1
        assert ana.feedback(helpful=found[0]) == 1
        one = found[0].node.node_id
        whole: Any = ana.memory.memory
        read = [whole.for_user(name, over="everyone").get(one).read for name in ("ana", "ben")]
        assert [each.helpful for each in read] == [1, 0], "what is learned is the reader's alone"
        cited = CitationQueryEngine(ben, MockLLM(max_tokens=4)).query("green tea")
        assert ben.feedback(helpful=cited) == len(plain)
        index.insert_nodes([TextNode(text="bob drinks green tea", id_="bobs", metadata={"user_id": "bob"})])
        assert ana.retrieve("green tea") == await ben.aretrieve("green tea") == []
        assert [one.node.node_id for one in ana.retrieve("green tea", user_id="bob")] == ["bobs"]
    assert len([one for one in caplog.records if "names a user" in one.message]) == 2, "both are said once"


def test_the_first_memory_of_a_user_ends_it_for_an_open_retriever(index: VectorStoreIndex) -> None:
    with (
        AdaptiveMemoryRetriever.from_index(index, "ana") as ana,
        AdaptiveMemoryRetriever.from_index(index, "ana", over=None) as strict,
    ):
        with pytest.warns(UserWarning, match="name no user"):
            assert strict.retrieve("green tea") == []
        assert len(ana.retrieve("green tea")) == 2
        ana.for_user("bob").memory.remember("bob drinks green tea", id="bobs")
        assert ana.retrieve("green tea") == []


def test_one_users_memory_that_is_given_stays_one_users(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index) as reader:
        whole: Any = reader.memory.memory
        assert len(AdaptiveMemoryRetriever(whole, user_id="ana").retrieve("tea")) == 2
        with pytest.warns(UserWarning, match="name no user"):
            assert AdaptiveMemoryRetriever(whole.for_user("ana")).retrieve("tea") == []
