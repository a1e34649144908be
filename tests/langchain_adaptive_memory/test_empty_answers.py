"""Is it said why nothing at all was found, once, where that is odd?"""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from langchain_adaptive_memory import AdaptiveMemoryMiddleware, AdaptiveMemoryRetriever, create_recall_tool
from tests.langchain_adaptive_memory.conftest import NewRetriever, NewStore
from tests.langchain_adaptive_memory.scripted_agent import says

pytestmark = pytest.mark.filterwarnings("error::UserWarning")  # unless a test asks for one
ANA: Any = {"configurable": {"user_id": "ana"}}


def test_a_shared_store_that_its_users_shall_not_read(new_store: NewStore) -> None:
    """What both adapters do is in tests/adapters; here the user is in the config."""
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(), over=None) as retriever:
        with pytest.warns(UserWarning, match="name no user"):
            assert retriever.invoke("tea", ANA) == []
        assert "name no user" in retriever.explain_last(ANA)
        assert len(retriever.invoke("tea")) > 0


def test_each_retriever_over_one_memory_says_it_once_altogether(new_store: NewStore) -> None:
    store = new_store()
    with (
        AdaptiveMemoryRetriever.from_vectorstore(store, over=None) as first,
        AdaptiveMemoryRetriever.from_vectorstore(store, over=None) as two,
    ):
        with pytest.warns(UserWarning, match="name no user"):
            first.invoke("tea", ANA)
        assert two.invoke("tea", user_id="ben") == []


def test_nothing_is_said_of_a_filter_that_nothing_passes(new_retriever: NewRetriever) -> None:
    assert new_retriever().invoke("tea", user_id="alice", filter={"nothing": "of the kind"}) == []


async def test_a_tool_and_a_middleware_say_it_too(new_store: NewStore) -> None:
    said = pytest.warns(UserWarning, match="name no user")
    with AdaptiveMemoryRetriever.from_vectorstore(new_store()) as over, said:
        assert "Nothing" in await create_recall_tool(over.memory).ainvoke({"query": "tea"}, ANA)
    with AdaptiveMemoryRetriever.from_vectorstore(new_store()) as over:
        agent: Any = create_agent(says("Well."), middleware=[AdaptiveMemoryMiddleware(over.memory)])
        with pytest.warns(UserWarning, match="name no user"):
            agent.invoke({"messages": [HumanMessage("tea?")]}, ANA)
