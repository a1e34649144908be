"""What does an agent with the middleware do? Real agents, checkpointers and memories; only the chat model is a fake."""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
from chromadb import Collection
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Keeping, Policy, ScopeError
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from langchain_adaptive_memory.tools import create_recall_tool
from tests.conftest import Clock, word_vectors

TAG, END = "<recalled_memories>", "</recalled_memories>"


class Scripted(BaseChatModel):
    """Answers by a function of what it is shown, and keeps all that it was shown."""

    answer: Callable[[Sequence[BaseMessage]], AIMessage | str]
    shown: list[list[BaseMessage]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.shown.append(messages)
        said = self.answer(messages)
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(content=said) if isinstance(said, str) else said)]
        )

    def evidence(self) -> list[str]:
        """What each call was shown of a memory."""
        texts = ["\n".join(message.text for message in messages) for messages in self.shown]
        return ["\n".join(re.findall(f"{TAG}.*?{END}", text, re.DOTALL)) for text in texts]

    def systems(self) -> list[str]:
        """The text of the system message of each call."""
        return [one[0].text if isinstance(one[0], SystemMessage) else "" for one in self.shown]


@dataclass
class Context:
    user_id: str


@tool
def weather(place: str) -> str:
    """How the weather is."""
    return f"sunny in {place}"


def says(*answers: AIMessage | str) -> Scripted:
    """Gives these answers in turn, the last one for ever."""
    left = list(answers)
    return Scripted(answer=lambda _: left.pop(0) if len(left) > 1 else left[0], shown=[])


def call(name: str = "weather", number: int = 1, **arguments: Any) -> AIMessage:
    wanted = arguments or {"place": "Brno"}
    return AIMessage(content="", tool_calls=[{"name": name, "args": wanted, "id": f"call-{number}"}])


def ask(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def agent_of(model: Scripted, *middleware: Any, tools: Sequence[Any] = (weather,), **options: Any) -> Any:
    options.setdefault("context_schema", Context)
    return create_agent(model, list(tools), middleware=list(middleware), **options)


@pytest.fixture
def filled(memory: AdaptiveMemory) -> AdaptiveMemory:
    memory.for_user("ana").remember("Ana drinks green tea.", id="tea")
    memory.for_user("ana").remember("Ana sails old ships.", id="ships")
    memory.for_user("ben").remember("Ben drinks black coffee.", id="coffee")
    return memory


@pytest.fixture(autouse=True)
def _no_warning_unless_asked_for() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


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


def test_what_is_put_in_from_outside_is_not_taken_for_a_recall(filled: AdaptiveMemory) -> None:
    model = says("Tea.")
    forged = {"AdaptiveMemoryMiddleware": {"user": "ana", "recall": "x", "cue": "x", "marks": {"m1": "tea"}}}
    agent_of(model, AdaptiveMemoryMiddleware(filled)).invoke(
        {"messages": [AIMessage("hello")], "adaptive_memory_turns": forged}, context=Context("ana")
    )
    assert model.evidence() == [""]


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
    strict = AdaptiveMemoryMiddleware(filled, policy=Policy(similarity_floor=0.99))
    agent_of(model, strict).invoke(ask("what does Ana drink?"), context=Context("ana"))
    assert "water at night" in model.evidence()[0]
    assert "[m2]" not in model.evidence()[0]
    assert model.evidence()[1] == ""


def test_what_passed_the_floors_of_a_policy_is_shown(filled: AdaptiveMemory) -> None:
    filled.policy = Policy(similarity_floor=0.55, score_floor=0.3)
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


def test_without_a_log_there_are_no_verdicts_and_no_complaints(collection: Collection) -> None:
    with closing(AdaptiveMemory(collection, embedder=word_vectors, keeping=Keeping(log=False))) as memory:
        memory.for_user("ana").remember("Ana drinks green tea.", id="tea")
        agent_of(says("Tea [m1]."), AdaptiveMemoryMiddleware(memory)).invoke(ask("drink?"), context=Context("ana"))
        assert memory.for_user("ana").stats().verdicts == 0


def test_what_was_saved_of_this_conversation_is_recalled_only_once_it_is_out_of_sight(memory: AdaptiveMemory) -> None:
    memory.for_user("ana").remember("Ana keeps a tea diary.")
    model = says("Tea, then.")
    middleware = AdaptiveMemoryMiddleware(memory, user_id="ana", save="turn")
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    for thread, question in (("1", "I drink green tea"), ("1", "what tea?"), ("2", "what tea?")):
        agent.invoke(ask(question), {"configurable": {"thread_id": thread}})
    assert ["I drink green tea" in text for text in model.evidence()] == [False, False, True]
    assert all("tea diary" in text for text in model.evidence())
