"""What LlamaIndex's other parts do with a team's documents; the retriever's are in tests/adapters."""

from __future__ import annotations

from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import CitationQueryEngine

from adaptive_memory_core import AdaptiveMemory
from llama_adaptive_memory import AdaptiveMemoryBlock, AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever
from tests.llama_adaptive_memory.conftest import TEXTS

OVER: dict[str, Any] = {"over": "everyone"}


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


def test_a_retriever_that_is_lent_is_judged_by_what_cites_an_index_without_users(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index, "ana", similarity_top_k=9) as ana:
        ben = ana.for_user("ben")
        ben.retrieve("green tea")
        cited = CitationQueryEngine(ben, MockLLM(max_tokens=4)).query("green tea")
        assert ben.feedback(helpful=cited) == len(TEXTS)
