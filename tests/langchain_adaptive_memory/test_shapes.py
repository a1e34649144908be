"""Is a policy enough to give a LangChain retriever's answers another shape?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall
from pydantic import Field

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.context.clean import label
from langchain_adaptive_memory import AdaptiveMemoryRetriever
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from tests.behaviour.test_observe import CONVERSATIONS, PETS


async def test_top_down_gives_a_document_for_each_episode_and_episodes_the_hits(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    ids = user.observe(CONVERSATIONS)
    user.themes()
    retriever = AdaptiveMemoryRetriever(memory=user, k=4, reinforce=False)
    flat = [one.id for one in retriever.invoke("beagle puppy shoes")]
    assert [one.id for one in retriever.invoke("beagle puppy shoes", policy=Policy(shape="episodes"))] == flat
    down = retriever.invoke("beagle puppy shoes", policy=Policy(shape="top_down"))
    assert down[0].id in ids[:3]
    assert len([one for one in down if one.id in ids[:3]]) == 1
    own = AdaptiveMemoryRetriever(memory=user, k=4, reinforce=False, policy=Policy(shape="top_down"))
    assert [one.id for one in await own.ainvoke("beagle puppy shoes")] == [one.id for one in down]


class Model(GenericFakeChatModel):
    """Looks something up, then answers; keeps what it was shown."""

    shown: list[str] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.shown.append(messages[0].text)
        return super()._generate(messages, *args, **kwargs)


def agent(user: UserMemory, form: Any, k: int = 2, between: Callable[[], object] = lambda: None) -> tuple[Any, Model]:
    """An agent with two calls of the model in its turn, between which something else is done."""

    def look(what: str) -> str:
        """Look something up."""
        between()
        return what

    calls = [ToolCall(name="look", args={"what": "x"}, id="1", type="tool_call")]
    model = Model(messages=iter([AIMessage("", tool_calls=calls), AIMessage("Shoes [m1].")]))
    memory = AdaptiveMemoryMiddleware(user, k=k, policy=Policy(shape=form))
    return create_agent(model, tools=[look], middleware=[memory]), model


@pytest.mark.parametrize("form", ["episodes", "top_down"])
async def test_an_agent_is_shown_what_belongs_to_the_hits_as_the_memory_holds_it_now(
    memory: AdaptiveMemory, form: Any
) -> None:
    user = memory.for_user("alice")
    ids = user.observe(CONVERSATIONS)
    user.themes()
    theme = user.recall("beagle puppy shoes", k=2, reinforce=False, policy=Policy(shape=form)).outline.themes[0]
    question = {"messages": [HumanMessage("beagle puppy shoes", id="q")]}
    runs, model = agent(user, form, between=lambda: user.forget(ids[0]))
    result = await runs.ainvoke(question)
    first, second = model.shown
    assert first.index(PETS[1]) < first.index(PETS[2])
    assert PETS[0] in first
    assert PETS[0] not in second
    assert PETS[1] in second
    assert f"about {label(theme)}" in first
    assert "said beside it" in second
    assert PETS[1] not in str(result)
    runs, model = agent(user, "flat")
    runs.invoke(question)
    assert "said beside it" not in model.shown[0]
    assert "about " not in model.shown[0]


def test_an_agent_is_told_facts_of_episodes_that_are_not_shown(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    user.observe(CONVERSATIONS)
    user.themes()
    down = Policy(shape="top_down")
    found = user.recall("beagle puppy shoes", k=1, reinforce=False, policy=down)
    shown = [*(hit.text for hit in found), *(one.record.text for one in found.beside)]
    runs, model = agent(user, "top_down", k=1)
    runs.invoke({"messages": [HumanMessage("beagle puppy shoes", id="q")]})
    assert found.outline.facts
    for fact in found.outline.facts:
        assert any(fact.text in line and "distilled" in line for line in model.shown[0].splitlines())
        assert fact.text not in shown
