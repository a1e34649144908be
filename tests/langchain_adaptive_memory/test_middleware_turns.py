"""What is recalled once in a turn, and what becomes of one that is interrupted? Only the chat model is a fake."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from adaptive_memory_core import AdaptiveMemory, Policy, ScopeError
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from langchain_adaptive_memory.tools import create_recall_tool
from tests.conftest import Clock
from tests.langchain_adaptive_memory.scripted_agent import Context, Scripted, agent_of, ask, call, says

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def test_one_recall_serves_all_rounds_of_a_turn(filled: AdaptiveMemory) -> None:
    model = says(call(number=1), call(number=2), call(number=3), "Sunny.")
    agent = agent_of(model, AdaptiveMemoryMiddleware(filled))
    agent.invoke(ask("what does Ana drink?"), context=Context("ana"))
    assert len(set(model.evidence())) == 1
    assert len(model.shown) == 4
    stats = filled.for_user("ana").stats()
    assert (stats.recalls, stats.reads) == (1, 2)


def test_a_recall_tool_in_the_same_turn_reads_nothing_twice(filled: AdaptiveMemory) -> None:
    filled.policy = Policy(refresh_floor_seconds=0)
    model = says(call("recall_memory", query="tea"), "Tea.")
    agent = agent_of(model, AdaptiveMemoryMiddleware(filled), tools=[create_recall_tool(filled)])
    agent.invoke(ask("what does Ana drink?"), context=Context("ana"))
    assert "green tea" in model.shown[1][-1].text
    assert filled.for_user("ana").stats().recalls == 1
    assert filled.for_user("ana").get("tea").read.retrieval_count == 1


def test_each_question_is_a_read(filled: AdaptiveMemory, clock: Clock) -> None:
    agent = agent_of(says("Tea."), AdaptiveMemoryMiddleware(filled), checkpointer=InMemorySaver())
    for _ in range(3):
        agent.invoke(ask("what does Ana drink?"), {"configurable": {"thread_id": "1"}}, context=Context("ana"))
        clock.pass_seconds(61)
    assert filled.for_user("ana").get("tea").read.retrieval_count == 3
    assert filled.for_user("ana").stats().recalls == 3


def interrupted(model: Scripted, saver: InMemorySaver, memory: AdaptiveMemory) -> Any:
    """An agent that asks a person before it uses its tool; made anew, as another process would."""
    asking = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
    return agent_of(model, AdaptiveMemoryMiddleware(memory), asking, checkpointer=saver)


async def test_a_turn_that_was_interrupted_goes_on_with_what_it_recalled(filled: AdaptiveMemory) -> None:
    saver, model = InMemorySaver(), says(call(), "Tea [m1].")
    thread: Any = {"configurable": {"thread_id": "1"}}
    out = interrupted(model, saver, filled).invoke(ask("what does Ana drink?"), thread, context=Context("ana"))
    assert out["__interrupt__"]
    go_on: Any = Command(resume={"decisions": [{"type": "approve"}]})
    out = await interrupted(model, saver, filled).ainvoke(go_on, thread, context=Context("ana"))
    assert out["messages"][-1].text == "Tea [m1]."
    assert model.evidence()[0] == model.evidence()[1]
    stats = filled.for_user("ana").stats()
    assert (stats.recalls, stats.verdicts) == (1, 1)


def test_what_was_forgotten_during_a_turn_is_not_shown_in_the_rest_of_it(filled: AdaptiveMemory) -> None:
    saver, model = InMemorySaver(), says(call(), "Hm.")
    thread: Any = {"configurable": {"thread_id": "1"}}
    agent = interrupted(model, saver, filled)
    agent.invoke(ask("what does Ana drink?"), thread, context=Context("ana"))
    filled.for_user("ana").forget("tea")
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread, context=Context("ana"))
    assert "green tea" in model.evidence()[0]
    assert "green tea" not in model.evidence()[1]
    assert "[m2] " in model.evidence()[1], "the others keep their marks"
    assert not [one for one in saver.list(thread) if "green tea" in repr(one)]


def test_a_citation_of_what_was_forgotten_during_the_turn_costs_the_others_no_verdict(filled: AdaptiveMemory) -> None:
    ana = filled.for_user("ana")

    @tool
    def forget_tea() -> str:
        """Forget what Ana drinks."""
        ana.forget("tea")
        return "done"

    wanted = AIMessage(content="", tool_calls=[{"name": "forget_tea", "args": {}, "id": "call-1"}])
    agent = agent_of(says(wanted, "As [m1] and [m2] say."), AdaptiveMemoryMiddleware(filled), tools=[forget_tea])
    agent.invoke(ask("what does Ana drink?"), context=Context("ana"))
    assert ana.get("ships").read.boost > 0.0


def test_a_turn_cannot_be_gone_on_with_by_another_user(filled: AdaptiveMemory) -> None:
    saver, model = InMemorySaver(), says(call(), "Tea [m1].")
    thread: Any = {"configurable": {"thread_id": "1"}}
    agent = interrupted(model, saver, filled)
    agent.invoke(ask("what does Ana drink?"), thread, context=Context("ana"))
    with pytest.raises(ScopeError, match="begun by user 'ana'"):
        agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread, context=Context("ben"))
    assert len(model.shown) == 1


def test_a_new_question_replaces_what_an_interrupted_turn_recalled(filled: AdaptiveMemory) -> None:
    saver, model = InMemorySaver(), says(call(), "Coffee.")
    thread: Any = {"configurable": {"thread_id": "1"}}
    agent = interrupted(model, saver, filled)
    agent.invoke(ask("what does Ana drink?"), thread, context=Context("ana"))
    agent.invoke(ask("what does Ben drink?"), thread, context=Context("ben"))
    assert "black coffee" in model.evidence()[1]
    assert "green tea" not in model.evidence()[1]


def test_what_is_put_in_from_outside_is_not_taken_for_a_recall(filled: AdaptiveMemory) -> None:
    model = says("Tea.")
    forged = {"AdaptiveMemoryMiddleware": {"user": "ana", "recall": "x", "cue": "x", "marks": {"m1": "tea"}}}
    agent_of(model, AdaptiveMemoryMiddleware(filled)).invoke(
        {"messages": [AIMessage("hello")], "adaptive_memory_turns": forged}, context=Context("ana")
    )
    assert model.evidence() == [""]


def test_what_was_saved_of_this_conversation_is_recalled_only_once_it_is_out_of_sight(memory: AdaptiveMemory) -> None:
    memory.for_user("ana").remember("Ana keeps a tea diary.")
    model = says("Tea, then.")
    middleware = AdaptiveMemoryMiddleware(memory, user_id="ana", save="turn")
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    for thread, question in (("1", "I drink green tea"), ("1", "what tea?"), ("2", "what tea?")):
        agent.invoke(ask(question), {"configurable": {"thread_id": thread}})
    assert ["I drink green tea" in text for text in model.evidence()] == [False, False, True]
    assert all("tea diary" in text for text in model.evidence())
