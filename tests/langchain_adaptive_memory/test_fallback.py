"""Does a chain of a new user read what is shared - declared as such, and labelled in the documents?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, ScopeError
from langchain_adaptive_memory import EVERYONE, AdaptiveMemoryRetriever
from tests.conftest import Clock, Vectors
from tests.langchain_adaptive_memory.conftest import NewStore


@pytest.fixture
def memory(collection: Collection, embed: Callable[..., Vectors], clock: Clock) -> Iterator[AdaptiveMemory]:
    with closing(AdaptiveMemory(collection, embedder=embed, clock=clock, shared=["handbook"])) as opened:
        opened.for_user("handbook").remember("office opens at eight", id="hours")
        opened.for_user("bob").remember("bob keeps the office key", id="secret")
        yield opened


def label(document: Any) -> Any:
    return document.metadata["adaptive_memory"].get("shared")


async def test_a_new_user_of_a_chain_gets_what_is_shared(memory: AdaptiveMemory) -> None:
    retriever = AdaptiveMemoryRetriever(memory=memory, fallback="handbook")
    for found in (retriever.invoke("office", user_id="new"), await retriever.ainvoke("office", user_id="new")):
        assert [(one.id, label(one)) for one in found] == [("hours", "handbook")]
    assert [(one.id, label(one)) for one in retriever.invoke("office", user_id="bob")] == [("secret", None)]
    assert [(one.id, label(one)) for one in retriever.invoke("office", user_id="handbook")] == [("hours", None)]


def test_without_a_fallback_a_new_user_gets_nothing(memory: AdaptiveMemory) -> None:
    assert AdaptiveMemoryRetriever(memory=memory).invoke("office", user_id="new") == []


def test_a_user_s_memory_brings_its_own_fallback(memory: AdaptiveMemory) -> None:
    retriever = AdaptiveMemoryRetriever(memory=memory.for_user("new", fallback="handbook"))
    assert [one.id for one in retriever.invoke("office")] == ["hours"]


def test_what_belongs_to_nobody_can_stand_in(memory: AdaptiveMemory) -> None:
    memory.for_everyone().remember("canteen serves soup", id="soup")
    retriever = AdaptiveMemoryRetriever(memory=memory, fallback=EVERYONE)
    assert [(one.id, label(one)) for one in retriever.invoke("soup", user_id="new")] == [("soup", "everyone")]


@pytest.mark.parametrize("wrong", ["bob", "", 3])
def test_a_private_user_is_refused_when_the_retriever_is_made(memory: AdaptiveMemory, wrong: Any) -> None:
    with pytest.raises(ScopeError):
        AdaptiveMemoryRetriever(memory=memory, fallback=wrong)


async def test_a_chain_may_judge_all_it_got_and_what_is_shared_is_passed_over(memory: AdaptiveMemory) -> None:
    retriever = AdaptiveMemoryRetriever(memory=memory, fallback="handbook", user_id="new")
    found = retriever.invoke("office")
    assert {label(one) for one in found} == {"handbook"}
    assert retriever.feedback(helpful=found) == 0
    assert await retriever.afeedback(unhelpful=found) == 0
    assert memory.for_user("handbook").get("hours").read.boost == 0
    memory.for_user("new").remember("the office of the new one", id="own")
    own = AdaptiveMemoryRetriever(memory=memory, k=1).invoke("office", user_id="new")
    assert retriever.feedback(helpful=[*found, *own]) == 1


def test_a_retriever_over_a_vector_store_declares_what_is_shared(new_store: NewStore) -> None:
    store = new_store(["green tea is nice"], user="handbook")
    with pytest.raises(ScopeError, match="not declared to be shared"):
        AdaptiveMemoryRetriever.from_vectorstore(store, fallback="handbook")
    with closing(
        AdaptiveMemoryRetriever.from_vectorstore(store, shared=["handbook"], fallback="handbook")
    ) as retriever:
        (found,) = retriever.invoke("tea", user_id="new")
    assert label(found) == "handbook"
