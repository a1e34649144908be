"""Is a policy enough to give a LangChain retriever's answers another shape?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from chromadb import Collection
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.context.clean import label
from langchain_adaptive_memory import AdaptiveMemoryRetriever
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from tests.behaviour.test_observe import CONVERSATIONS, PETS
from tests.conftest import Clock, word_vectors
from tests.langchain_adaptive_memory.scripted_agent import Scripted, call, says


def test_the_document_of_an_episode_names_its_place(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    user.observe(CONVERSATIONS)
    user.themes()
    retriever = AdaptiveMemoryRetriever(memory=user, k=4, reinforce=False)
    down = retriever.invoke("beagle puppy shoes", policy=Policy(shape="top_down"))
    told = down[0].metadata["adaptive_memory"]
    place = user.recall("beagle puppy shoes", k=4, reinforce=False, policy=Policy(shape="top_down")).outline.places
    here = place[str(down[0].id)]
    assert (told["episode"], told["theme"]) == (here.title, here.theme)
    plain = retriever.invoke("beagle puppy shoes", policy=Policy(shape="top_down"), annotate=False)
    assert plain[0].page_content == down[0].page_content
    assert "adaptive_memory" not in plain[0].metadata


def test_what_is_forgotten_of_an_episode_is_not_in_its_document(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    user.observe(CONVERSATIONS)
    user.themes()
    retriever = AdaptiveMemoryRetriever(memory=user, k=1, policy=Policy(shape="top_down"))
    (found,) = retriever.invoke("beagle puppy shoes")
    user.forget(found.metadata["adaptive_memory"]["message_ids"][0])
    assert PETS[0] not in retriever.invoke("beagle puppy shoes")[0].page_content
    user.remember("Ana is allergic to peanuts.", id="allergy")
    alone = retriever.invoke("what is Ana allergic to? peanuts")[0]
    assert (alone.page_content, "message_ids" in alone.metadata["adaptive_memory"]) == (
        "Ana is allergic to peanuts.",
        False,
    )


def agent(
    user: UserMemory, form: Any, k: int = 2, between: Callable[[], object] = lambda: None
) -> tuple[Any, Scripted]:
    """An agent with two calls of the model in its turn, between which something else is done."""

    def look(what: str) -> str:
        """Look something up."""
        between()
        return what

    model = says(call("look", what="x"), "Shoes [m1].")
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
    first, second = model.firsts()
    assert first.index(PETS[1]) < first.index(PETS[2])
    assert PETS[0] in first
    assert PETS[0] not in second
    assert PETS[1] in second
    assert f"about {label(theme)}" in first
    assert "said beside it" in second
    assert PETS[1] not in str(result)
    runs, model = agent(user, "flat")
    runs.invoke(question)
    assert "said beside it" not in model.firsts()[0]
    assert "about " not in model.firsts()[0]


@pytest.fixture
def with_reader(collection: Collection, clock: Clock) -> Iterator[Callable[..., Any]]:
    """Opens a user's memory with a reader, and with conversations that were observed."""
    made: list[AdaptiveMemory] = []

    def opened(reader: Callable[[str, Sequence[str]], float]) -> UserMemory:
        made.append(AdaptiveMemory(collection, embedder=word_vectors, clock=clock, ledger=":memory:", reader=reader))
        user = made[-1].for_user("alice")
        user.observe(CONVERSATIONS)
        user.themes()
        return user

    yield opened
    for one in made:
        one.close()


def test_an_agent_is_told_the_facts_where_no_episode_helps_the_reader(with_reader: Callable[..., UserMemory]) -> None:
    user = with_reader(lambda question, texts: 1.0)
    runs, model = agent(user, "top_down")
    runs.invoke({"messages": [HumanMessage("beagle puppy shoes", id="q")]})
    for shown in model.firsts():
        assert "Ana's beagle puppy chews shoes." in shown
        assert "cite it by its mark" not in shown


def test_an_agent_is_told_the_narrative_of_an_episode_that_is_not_shown_whole(
    with_reader: Callable[..., UserMemory],
) -> None:
    told = "Ana adopted a beagle puppy in May. Ana's beagle puppy chews shoes."
    user = with_reader(lambda question, texts: 1.0 if any(told in one for one in texts) else 2.0)
    runs, model = agent(user, "top_down")
    runs.invoke({"messages": [HumanMessage("beagle puppy shoes", id="q")]})
    assert any("its episode:" in line and told in line for line in model.firsts()[0].splitlines())
    assert "said beside it" not in model.firsts()[0]


def test_an_agent_is_told_the_facts_that_were_chosen(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    user.observe(CONVERSATIONS)
    user.themes()
    down = Policy(shape="top_down")
    found = user.recall("beagle puppy shoes", k=1, reinforce=False, policy=down)
    runs, model = agent(user, "top_down", k=1)
    runs.invoke({"messages": [HumanMessage("beagle puppy shoes", id="q")]})
    assert found.outline.facts
    for fact in found.outline.facts:
        assert any(fact.text in line and "distilled" in line for line in model.firsts()[0].splitlines())
