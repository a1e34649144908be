"""Do LangChain's parts find a team's documents for each reader, and learn of them for that reader alone?"""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.runnables.utils import ConfigurableField

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


def reads_of(memory: AdaptiveMemory, user: str, one: Any) -> Any:
    return memory.for_user(user, over="everyone").get(one).read


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


async def test_a_store_without_users_is_read_by_each_user_until_a_document_names_one(
    new_store: NewStore, caplog: pytest.LogCaptureFixture
) -> None:
    store = new_store()
    config: Any = {"configurable": {"user_id": "alice"}}
    plain = {one.id for one in store.as_retriever(search_kwargs={"k": 5}).invoke("green tea", config)}
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=5) as retriever:
        found = retriever.invoke("green tea", config)
        assert {one.id for one in found} == plain == {one.id for one in await retriever.ainvoke("green tea", config)}
        assert {label(one) for one in found} == {"everyone"}
        assert retriever.explain_last(config).count("no record of the collection names a user") == 1
        assert retriever.feedback(helpful=found[0], config=config) == 1
        helpful = [reads_of(retriever.memory, user, found[0].id).helpful for user in ("alice", "ben")]
        assert helpful == [1, 0], "what is learned is the reader's alone"
        assert len(retriever.invoke("green tea")) == 5, "and without a user it is as before"
        store.add_texts(["bob drinks green tea"], [{"user_id": "bob"}], ids=["bobs"])
        assert retriever.invoke("green tea", config) == []
        assert await retriever.ainvoke("green tea", config) == []
        assert [one.id for one in retriever.invoke("green tea", user_id="bob")] == ["bobs"]
        assert {one.id for one in retriever.invoke("green tea")} == plain
        assert retriever.feedback(unhelpful=found[0], config=config) == 1, "of what was returned before"
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=5) as again:
        assert again.invoke("green tea", config) == []
    said = [one.message for one in caplog.records if "names a user" in one.message]
    assert len(said) == 2, "both once"


async def test_the_first_memory_of_a_user_ends_it_for_an_open_retriever(new_store: NewStore) -> None:
    store = new_store()
    with (
        AdaptiveMemoryRetriever.from_vectorstore(store, user_id="alice", k=5) as alices,
        AdaptiveMemoryRetriever.from_vectorstore(store, user_id="bob", k=5) as bobs,
    ):
        assert len(alices.invoke("green tea")) == len(bobs.invoke("green tea")) == 5
        bobs.add_documents([Document("bob drinks green tea", id="bobs")])
        assert alices.invoke("green tea") == []
        assert [one.id for one in await bobs.ainvoke("green tea")] == ["bobs"]


def test_what_is_said_of_over_holds_whatever_the_store_has(new_store: NewStore, team: AdaptiveMemory) -> None:
    ana: Any = {"configurable": {"user_id": "ana"}}
    with (
        AdaptiveMemoryRetriever.from_vectorstore(new_store(), over=None) as own,
        pytest.warns(UserWarning, match="name no user"),
    ):
        assert own.invoke("green tea", ana) == []
    with AdaptiveMemoryRetriever.from_vectorstore(new_store()) as given:
        assert AdaptiveMemoryRetriever(memory=given.memory).invoke("green tea", ana)
        with pytest.warns(UserWarning, match="name no user"):
            assert AdaptiveMemoryRetriever(memory=given.memory.for_user("ana")).invoke("green tea") == []
        asked = given.configurable_fields(k=ConfigurableField(id="k"))
        assert len(asked.invoke("green tea", {"configurable": {"user_id": "ana", "k": 2}})) == 2
    assert [one.id for one in AdaptiveMemoryRetriever(memory=team).invoke("green tea", ana)] == ["mine"]


def test_a_user_without_records_of_a_store_with_users_finds_nothing_of_nobodys(new_store: NewStore) -> None:
    store = new_store()
    store.add_texts(["bob drinks green tea"], [{"user_id": "bob"}], ids=["bobs"])
    with AdaptiveMemoryRetriever.from_vectorstore(store, user_id="alice") as retriever:
        assert retriever.invoke("green tea") == []
