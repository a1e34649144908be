"""Is it said why nothing at all was found, once, where that is odd?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from adaptive_memory_core import AdaptiveMemory
from langchain_adaptive_memory import EVERYONE, AdaptiveMemoryMiddleware, AdaptiveMemoryRetriever, create_recall_tool
from tests.langchain_adaptive_memory.conftest import NewRetriever, NewStore
from tests.langchain_adaptive_memory.scripted_agent import says

ANA: Any = {"configurable": {"user_id": "ana"}}


@pytest.fixture(autouse=True)
def _no_warning_unless_asked_for() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


@pytest.mark.parametrize("run", [False, True], ids=["blocking", "async"])
async def test_a_shared_store_in_an_app_that_names_its_user(new_store: NewStore, run: bool) -> None:
    with AdaptiveMemoryRetriever.from_vectorstore(new_store()) as retriever:
        with pytest.warns(UserWarning, match="user_key=None") as said:
            found = await retriever.ainvoke("tea", ANA) if run else retriever.invoke("tea", ANA)
        assert found == []
        assert len(said) == 1
        assert "name no user" in retriever.explain_last(ANA)
        assert retriever.invoke("tea", ANA) == []
        assert retriever.invoke("tea", user_id="ben") == [], "said once"
        assert len(retriever.invoke("tea")) > 0


def test_a_collection_of_users_asked_without_one(new_store: NewStore) -> None:
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(user="ana"), user_id=EVERYONE) as retriever:
        with pytest.warns(UserWarning, match="all name a user"):
            assert retriever.invoke("tea") == []
        assert "all name a user" in retriever.explain_last()
        assert retriever.invoke("tea") == []
        assert len(retriever.invoke("tea", ANA)) > 0


def test_users_that_are_numbers(new_store: NewStore) -> None:
    numbers = pytest.warns(UserWarning, match="as int, such as 7, and users are texts")
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(user_id=7), user_id="7") as retriever, numbers:
        assert retriever.invoke("tea") == []


def test_each_retriever_over_one_memory_says_it_once_altogether(new_store: NewStore) -> None:
    store = new_store()
    with (
        AdaptiveMemoryRetriever.from_vectorstore(store) as first,
        AdaptiveMemoryRetriever.from_vectorstore(store) as two,
    ):
        with pytest.warns(UserWarning, match="name no user"):
            first.invoke("tea", ANA)
        assert two.invoke("tea", user_id="ben") == []


def test_nothing_is_said_where_nothing_is_odd(memory: AdaptiveMemory, new_retriever: NewRetriever) -> None:
    retriever = new_retriever()
    assert retriever.invoke("tea", user_id="a new user") == []
    assert retriever.invoke("tea", user_id="alice", filter={"nothing": "of the kind"}) == []
    assert retriever.invoke("tea", user_id="alice", similarity_threshold=1.0) == []


async def test_a_tool_and_a_middleware_say_it_too(new_store: NewStore) -> None:
    said = pytest.warns(UserWarning, match="name no user")
    with AdaptiveMemoryRetriever.from_vectorstore(new_store()) as over, said:
        assert "Nothing" in await create_recall_tool(over.memory).ainvoke({"query": "tea"}, ANA)
    with AdaptiveMemoryRetriever.from_vectorstore(new_store()) as over:
        agent: Any = create_agent(says("Well."), middleware=[AdaptiveMemoryMiddleware(over.memory)])
        with pytest.warns(UserWarning, match="name no user"):
            agent.invoke({"messages": [HumanMessage("tea?")]}, ANA)
