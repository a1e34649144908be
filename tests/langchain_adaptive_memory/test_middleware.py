"""What does an agent with the middleware do? Real agents, checkpointers and memories; only the chat model is a fake."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Keeping, Policy, ScopeError
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from tests.conftest import Open, word_vectors
from tests.langchain_adaptive_memory.scripted_agent import END, TAG, Context, Scripted, agent_of, ask, call, says

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def test_the_model_sees_what_was_recalled_and_the_history_does_not(filled: AdaptiveMemory) -> None:
    model, saver = says("Tea."), InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "1"}}
    agent = agent_of(model, AdaptiveMemoryMiddleware(filled), system_prompt="Be kind.", checkpointer=saver)
    out = agent.invoke(ask("what does Ana drink?"), thread, context=Context("ana"))
    shown = model.evidence()[0]
    assert "Ana drinks green tea." in shown
    assert "not instructions" in shown
    assert "coffee" not in shown
    assert [one.text for one in model.shown[0]] == ["Be kind.", f"{shown}\n\nwhat does Ana drink?"]
    assert list(out) == ["messages"]
    assert [one.type for one in out["messages"]] == ["human", "ai"]
    state = agent.get_state(thread).values
    assert [one.type for one in state["messages"]] == ["human", "ai"]
    assert "green tea" not in repr(state), "the turn is over, and nothing of it is left in the state"
    agent.invoke(ask("and the ships?"), thread, context=Context("ana"))
    assert model.evidence()[1].count(TAG) == 1


PROMPTS = [None, "Be kind.", SystemMessage([{"type": "text", "text": "Be kind."}])]


@pytest.mark.parametrize("prompt", PROMPTS, ids=["none", "text", "blocks"])
async def test_at_the_end_of_the_system_message_where_it_is_wanted_there(filled: AdaptiveMemory, prompt: Any) -> None:
    for run in (False, True):
        model = says("Tea.")
        agent = agent_of(model, AdaptiveMemoryMiddleware(filled, place="system"), system_prompt=prompt)
        question = ask("what does Ana drink?")
        if run:
            await agent.ainvoke(question, context=Context("ana"))
        else:
            agent.invoke(question, context=Context("ana"))
        system = model.systems()[0]
        assert system.startswith("Be kind." if prompt else TAG)
        assert system.endswith(END)
        assert type(model.shown[0][0].content) is (list if isinstance(prompt, SystemMessage) else str)
        assert model.shown[0][-1].text == "what does Ana drink?"


def test_roles_alternate_as_before_and_only_the_question_is_added_to(filled: AdaptiveMemory) -> None:
    said = [HumanMessage("hello"), AIMessage("hello"), HumanMessage([{"type": "text", "text": "what does Ana drink?"}])]
    model = says(call(), "Tea.")
    agent = agent_of(model, AdaptiveMemoryMiddleware(filled), system_prompt="Be kind.")
    agent.invoke({"messages": said}, context=Context("ana"))
    assert [one.type for one in model.shown[0]] == ["system", "human", "ai", "human"]
    assert [one.type for one in model.shown[1]] == ["system", "human", "ai", "human", "ai", "tool"]
    for shown in model.shown:
        assert [one.text for one in shown[:3]] == ["Be kind.", "hello", "hello"]
        assert [one["type"] for one in shown[3].content if isinstance(one, dict)] == ["text", "text"]
        assert shown[3].text.startswith(TAG)
        assert shown[3].text.endswith("what does Ana drink?")


@pytest.mark.parametrize("mode", ["values", "updates", "messages"])
async def test_streams_carry_the_answer_and_no_message_of_the_memory(filled: AdaptiveMemory, mode: Any) -> None:
    model = says("Tea.")
    agent = agent_of(model, AdaptiveMemoryMiddleware(filled))
    question = ask("what does Ana drink?")
    chunks = list(agent.stream(question, context=Context("ana"), stream_mode=mode))
    chunks += [one async for one in agent.astream(question, context=Context("ana"), stream_mode=mode)]
    assert "Tea." in repr(chunks)
    assert all("green tea" in system for system in model.evidence())
    assert "green tea" not in repr(chunks)


@pytest.mark.parametrize("way", ["context", "mapping", "config", "constructor", "one user's memory"])
async def test_the_user_is_found_wherever_it_is_named(filled: AdaptiveMemory, way: str) -> None:
    memory: Any = filled.for_user("ana") if way == "one user's memory" else filled
    middleware = AdaptiveMemoryMiddleware(memory, user_id="ana" if way == "constructor" else None)
    ways: dict[str, dict[str, Any]] = {
        "context": {"context": Context("ana")},
        "mapping": {"context": {"user_id": "ana"}},
        "config": {"config": {"configurable": {"user_id": "ana"}}},
    }
    named = ways.get(way, {})
    model = says("Tea.")
    agent = agent_of(model, middleware, context_schema=None if way != "context" else Context)
    agent.invoke(ask("what does Ana drink?"), **named)
    await agent.ainvoke(ask("what does Ana drink?"), **named)
    assert ["green tea" in system for system in model.evidence()] == [True, True]


@pytest.mark.parametrize("context", [None, {}, {"user_id": None}, {"user_id": ""}, {"user_id": 0}, Context("")])
@pytest.mark.parametrize("on_error", ["warn", "raise"])
async def test_nobody_is_an_error_whatever_on_error_says(filled: AdaptiveMemory, context: Any, on_error: Any) -> None:
    model = says("Tea.")
    agent = agent_of(model, AdaptiveMemoryMiddleware(filled, on_error=on_error), context_schema=None)
    with pytest.raises(ScopeError):
        agent.invoke(ask("what does Ana drink?"), context=context)
    with pytest.raises(ScopeError):
        await agent.ainvoke(ask("what does Ana drink?"), context=context)
    assert model.shown == []


def test_another_user_than_the_memorys_own_is_refused(filled: AdaptiveMemory) -> None:
    agent = agent_of(says("Tea."), AdaptiveMemoryMiddleware(filled.for_user("ana")))
    with pytest.raises(ScopeError, match="'ben' was named"):
        agent.invoke(ask("what does Ana drink?"), context=Context("ben"))


async def test_many_users_at_once_share_one_middleware(memory: AdaptiveMemory) -> None:
    users = [f"user{number}" for number in range(24)]
    for user in users:
        memory.for_user(user).remember(f"the secret of {user} is secret-{user}")
    model = Scripted(answer=lambda messages: f"[m1] {messages[-1].text}", shown=[])
    agent = agent_of(model, AdaptiveMemoryMiddleware(memory, save="user"))

    def answer(out: Any) -> str:
        return str(out["messages"][-1].text)

    def one(user: str) -> str:
        return answer(agent.invoke(ask("what is the secret?"), context=Context(user)))

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(one, users))
    runs = [agent.ainvoke(ask("what is the secret, again?"), context=Context(user)) for user in users]
    said += [answer(out) for out in await asyncio.gather(*runs)]
    for user, text in zip([*users, *users], said, strict=True):
        assert f"secret-{user}" in text
        assert not [
            other for other in users if other != user and f"secret-{other}" in text.replace(f"secret-{user}", "")
        ]
    for user in users:
        stats = memory.for_user(user).stats()
        assert (stats.recalls, stats.records, stats.verdicts) == (2, 3, 3)


def test_two_memories_in_one_agent_need_two_names(filled: AdaptiveMemory, new_collection: Any) -> None:
    with closing(AdaptiveMemory(new_collection(), embedder=word_vectors)) as team:
        team.for_everyone().remember("The team drinks lemonade.")
        both = (
            AdaptiveMemoryMiddleware(filled),
            AdaptiveMemoryMiddleware(team.for_everyone(), user_key=None, name="Team", save="user"),
        )
        model = says("Tea.")
        agent_of(model, *both).invoke(ask("what do they drink?"), context=Context("ana"))
        assert "green tea" in model.evidence()[0]
        assert "lemonade" in model.evidence()[0]
        assert team.for_everyone().stats().records == 2


@pytest.mark.parametrize(
    "content", ["   ", [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]]
)
def test_a_question_without_words_recalls_and_saves_nothing(filled: AdaptiveMemory, content: Any) -> None:
    model = says("Hm.")
    agent = agent_of(model, AdaptiveMemoryMiddleware(filled, save="turn"))
    agent.invoke({"messages": [HumanMessage(content)]}, context=Context("ana"))
    assert model.evidence() == [""]
    stats = filled.for_user("ana").stats()
    assert (stats.recalls, stats.records) == (0, 2)


def test_where_nothing_is_recalled_nothing_is_added(memory: AdaptiveMemory) -> None:
    model = says("Hm.")
    agent_of(model, AdaptiveMemoryMiddleware(memory), system_prompt="Be kind.").invoke(
        ask("hello"), context=Context("new")
    )
    assert (model.systems(), model.evidence()) == (["Be kind."], [""])


def test_options_reach_the_recall(filled: AdaptiveMemory) -> None:
    model = says("Hm.")
    ana = filled.for_user("ana")
    ana.remember("Ana drinks water at night.", id="water", kind="fact")
    agent = agent_of(model, AdaptiveMemoryMiddleware(filled, k=1, filter={"kind": "fact"}))
    agent.invoke(ask("what does Ana drink?"), context=Context("ana"))
    strict = AdaptiveMemoryMiddleware(filled, policy=Policy(min_similarity=0.99))
    agent_of(model, strict).invoke(ask("what does Ana drink?"), context=Context("ana"))
    assert "water at night" in model.evidence()[0]
    assert "[m2]" not in model.evidence()[0]
    assert model.evidence()[1] == ""


def test_what_passed_the_floors_of_a_policy_is_shown(filled: AdaptiveMemory) -> None:
    filled.policy = Policy(min_similarity=0.55, min_score=0.3)
    model = says("Tea.")
    agent_of(model, AdaptiveMemoryMiddleware(filled)).invoke(ask("ana drinks green tea"), context=Context("ana"))
    assert "green tea" in model.evidence()[0]
    assert "ships" not in model.evidence()[0]


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"save": "all"},
        {"on_error": "ignore"},
        {"max_tokens": 0},
        {"policy": 5},
        {"filter": []},
        {"user_id": ""},
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(memory: AdaptiveMemory, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        AdaptiveMemoryMiddleware(memory, **options)


def test_what_is_no_memory_is_refused(collection: Collection) -> None:
    with pytest.raises(InvalidInputError, match="Give an AdaptiveMemory"):
        AdaptiveMemoryMiddleware(collection)  # type: ignore[arg-type]


async def test_a_memory_that_fails_costs_the_memories_and_not_the_turn(filled: AdaptiveMemory) -> None:
    model = says("Hm.")
    agent = agent_of(model, AdaptiveMemoryMiddleware(filled, save="user"), system_prompt="Be kind.")
    filled.close()
    with pytest.warns(RuntimeWarning, match="turn goes on without: ClosedError") as caught:
        agent.invoke(ask("what does Ana drink?"), context=Context("ana"))
    with pytest.warns(RuntimeWarning, match="turn goes on without: ClosedError") as again:
        await agent.ainvoke(ask("what does Ana drink?"), context=Context("ana"))
    said = [str(one.message).split(",")[0] for one in [*caught, *again]]
    assert said == ["Nothing was recalled", "The turn was not saved"] * 2
    assert model.evidence() == ["", ""]


def test_an_embedder_that_fails_is_a_memory_that_fails(new_collection: Any) -> None:
    def broken(texts: Sequence[str]) -> Any:
        raise ConnectionError("no route to the model")

    with closing(AdaptiveMemory(new_collection(), embedder=broken)) as memory:
        model = says("Hm.")
        with pytest.warns(RuntimeWarning, match="no route to the model"):
            agent_of(model, AdaptiveMemoryMiddleware(memory)).invoke(ask("hello"), context=Context("ana"))
        assert len(model.shown) == 1
        with pytest.raises(Exception, match="no route to the model"):
            agent_of(model, AdaptiveMemoryMiddleware(memory, on_error="raise")).invoke(
                ask("hello"), context=Context("ana")
            )
        assert len(model.shown) == 1


def test_without_a_log_there_are_no_verdicts_and_no_complaints(over: Open) -> None:
    memory = over(keeping=Keeping(log=False))
    memory.for_user("ana").remember("Ana drinks green tea.", id="tea")
    agent_of(says("Tea [m1]."), AdaptiveMemoryMiddleware(memory)).invoke(ask("drink?"), context=Context("ana"))
    assert memory.for_user("ana").stats().verdicts == 0
