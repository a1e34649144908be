"""What does an agent do when what was recalled cannot be shown? It goes on without, or raises, as it was told."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.context.answer import Recall
from langchain_adaptive_memory import create_recall_tool
from langchain_adaptive_memory.agents import evidence
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from tests.langchain_adaptive_memory.scripted_agent import Context, agent_of, ask, says

SENTENCE = "The rock formed 999 decades ago."


def overflow(*_: Any, **__: Any) -> str:
    raise OverflowError("date value out of range")


async def test_the_tool_goes_on_without(alice: UserMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recall, "render", overflow)
    formats: tuple[Literal["content", "content_and_artifact"], ...] = ("content", "content_and_artifact")
    for answer in formats:
        tool = create_recall_tool(alice, response_format=answer)
        with pytest.warns(RuntimeWarning, match="out of range"):
            assert "cannot be used" in tool.invoke({"query": "tea"})
        with pytest.warns(RuntimeWarning, match="out of range"):
            assert "cannot be used" in await tool.ainvoke({"query": "tea"})
    strict = create_recall_tool(alice, on_error="raise")
    with pytest.raises(OverflowError):
        strict.invoke({"query": "tea"})
    with pytest.raises(OverflowError):
        await strict.ainvoke({"query": "tea"})


async def test_the_agent_goes_on_without(memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.for_user("ana").remember("Ana drinks green tea.")
    monkeypatch.setattr(evidence, "line", overflow)
    model = says("Tea.")
    agent = agent_of(model, AdaptiveMemoryMiddleware(memory, save="user"))
    with pytest.warns(RuntimeWarning, match="out of range"):
        assert agent.invoke(ask("What do I drink?"), context=Context("ana"))["messages"][-1].text == "Tea."
    with pytest.warns(RuntimeWarning, match="out of range"):
        await agent.ainvoke(ask("And what else?"), context=Context("ana"))
    assert memory.for_user("ana").recall("what else?")
    strict = agent_of(model, AdaptiveMemoryMiddleware(memory, on_error="raise"))
    with pytest.raises(OverflowError):
        strict.invoke(ask("What do I drink?"), context=Context("ana"))


def test_a_sentence_about_a_time_beyond_any_calendar_is_saved_recalled_and_shown(memory: AdaptiveMemory) -> None:
    model = says("Indeed.")
    agent = agent_of(model, AdaptiveMemoryMiddleware(memory, save="user"))
    for question in (SENTENCE, "How old is the rock?", "And in 999 decades?"):
        agent.invoke(ask(question), context=Context("ana"))
    assert SENTENCE in str(model.shown[1])
    assert SENTENCE in create_recall_tool(memory, user_id="ana").invoke({"query": "the rock"})
