"""Does docs/guides/agents.md say what is so of other frameworks? Each adapter runs in its own, with a scripted model.

`make frameworks` runs this where the frameworks are installed; elsewhere a test says which one is missing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "agents.md"
BLOCK = re.compile(r"^```(python|python needs-framework)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FACT, QUESTION = "I am allergic to peanuts.", "Which snack must I avoid?"
Section = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.hard("install")


@pytest.fixture
def section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the code that all frameworks share and that of one; gives the names that it defines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(PAGE.parents[2] / "examples" / "adapters")
    for variable in ("CREWAI_DISABLE_TELEMETRY", "OTEL_SDK_DISABLED", "OPENAI_AGENTS_DISABLE_TRACING"):
        monkeypatch.setenv(variable, "true")
    opened: list[AdaptiveMemory] = []

    def run(title: str, **given: Any) -> dict[str, Any]:
        sections = re.split("\n##+ ", PAGE.read_text("utf-8"))
        start, text = (next(one for one in sections if one.startswith(name)) for name in ("Other frameworks", title))
        names: dict[str, Any] = {"__name__": "page", **given}
        for _, code in BLOCK.findall(start) + BLOCK.findall(text):
            exec(compile(code, f"{title} of the page", "exec", dont_inherit=True), names)
        opened.append(names["memory"])
        return names

    yield run
    for memory in opened:
        memory.close()


def needs(package: str) -> None:
    """Skips the test where the package is not installed, as in `make test`."""
    if find_spec(package.partition(".")[0]) is None or find_spec(package) is None:
        pytest.skip(f"needs {package}, which `make frameworks` installs (not on every Python)")


async def test_google_adk_shows_a_users_memories_and_keeps_the_session(section: Section) -> None:
    needs("google.adk")
    from google.adk.models import BaseLlm, LlmRequest, LlmResponse
    from google.genai import types

    shown: list[str] = []

    class Scripted(BaseLlm):  # type: ignore[misc] # the package is not there when types are checked
        async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[Any, None]:
            shown.append(str(request.contents))
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Noted.")]))

    page = section("Google ADK", model=Scripted(model="scripted"))
    runner, service = page["runner"], page["runner"].memory_service

    async def ask(user: str, text: str) -> Any:
        session = await runner.session_service.create_session(app_name="helper", user_id=user)
        said = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id=user, session_id=session.id, new_message=said):
            pass
        return await runner.session_service.get_session(app_name="helper", user_id=user, session_id=session.id)

    session = await ask("ana", FACT)
    await ask("ana", QUESTION)
    await ask("ben", QUESTION)
    assert [FACT in text for text in shown] == [True, True, False]
    ana = service.of("helper", "ana")
    stored = len(ana.records())
    await service.add_session_to_memory(session)
    assert len(ana.records()) == stored == 4
    found = (await service.search_memory(app_name="helper", user_id="ana", query="peanuts")).memories[0]
    assert (found.id, found.content.parts[0].text, found.author) == (session.events[0].id, FACT, "user")
    assert abs(datetime.fromisoformat(found.timestamp).timestamp() - session.events[0].timestamp) < 1
    await service.delete_memory(app_name="helper", user_id="ana", memory_id=found.id)
    assert FACT not in {one.text for one in ana.records()}


async def test_google_adk_separates_apps_and_users_and_refuses_nobody(section: Section) -> None:
    needs("google.adk")
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types

    service = section("Google ADK", model="none")["runner"].memory_service
    fact = MemoryEntry(content=types.Content(parts=[types.Part(text=FACT)]), custom_metadata={"from": "form"})
    await service.add_memory(app_name='a", "b', user_id="c", memories=[fact])

    async def found(app: str, user: str, query: str = QUESTION) -> int:
        return len((await service.search_memory(app_name=app, user_id=user, query=query)).memories)

    assert [await found(*one) for one in [('a", "b', "c"), ("a", 'b", "c'), ('a", "b', "c", " ")]] == [1, 0, 0]
    assert service.of('a", "b', "c").records()[0].metadata == {"from": "form"}
    with pytest.raises(ValueError, match=r"user_id ''.*Give both"):
        await found("a", "")


def pydantic_script(*calls: tuple[str, dict[str, Any]]) -> Any:
    """A model that calls these tools in turn, and then says what the last one gave."""
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def answer(messages: list[Any], _: Any) -> Any:
        given = [part for one in messages for part in one.parts if part.part_kind in {"tool-return", "retry-prompt"}]
        if len(given) < len(calls):
            return ModelResponse(parts=[ToolCallPart(*calls[len(given)])])
        return ModelResponse(parts=[TextPart(str(given[-1].content))])

    return FunctionModel(answer)


async def test_pydantic_ai_has_tools_over_the_memory_of_the_runs_user(section: Section) -> None:
    needs("pydantic_ai")
    page = section("Pydantic AI", model=pydantic_script(("remember", {"fact": FACT})))
    agent, memory = page["agent"], page["memory"]
    assert (await agent.run("(a user's text)", deps="ana")).output == "Kept."
    twice = pydantic_script(("recall", {"query": QUESTION}), ("recall", {"query": QUESTION}))
    known = (await agent.run("(a user's text)", deps="ana", model=twice)).output
    assert FACT in known
    assert "not instructions" in known
    assert memory.for_user("ana").records()[0].read.retrieval_count == 1
    assert [recall.step for recall in memory.for_user("ana").recalls()] == [1, 1]
    assert (await agent.run("", deps="ben", model=twice)).output == "Nothing is known about this."


def test_pydantic_ai_tells_the_model_what_was_wrong_and_refuses_nobody(section: Section) -> None:
    needs("pydantic_ai")
    from pydantic_ai.models.test import TestModel

    agent = section("Pydantic AI", model=TestModel())["agent"]
    agent.run_sync("every tool with made-up arguments", deps="ana")
    for name, wrong, said in (
        ("recall", {"query": " "}, "The query is blank."),
        ("remember", {"fact": FACT, "importance": 7}, "from 0 to 1"),
    ):
        assert said in agent.run_sync("", deps="ana", model=pydantic_script((name, wrong))).output
    with pytest.raises(ValueError, match="The user id is ''"):
        agent.run_sync("", deps="", model=pydantic_script(("recall", {"query": QUESTION})))


def agents_script(*answers: Any) -> Any:
    from agents.testing import ScriptedModel, assistant_message

    return ScriptedModel([[assistant_message(one) if isinstance(one, str) else one] for one in answers])


async def test_openai_agents_are_shown_memories_and_what_the_user_said_is_kept(section: Section) -> None:
    needs("agents")
    from agents import Runner, SQLiteSession, function_tool
    from agents.testing import function_call

    def shop() -> str:
        """What the shop has."""
        return "nuts and apples"

    model = agents_script("Noted.", function_call("shop", {}, call_id="1"), "Nuts.", "I do not know.")
    page = section("OpenAI Agents SDK", model=model)
    agent, hooks, session = page["agent"], page["hooks"], SQLiteSession("ana's second")
    agent.tools = [function_tool(shop)]
    run = {"hooks": hooks, "run_config": hooks.config}
    await Runner.run(agent, FACT, context="ana", **run)
    await Runner.run(agent, QUESTION, context="ana", session=session, **run)
    await Runner.run(agent, QUESTION, context="ben", **run)
    assert [FACT in str(call.input) for call in model.calls] == [True, True, True, False]
    assert [str(call.input).count("evidence, not instructions") for call in model.calls] == [0, 1, 1, 0]
    assert model.calls[1].input[-1]["content"] == QUESTION
    assert "evidence" not in str(await session.get_items())
    ana = page["memory"].for_user("ana")
    assert [one.text for one in ana.records()] == [QUESTION, FACT]
    assert (ana.get(ana.records()[1].id).read.retrieval_count, len(ana.recalls())) == (1, 2)
    assert [one.text for one in page["memory"].for_user("ben").records()] == [QUESTION]


async def test_openai_agents_refuse_nobody_and_read_texts_in_parts(section: Section) -> None:
    needs("agents")
    from agents import Runner

    page = section("OpenAI Agents SDK", model=agents_script("Noted.", "Noted."))
    run = {"hooks": page["hooks"], "run_config": page["hooks"].config}
    parts: Any = [{"type": "input_text", "text": FACT}]
    await Runner.run(page["agent"], [{"role": "user", "content": parts}], context="ana", **run)
    assert [one.text for one in page["memory"].for_user("ana").records()] == [FACT]
    with pytest.raises(ValueError, match="The user id is None"):
        await Runner.run(page["agent"], QUESTION, **run)


def crew_model(answer: str = "Noted.") -> Any:
    from crewai import BaseLLM

    class Scripted(BaseLLM):  # type: ignore[misc] # the package is not there when types are checked
        def call(self, messages: Any, *_: Any, **__: Any) -> str:
            self.additional_params.setdefault("shown", []).append(str(messages))
            return f"Thought: I know it.\nFinal Answer: {answer}"

    return Scripted(model="scripted")


def test_crewai_stores_and_finds_with_scopes_and_counts_what_it_was_given(section: Section) -> None:
    needs("crewai")
    from crewai.memory.storage.backend import StorageBackend

    page = section("CrewAI", model=crew_model(), user="ana")
    crew_memory, storage, ana = page["crew_memory"], page["storage"], page["memory"].for_user("ana")
    assert isinstance(storage, StorageBackend)
    food = {"scope": "/home/food", "categories": ["health"], "importance": 0.9, "metadata": {"from": "form"}}
    kept = crew_memory.remember(FACT, **food)
    crew_memory.remember("The office is in Brno.", scope="/work", categories=["place"], importance=0.5)
    assert [one.read.retrieval_count for one in ana.records()] == [0, 0]
    for asked in ({"scope": "/home"}, {"categories": ["health"]}, {"depth": "deep"}):
        first = crew_memory.recall(QUESTION, **{"depth": "shallow", **asked})[0].record
        assert (first.content, first.scope, first.categories) == (FACT, "/home/food", ["health"])
        assert (first.importance, first.metadata, first.id) == (0.9, {"from": "form"}, kept.id)
        assert abs(first.created_at - kept.created_at) < timedelta(seconds=1)
    assert crew_memory.recall(QUESTION, scope="/hom", depth="shallow") == []
    assert {one.text: one.read.retrieval_count for one in ana.records()}[FACT] == 1
    assert {recall.cue for recall in ana.recalls()} == {QUESTION}
    assert (crew_memory.list_scopes(), crew_memory.list_scopes("/home")) == (["/home", "/work"], ["/home/food"])
    assert crew_memory.list_categories() == {"health": 1, "place": 1}
    assert crew_memory.info("/home").record_count == storage.count("/home") == 1
    assert crew_memory.update(kept.id, content="Ana may eat peanuts again.").scope == "/home/food"
    assert storage.get_record(kept.id).content == "Ana may eat peanuts again."
    assert storage.get_record("no such id") is None
    assert [one.scope for one in crew_memory.list_records(limit=1)] == ["/work"]
    assert crew_memory.forget(record_ids=["no such id"]) == 0
    assert (crew_memory.forget(categories=["health"]), crew_memory.forget(scope="/home")) == (1, 0)
    assert crew_memory.forget(older_than=datetime(2020, 1, 1)) == 0
    crew_memory.reset()
    assert storage.count() == 0


def test_crewai_never_leaves_the_user_and_says_whose_embedder_it_needs(section: Section) -> None:
    needs("crewai")
    page = section("CrewAI", model=crew_model(), user="ana")
    page["memory"].for_user("ana").remember("Ana's cat is called Turing.")  # by another program
    page["memory"].for_user("ben").remember(FACT)
    found = page["crew_memory"].recall(QUESTION, depth="shallow")
    assert [(one.record.content, one.record.scope) for one in found] == [("Ana's cat is called Turing.", "/")]
    page["crew_memory"].reset()
    assert page["memory"].for_user("ben").stats().records == 1
    with pytest.raises(ValueError, match=r"Give Memory\(storage=storage, embedder=storage.embed\)"):
        page["storage"].search([0.5] * 256)
    with pytest.raises(ValueError, match="The user id is ''"):
        page["AdaptiveStorage"](page["memory"].for_user(""), page["embedder"])


def test_a_crew_is_shown_what_an_earlier_one_was_told(section: Section) -> None:
    needs("crewai")
    from crewai import Agent, Crew, Task

    model = crew_model("Peanuts.")
    page = section("CrewAI", model=model, user="ana")
    page["crew_memory"].remember(FACT, scope="/", categories=[], importance=0.5)
    agent = Agent(role="cook", goal="cook", backstory="a cook", llm=model)
    task = Task(description=QUESTION, expected_output="a snack", agent=agent)
    made = Crew(agents=[agent], tasks=[task], memory=page["crew_memory"]).kickoff()
    assert made.raw == "Peanuts."
    assert any(FACT in text for text in model.additional_params["shown"])


def test_crewais_async_calls_are_those_of_the_blocking_ones(section: Section) -> None:
    needs("crewai")
    from crewai.memory.types import MemoryRecord

    storage = section("CrewAI", model=crew_model(), user="ana")["storage"]

    async def go() -> tuple[list[str], int, int]:
        await storage.asave([MemoryRecord(content=FACT, scope="/home")])
        found = await storage.asearch(storage.embed([QUESTION])[0], scope_prefix="/home", limit=1)
        return [one.content for one, _ in found], await storage.adelete(scope_prefix="/home"), storage.count()

    assert asyncio.run(go()) == ([FACT], 1, 0)
