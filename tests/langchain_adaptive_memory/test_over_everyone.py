"""Do LangChain's parts find a team's documents for each reader, and learn of them for that reader alone?"""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document

from adaptive_memory_core import AdaptiveMemory, NotFoundError, ScopeError
from langchain_adaptive_memory import EVERYONE, AdaptiveMemoryRetriever, AdaptiveMemoryVectorStore
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from langchain_adaptive_memory.tools import create_recall_tool
from tests.langchain_adaptive_memory.conftest import NewStore
from tests.langchain_adaptive_memory.scripted_agent import says


@pytest.fixture
def team(memory: AdaptiveMemory) -> AdaptiveMemory:
    """A handbook of everyone's, and a note of Ana's."""
    memory.for_everyone().remember_many(
        [{"text": f"office rule {one}: green tea", "id": f"r{one}"} for one in range(4)]
    )
    memory.for_user("ana").remember("I drink green tea at the office", id="mine")
    return memory


def reads(memory: AdaptiveMemory, user: str, one: str) -> int:
    return memory.for_user(user, over="everyone").get(one).read.retrieval_count


def label(document: Document) -> Any:
    return document.metadata["adaptive_memory"].get("shared")


async def test_a_retriever_finds_both_and_learns_for_its_user_alone(team: AdaptiveMemory) -> None:
    retriever = AdaptiveMemoryRetriever(memory=team, over="everyone", k=5)
    found = retriever.invoke("green tea", user_id="ana")
    assert {one.id: label(one) for one in found} == {"mine": None, **{f"r{one}": "everyone" for one in range(4)}}
    assert len(await retriever.ainvoke("green tea", config={"configurable": {"user_id": "ben"}})) == 4
    shared = next(one for one in found if label(one))
    assert retriever.feedback(helpful=shared, user_id="ana") == 1
    written_out = Document(shared.page_content, metadata=shared.metadata)
    assert await retriever.afeedback(unhelpful=written_out, user_id="ana") == 1
    assert [team.for_user(one, over="everyone").get(str(shared.id)).read.unhelpful for one in ("ana", "ben")] == [1, 0]
    with pytest.raises(NotFoundError):
        retriever.feedback(helpful=shared, user_id="ben")


def test_what_is_everyones_is_not_forgotten_with_ones_own(team: AdaptiveMemory) -> None:
    retriever = AdaptiveMemoryRetriever(memory=team, over="everyone", user_id="ana", k=5)
    receipts = retriever.forget(retriever.invoke("green tea"))
    assert [one.id for one in receipts] == ["mine"]
    with pytest.raises(ScopeError, match="everyone's"):
        retriever.forget("r1")
    assert team.for_everyone().get("r1").text == "office rule 1: green tea"


def test_over_a_vector_store_each_call_says_who_reads(new_store: NewStore) -> None:
    with AdaptiveMemoryRetriever(memory=new_store(), over="everyone", k=2) as retriever:
        found = retriever.invoke("green tea", user_id="ana")
        assert (found[0].page_content, label(found[0])) == ("green tea is nice", "everyone")
        with pytest.raises(ScopeError, match="No user was named"):
            retriever.invoke("green tea")
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(), over="everyone", user_id="ana") as retriever:
        assert retriever.invoke("green tea")[0].page_content == "green tea is nice"


def test_one_users_memory_is_read_over_everyones(team: AdaptiveMemory) -> None:
    for retriever in (
        AdaptiveMemoryRetriever(memory=team.for_user("ana"), over="everyone", k=5),
        AdaptiveMemoryRetriever(memory=team.for_user("ana", over="everyone"), k=5),
    ):
        assert len(retriever.invoke("green tea")) == 5
    assert len(AdaptiveMemoryRetriever(memory=team, over="everyone", user_id=EVERYONE, k=5).invoke("green tea")) == 4


@pytest.mark.parametrize("wrong", ["ana", "", True])
def test_what_cannot_be_read_over_is_refused_at_once(team: AdaptiveMemory, wrong: Any) -> None:
    with pytest.raises(ScopeError, match="over is"):
        AdaptiveMemoryRetriever(memory=team, over=wrong)
    with pytest.raises(ScopeError):
        AdaptiveMemoryRetriever(memory=team, over="everyone", fallback=EVERYONE)
    with pytest.raises(ScopeError, match="over is"):
        create_recall_tool(team, over=wrong)
    with pytest.raises(ScopeError, match="over is"):
        AdaptiveMemoryMiddleware(team, over=wrong)


async def test_a_vector_store_finds_both_and_adds_to_its_users_own(team: AdaptiveMemory) -> None:
    store = AdaptiveMemoryVectorStore(team, user_id="ana", over="everyone")
    assert len(store.similarity_search("green tea", k=5)) == 5
    assert len(await store.asimilarity_search("green tea", k=5)) == 5
    store.add_texts(["my green tea is cold"], ids=["cold"])
    assert team.for_user("ana").get("cold").text == "my green tea is cold"
    assert store.get_by_ids(["r1"])[0].page_content == "office rule 1: green tea"
    with pytest.raises(ScopeError):
        store.delete(["r1"])


async def test_a_tool_shows_an_agent_both(team: AdaptiveMemory) -> None:
    tool = create_recall_tool(team, over="everyone", k=5)
    config: Any = {"configurable": {"user_id": "ana"}}
    for told in (tool.invoke("green tea", config), await tool.ainvoke("green tea", config)):
        assert told.count("shared: everyone") == 4
        assert "I drink green tea at the office" in told


async def test_an_agents_citations_are_verdicts_of_its_user_alone(team: AdaptiveMemory) -> None:
    model = says("Green tea, as rule 1 has it [m1].")
    agent = create_agent(model, middleware=[AdaptiveMemoryMiddleware(team, over="everyone", k=1, save=None)])
    asked: Any = {"messages": [("user", "What does office rule 1 say?")]}
    await agent.ainvoke(asked, {"configurable": {"user_id": "ana", "thread_id": "1"}})
    assert "office rule 1: green tea" in model.evidence()[-1]
    helpful = [team.for_user(one, over="everyone").get("r1").read.helpful for one in ("ana", "ben")]
    assert (helpful, team.for_everyone().get("r1").read.retrieval_count) == ([1, 0], 0)
