"""What LangChain's parts show of a team's documents, next to what tests/adapters asks of both frameworks."""

from __future__ import annotations

from typing import Any

import pytest
from chromadb import Collection
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.runnables.utils import ConfigurableField

from adaptive_memory_core import AdaptiveMemory, NotFoundError, ScopeError
from langchain_adaptive_memory import EVERYONE, AdaptiveMemoryRetriever, AdaptiveMemoryVectorStore
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from tests.conftest import word_vectors
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


def label(document: Document) -> Any:
    return document.metadata["adaptive_memory"].get("shared")


def test_over_a_vector_store_each_call_says_who_reads(new_store: NewStore) -> None:
    with AdaptiveMemoryRetriever(memory=new_store(), over="everyone", k=2) as retriever:
        found = retriever.invoke("green tea", user_id="ana")
        assert (found[0].page_content, label(found[0])) == ("green tea is nice", "everyone")
        with pytest.raises(ScopeError, match="No user was named"):
            retriever.invoke("green tea")
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(), k=5) as retriever:
        assert {label(one) for one in retriever.invoke("green tea", user_id="ana")} == {"everyone"}
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(), over="everyone", user_id="ana") as retriever:
        assert retriever.invoke("green tea")[0].page_content == "green tea is nice"


async def test_a_vector_store_finds_both_and_adds_to_its_users_own(team: AdaptiveMemory) -> None:
    store = AdaptiveMemoryVectorStore(team, user_id="ana", over="everyone")
    assert len(store.similarity_search("green tea", k=5)) == 5
    assert len(await store.asimilarity_search("green tea", k=5)) == 5
    store.add_texts(["my green tea is cold"], ids=["cold"])
    assert team.for_user("ana").get("cold").text == "my green tea is cold"
    assert store.get_by_ids(["r1"])[0].page_content == "office rule 1: green tea"
    with pytest.raises(ScopeError):
        store.delete(["r1"])


async def test_an_agents_citations_are_verdicts_of_its_user_alone(team: AdaptiveMemory) -> None:
    model = says("Green tea, as rule 1 has it [m1].")
    agent = create_agent(model, middleware=[AdaptiveMemoryMiddleware(team, over="everyone", k=1, save=None)])
    asked: Any = {"messages": [("user", "What does office rule 1 say?")]}
    await agent.ainvoke(asked, {"configurable": {"user_id": "ana", "thread_id": "1"}})
    assert "office rule 1: green tea" in model.evidence()[-1]
    helpful = [team.for_user(one, over="everyone").get("r1").read.helpful for one in ("ana", "ben")]
    assert (helpful, team.for_everyone().get("r1").read.retrieval_count) == ([1, 0], 0)


async def test_what_is_everyones_is_labelled_and_known_again_when_it_was_written_out(team: AdaptiveMemory) -> None:
    retriever = AdaptiveMemoryRetriever(memory=team, over="everyone", k=5)
    found = retriever.invoke("green tea", user_id="ana")
    assert {one.id: label(one) for one in found} == {"mine": None, **{f"r{one}": "everyone" for one in range(4)}}
    assert len(await retriever.ainvoke("green tea", config={"configurable": {"user_id": "ben"}})) == 4
    shared = next(one for one in found if label(one))
    written_out = Document(shared.page_content, metadata=shared.metadata)
    assert retriever.feedback(helpful=written_out, user_id="ana") == 1
    assert retriever.feedback(unhelpful=shared, config={"configurable": {"user_id": "ana"}}) == 1
    with pytest.raises(NotFoundError, match="ben"):
        retriever.feedback(helpful=shared, user_id="ben")
    assert len(retriever.invoke("green tea", user_id=EVERYONE)) == 4


@pytest.mark.parametrize("wrong", ["ana", "", True])
def test_what_cannot_be_read_over_is_refused_at_once(team: AdaptiveMemory, wrong: Any) -> None:
    with pytest.raises(ScopeError, match="over is"):
        AdaptiveMemoryRetriever(memory=team, over=wrong)
    with pytest.raises(ScopeError, match="over is"):
        AdaptiveMemoryMiddleware(team, over=wrong)


def test_what_is_said_of_over_holds_whatever_the_store_has(new_store: NewStore, team: AdaptiveMemory) -> None:
    ana: Any = {"configurable": {"user_id": "ana"}}
    with AdaptiveMemoryRetriever.from_vectorstore(new_store()) as given:
        asked = given.configurable_fields(k=ConfigurableField(id="k"))
        assert len(asked.invoke("green tea", {"configurable": {"user_id": "ana", "k": 2}})) == 2
    assert [one.id for one in AdaptiveMemoryRetriever(memory=team).invoke("green tea", ana)] == ["mine"]


def test_what_stands_in_for_a_new_user_is_labelled(collection: Collection) -> None:
    with AdaptiveMemory(collection, embedder=word_vectors, shared=["handbook"]) as memory:
        memory.for_user("handbook").remember("office opens at eight", id="hours")
        memory.for_everyone().remember("canteen serves soup", id="soup")
        shown = {}
        for fallback in ("handbook", EVERYONE):
            retriever = AdaptiveMemoryRetriever(memory=memory, fallback=fallback)
            for user in ("new", "handbook"):
                (found,) = retriever.invoke("office", user_id=user)
                shown[fallback, user] = (found.id, label(found))
    hours = ("hours", None)
    assert shown == {
        ("handbook", "new"): ("hours", "handbook"),
        (EVERYONE, "new"): ("soup", "everyone"),
        ("handbook", "handbook"): hours,
        (EVERYONE, "handbook"): hours,
    }
