"""Is one question one read, whichever way LlamaIndex answers it?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever, RouterRetriever
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index_instrumentation import get_dispatcher

from adaptive_memory_core.errors import InvalidInputError
from llama_adaptive_memory import (
    AdaptiveMemoryBlock,
    AdaptiveMemoryPostprocessor,
    AdaptiveMemoryRetriever,
    one_question,
)
from llama_adaptive_memory.turns import this_question
from tests.llama_adaptive_memory.conftest import EVERY_READ, TEXTS, agent


@pytest.fixture
def retriever(index: VectorStoreIndex) -> Iterator[AdaptiveMemoryRetriever]:
    """Finds all six records, always; without a floor only the question keeps reads from counting twice."""
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=6, policy=EVERY_READ) as ours:
        yield ours


def questions(retriever: AdaptiveMemoryRetriever) -> int:
    """How many there were: every record was read once in each."""
    stats = retriever.memory.stats()
    assert stats.reads == len(TEXTS) * stats.recalls
    return stats.recalls


class Both(BaseSelector):
    """Chooses the first two tools."""

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: dict[str, Any]) -> None:
        pass

    def _select(self, choices: Any, query: Any) -> SelectorResult:
        return SelectorResult(selections=[SingleSelection(index=one, reason="both") for one in (0, 1)])

    async def _aselect(self, choices: Any, query: Any) -> SelectorResult:
        return self._select(choices, query)


class Variants(MockLLM):
    """Thinks of three other ways to ask."""

    def _generate_text(self, length: int) -> str:
        return "green tea\nblack coffee\npaid invoice"


def fusion(retriever: AdaptiveMemoryRetriever, *, use_async: bool) -> QueryFusionRetriever:
    return QueryFusionRetriever([retriever], num_queries=4, use_async=use_async, llm=Variants(max_tokens=8))


def router(retriever: AdaptiveMemoryRetriever) -> RouterRetriever:
    tools = [RetrieverTool.from_defaults(retriever, description=one) for one in ("one", "other")]
    return RouterRetriever(selector=Both(), retriever_tools=tools, llm=MockLLM())


def looking(tool: Any, rounds: int = 2) -> FunctionAgent:
    """An agent that calls the tool so many times, then answers."""
    return agent([tool], [("memory", {"input": f"tea {number}"}) for number in range(rounds)])


def retriever_tool(retriever: AdaptiveMemoryRetriever) -> RetrieverTool:
    return RetrieverTool.from_defaults(retriever, name="memory", description="what is known")


def test_each_retrieval_is_a_question(retriever: AdaptiveMemoryRetriever) -> None:
    for _ in range(3):
        retriever.retrieve("tea")
    assert questions(retriever) == 3


@pytest.mark.parametrize("use_async", [True, False])
async def test_a_fusion_of_four_queries_is_one_question(retriever: AdaptiveMemoryRetriever, use_async: bool) -> None:
    fused = fusion(retriever, use_async=use_async)
    await asyncio.to_thread(fused.retrieve, "tea")
    assert retriever.memory.recalls(limit=1)[0].step == 1
    assert len(retriever.memory.recalls()) == 4
    await fused.aretrieve("tea")
    RetrieverQueryEngine.from_args(fusion(retriever, use_async=False)).query("tea")
    assert questions(retriever) == 3


async def test_a_router_with_two_choices_is_one_question(retriever: AdaptiveMemoryRetriever) -> None:
    router(retriever).retrieve("tea")
    await router(retriever).aretrieve("tea")
    assert questions(retriever) == 2


async def test_a_query_engine_is_one_question_a_query(retriever: AdaptiveMemoryRetriever) -> None:
    engine = RetrieverQueryEngine.from_args(retriever)
    engine.query("tea")
    await engine.aquery("tea")
    assert questions(retriever) == 2


@pytest.mark.parametrize("kind", ["retriever", "query engine"])
async def test_an_agent_run_with_several_tool_rounds_is_one_question(
    retriever: AdaptiveMemoryRetriever, kind: str
) -> None:
    engine = RetrieverQueryEngine.from_args(retriever)
    tool = {
        "retriever": retriever_tool(retriever),
        "query engine": QueryEngineTool.from_defaults(engine, name="memory", description="what is known"),
    }[kind]
    for _ in range(2):
        await looking(tool).run("what tea?")
    assert len(retriever.memory.recalls()) == 4
    assert questions(retriever) == 2


async def test_runs_at_the_same_time_are_questions_of_their_own(retriever: AdaptiveMemoryRetriever) -> None:
    flow = AgentWorkflow(agents=[looking(retriever_tool(retriever))])
    await asyncio.gather(*(flow.run("what tea?") for _ in range(5)))
    assert questions(retriever) == 5


async def test_an_agent_s_tool_and_its_memory_block_share_the_question(
    index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever
) -> None:
    block = AdaptiveMemoryBlock(retriever.memory, similarity_top_k=6, policy=EVERY_READ)
    memory = Memory.from_defaults(session_id="s", memory_blocks=[block])
    await looking(retriever_tool(retriever), rounds=1).run("what tea?", memory=memory)
    assert questions(retriever) == 1
    await looking(retriever_tool(retriever), rounds=1).run("what tea?", memory=memory)
    assert questions(retriever) == 2


def test_a_retriever_and_a_post_processor_in_one_engine_share_the_question(
    index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever
) -> None:
    with AdaptiveMemoryPostprocessor.from_index(index, policy=EVERY_READ) as ranker:
        RetrieverQueryEngine.from_args(retriever, node_postprocessors=[ranker]).query("tea")
    assert questions(retriever) == 1


def test_several_calls_can_be_named_one_question(retriever: AdaptiveMemoryRetriever) -> None:
    with one_question() as first:
        retriever.retrieve("tea")
        retriever.retrieve("coffee")
    with one_question() as second:
        retriever.retrieve("tea")
    with one_question(first):
        retriever.retrieve("tea again")
    assert first != second
    assert questions(retriever) == 2
    assert this_question() is None


@pytest.mark.parametrize("name", ["", " "])
def test_a_question_needs_a_name_that_can_be_stored(name: str) -> None:
    with pytest.raises(InvalidInputError), one_question(name):
        pass


async def test_tasks_inherit_the_named_question(retriever: AdaptiveMemoryRetriever) -> None:
    with one_question():
        await asyncio.gather(*(retriever.aretrieve("tea") for _ in range(4)))
    assert questions(retriever) == 1


async def test_evaluating_reads_nothing(index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever) -> None:
    retriever.reinforce = False
    evaluator = RetrieverEvaluator.from_metric_names(
        ["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"], retriever=retriever
    )
    best = retriever.retrieve("alice drinks green tea")[0].node.node_id
    result = await evaluator.aevaluate(query="alice drinks green tea", expected_ids=[best])
    assert result.metric_vals_dict["mrr"] == 1.0
    assert evaluator.evaluate(query="alice drinks green tea", expected_ids=[best]).metric_vals_dict["hit_rate"] == 1.0
    assert questions(retriever) == 0


def test_where_somebody_takes_the_span_handlers_away_each_call_is_a_question_until_one_is_opened_again(
    index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever
) -> None:
    root = get_dispatcher("root")
    before = list(root.span_handlers)
    root.span_handlers = []
    try:
        router(retriever).retrieve("tea")
        assert questions(retriever) == 2
        with AdaptiveMemoryRetriever.from_index(index):
            router(retriever).retrieve("tea")
        assert questions(retriever) == 3
    finally:
        root.span_handlers = before


@pytest.mark.parametrize("make", [lambda r: r.retrieve, lambda r: RetrieverQueryEngine.from_args(r).query])
def test_nothing_is_kept_of_questions_that_are_answered(
    retriever: AdaptiveMemoryRetriever, make: Callable[[AdaptiveMemoryRetriever], Callable[[str], object]]
) -> None:
    from llama_adaptive_memory import turns

    make(retriever)("tea")
    assert turns._outermost == {}
