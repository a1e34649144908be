"""What is saved and counted in an agent's turn, whatever else is done to its messages? Real agents and middlewares."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import PIIMiddleware, SummarizationMiddleware
from langchain.agents.middleware.types import ModelRequest
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime
from pydantic import BaseModel

from adaptive_memory_core import InvalidInputError, NotFoundError, UserMemory
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from langchain_adaptive_memory.tools import create_recall_tool
from tests.conftest import Clock
from tests.langchain_adaptive_memory.scripted_agent import Scripted, ask, call, says

THREAD: Any = {"configurable": {"thread_id": "1"}}
KNOWN = {"Ana drinks green tea.", "Ana sails old ships."}


def agent_of(model: Scripted, *middleware: Any, **options: Any) -> Any:
    options.setdefault("checkpointer", InMemorySaver())
    return create_agent(model, options.pop("tools", []), middleware=list(middleware), **options)


def saved(scope: UserMemory) -> set[str]:
    return {hit.text for hit in scope.recall("everything", k=100, reinforce=False)} - KNOWN


def before_the_agent(agent: Any, thread: Any = THREAD) -> Any:
    """The checkpoint of the first turn, with its question and before anything was done about it."""
    states = [one for one in agent.get_state_history(thread) if len(one.values.get("messages", ())) == 1]
    return states[-1].config


def test_a_summary_is_never_saved_in_place_of_the_users_words(ana: UserMemory) -> None:
    summing = SummarizationMiddleware(says("They spoke of teapots."), trigger=("messages", 3), keep=("messages", 1))
    remembering = AdaptiveMemoryMiddleware(ana, save="user")
    agent = agent_of(says("Fine."), summing, remembering)
    for question in ("My teapot is made of iron.", "My kettle is made of copper.", "My cup is made of wood."):
        agent.invoke(ask(question), THREAD)
    said = [one.text for one in agent.get_state(THREAD).values["messages"]]
    assert any("teapots" in text for text in said), "it was summed up"
    assert saved(ana) == {"My teapot is made of iron.", "My kettle is made of copper.", "My cup is made of wood."}


def test_a_question_that_is_summed_up_during_its_turn_is_saved_and_answered_for(ana: UserMemory) -> None:
    model = says(call("recall_memory", 1, query="tea"), call("recall_memory", 2, query="tea"), "Green tea [m1].")
    summing = SummarizationMiddleware(says("They spoke of tea."), trigger=("messages", 3), keep=("messages", 1))
    agent = agent_of(model, AdaptiveMemoryMiddleware(ana, save="user"), summing, tools=[create_recall_tool(ana)])
    agent.invoke(ask("what does Ana drink in the evening?"), THREAD)
    assert not any(one.text == "what does Ana drink in the evening?" for one in model.shown[-1]), "it was summed up"
    assert "green tea" in model.evidence()[-1]
    assert saved(ana) == {"what does Ana drink in the evening?"}
    assert (ana.stats().recalls, ana.stats().verdicts) == (1, 1)


def test_a_turn_that_is_done_over_is_counted_and_praised_once(ana: UserMemory) -> None:
    agent = agent_of(says("Green tea [m1]."), AdaptiveMemoryMiddleware(ana, save="turn"))
    agent.invoke(ask("what does Ana drink?"), THREAD)
    start = before_the_agent(agent)
    state = ana.get("tea").read
    for _ in range(3):
        agent.invoke(None, start)
    assert ana.get("tea").read == state
    stats = ana.stats()
    assert (stats.recalls, stats.verdicts, stats.records) == (1, 1, 3)


def test_an_edited_message_leaves_one_version(ana: UserMemory) -> None:
    agent = agent_of(says("Noted."), AdaptiveMemoryMiddleware(ana, save="user"))
    agent.invoke({"messages": [HumanMessage("my sister is called Zora", id="q1")]}, THREAD)
    start = before_the_agent(agent)
    edited = agent.update_state(start, {"messages": [HumanMessage("my sister is called Nora", id="q1")]})
    agent.invoke(None, edited)
    assert saved(ana) == {"my sister is called Nora"}


def test_all_messages_of_one_turn_are_saved(ana: UserMemory) -> None:
    both = [HumanMessage("my cat is called Turing"), HumanMessage("and my dog is called Ada")]
    agent_of(says("Noted."), AdaptiveMemoryMiddleware(ana, save="user")).invoke({"messages": both}, THREAD)
    assert saved(ana) == {"my cat is called Turing", "and my dog is called Ada"}


@pytest.mark.parametrize("save", ["user", "turn", lambda said, answer: said])
def test_what_is_saved_is_observed_and_has_themes(ana: UserMemory, save: Any) -> None:
    agent = agent_of(
        says("Beagles need long walks, so plan an hour each day."), AdaptiveMemoryMiddleware(ana, save=save)
    )
    for text in ("I adopted a beagle puppy in May.", "My beagle puppy chews shoes.", "The puppy loves long walks."):
        agent.invoke(ask(text), THREAD)
    themes = ana.themes()
    assert themes.statistics.messages == 3
    assert any("puppy" in one.name for one in themes)
    assert "Assistant: User" not in str(themes)
    assert {one.session for one in ana.hierarchy().episodes.values()} == {"1"}


def test_a_turn_that_is_saved_again_is_the_same_message(ana: UserMemory, clock: Clock) -> None:
    middleware = AdaptiveMemoryMiddleware(ana, save="turn")
    state: Any = {"messages": [HumanMessage("my cat is called Turing", id="1"), AIMessage("Noted.")]}
    middleware.after_agent(state, Runtime(), THREAD)
    ((saved_id, episode),) = ana.hierarchy().episode_of.items()
    before = ana.get(saved_id).created_at
    clock.pass_seconds(60)
    middleware.after_agent(state, Runtime(), THREAD)
    assert ana.get(saved_id).created_at == before
    assert ana.hierarchy().episode_of == {saved_id: episode}


def test_a_turn_of_two_messages_is_saved_whole(ana: UserMemory) -> None:
    both = [HumanMessage("my cat is called Turing"), HumanMessage("and my dog?")]
    agent_of(says("I do not know."), AdaptiveMemoryMiddleware(ana, save="turn")).invoke({"messages": both}, THREAD)
    assert saved(ana) == {"User: my cat is called Turing\nUser: and my dog?\nAssistant: I do not know."}


class Drink(BaseModel):
    """What to drink."""

    advice: str


def test_a_structured_answer_is_saved_and_judged(ana: UserMemory) -> None:
    model = says(call("Drink", advice="Green tea [m1]."))
    agent = agent_of(model, AdaptiveMemoryMiddleware(ana, save="turn"), response_format=ToolStrategy(Drink))
    out = agent.invoke(ask("what does Ana drink?"), THREAD)
    assert out["structured_response"] == Drink(advice="Green tea [m1].")
    assert saved(ana) == {'User: what does Ana drink?\nAssistant: {"advice":"Green tea."}'}
    assert ana.get("tea").read.helpful == 1


@pytest.mark.parametrize("run", [False, True], ids=["blocking", "async"])
async def test_what_a_middleware_redacts_reaches_neither_the_log_nor_the_memory(ana: UserMemory, run: bool) -> None:
    redacting = PIIMiddleware("email", strategy="redact")
    model = says("Noted.")
    agent = agent_of(model, redacting, AdaptiveMemoryMiddleware(ana, save="turn"))
    question = ask("write to ana@example.com about green tea")
    await agent.ainvoke(question, THREAD) if run else agent.invoke(question, THREAD)
    assert "ana@example.com" not in repr(ana.recalls())
    assert saved(ana) == {"User: write to [REDACTED_EMAIL] about green tea\nAssistant: Noted."}


@pytest.mark.parametrize("save", ["user", "turn"])
@pytest.mark.parametrize("said", ["hello there", "Thanks a lot!", "x" * 3_000, "?!"], ids=["hi", "ty", "wall", "signs"])
def test_greetings_and_pasted_walls_are_not_kept(ana: UserMemory, save: Any, said: str) -> None:
    agent_of(says("You are welcome."), AdaptiveMemoryMiddleware(ana, save=save)).invoke(ask(said), THREAD)
    assert saved(ana) == set()


def test_a_function_says_what_is_kept(ana: UserMemory) -> None:
    given: list[tuple[str, str]] = []

    def chosen(said: str, answer: str) -> list[str] | str | None:
        given.append((said, answer))
        return {"a": None, "b": "only this", "c": ["one of two", "two of two"]}[said]

    agent = agent_of(says("Yes [m1]."), AdaptiveMemoryMiddleware(ana, save=chosen))
    for said in "abc":
        agent.invoke(ask(said), THREAD)
    assert given == [("a", "Yes."), ("b", "Yes."), ("c", "Yes.")]
    assert saved(ana) == {"only this", "one of two", "two of two"}


async def test_a_save_that_cannot_be_called_is_refused(ana: UserMemory) -> None:
    async def later(said: str, answer: str) -> str:
        return said

    for wrong in ("all", 5, later):
        with pytest.raises(InvalidInputError, match="save is"):
            AdaptiveMemoryMiddleware(ana, save=wrong)  # type: ignore[arg-type]


def test_what_is_said_twice_in_a_conversation_is_kept_once(ana: UserMemory) -> None:
    agent = agent_of(says("Noted."), AdaptiveMemoryMiddleware(ana, save="user"))
    for _ in range(3):
        agent.invoke(ask("water the plants on Friday"), THREAD)
    assert ana.stats().records == 3


async def test_agents_do_not_queue_behind_the_event_loops_executor(ana: UserMemory) -> None:
    gate, middleware = threading.Event(), AdaptiveMemoryMiddleware(ana, save="user")
    loop = asyncio.get_running_loop()
    waiting = [loop.run_in_executor(None, gate.wait) for _ in range(100)]  # nobody is free in it
    state: Any = {"messages": [HumanMessage("what does Ana drink?", id="1")]}

    async def turn() -> None:
        state.update(await middleware.abefore_model(state, Runtime()))
        request: Any = ModelRequest(model=says(""), messages=state["messages"], state=state, runtime=Runtime())
        await middleware.awrap_model_call(request, answer)
        state["messages"].append(AIMessage("Tea [m1]."))
        await middleware.aafter_agent(state, Runtime())

    async def answer(request: Any) -> Any:
        assert "green tea" in request.messages[0].text

    try:
        await asyncio.wait_for(turn(), timeout=60)
        assert ana.get("tea").read.helpful == 1
        assert saved(ana) == {"what does Ana drink?"}
    finally:
        gate.set()
        await asyncio.gather(*waiting)


async def test_feedback_on_what_an_agent_gave_back_judges_all_of_its_turn(ana: UserMemory) -> None:
    ana.remember("never any black coffee", id="coffee")
    remembering = AdaptiveMemoryMiddleware(ana, k=1, cite=False)
    lookup = create_recall_tool(ana, k=1)
    agent = agent_of(says(call("recall_memory", 1, query="black coffee"), "Green tea."), remembering, tools=[lookup])
    out = await agent.ainvoke(ask("what does Ana drink, green tea?"), THREAD)
    assert remembering.feedback(helpful=out, config=THREAD) == 2
    assert await remembering.afeedback(helpful=out, config=THREAD) == 0
    assert [ana.get(one).read.helpful for one in ("tea", "coffee", "ships")] == [1, 1, 0]
    with pytest.raises(NotFoundError):
        remembering.feedback(helpful=out, config={"configurable": {"thread_id": "another"}})
