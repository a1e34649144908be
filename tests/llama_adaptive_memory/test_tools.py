"""Can an agent remember, recall and forget, for its user alone?"""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import VectorStoreIndex

from adaptive_memory_core import AdaptiveMemory, NotFoundError, ScopeError, UserMemory
from llama_adaptive_memory import AdaptiveMemoryRetriever, create_forget_tool, create_recall_tool, create_remember_tool
from tests.llama_adaptive_memory.conftest import agent
from tests.llama_adaptive_memory.hostile import hostile_texts


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    memory.for_user("bob").remember("Bob drinks coffee", id="bobs")
    return memory.for_user("alice")


async def test_an_agents_look_ups_are_one_read_and_can_be_judged(alice: UserMemory) -> None:
    alice.remember("Alice drinks tea", id="tea")
    retriever = AdaptiveMemoryRetriever.from_memory(alice)
    asked = [("recall_memory", {"query": "tea"}), ("recall_memory", {"query": "drinks"})]
    output = await agent([create_recall_tool(retriever)], asked).run("what do I drink?")
    assert len(alice.recalls()) == 2
    assert alice.get("tea").read.retrieval_count == 1
    assert retriever.feedback(helpful=output) == 1


async def test_what_a_model_says_wrong_it_is_told(alice: UserMemory) -> None:
    calls = [("forget_memory", {"memory_id": "bobs"}), ("remember", {"text": " "})]
    output: Any = await agent([create_forget_tool(alice), create_remember_tool(alice)], calls).run("forget it")
    first, second = output.tool_calls
    assert "bobs" in first.tool_output.content
    assert "not blank" in second.tool_output.content
    with pytest.raises(NotFoundError):
        create_forget_tool(alice).call(memory_id="bobs")


def test_the_user_can_be_named_by_each_call(memory: AdaptiveMemory) -> None:
    users = iter(["alice", "bob", None])
    tool = create_remember_tool(memory, user_id=lambda: next(users))
    for text in ("tea", "coffee"):
        tool.call(text=text)
    with pytest.raises(ScopeError, match="No user was named"):
        tool.call(text="water")
    found = [scope.recall("what?")[0].text for scope in (memory.for_user("alice"), memory.for_user("bob"))]
    assert found == ["tea", "coffee"]
    assert not memory.for_everyone().recall("what?")


def test_a_tool_over_an_index_uses_its_retriever(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index) as retriever:
        assert "green tea" in create_recall_tool(retriever).call(query="alice drinks").content
        create_remember_tool(retriever).call(text="carol drinks mate")
        assert "mate" in retriever.retrieve("carol drinks")[0].text


def test_nothing_escapes_from_what_a_tool_tells(alice: UserMemory) -> None:
    texts = hostile_texts(100, seed=11)
    alice.remember_many(texts)
    told = create_recall_tool(alice, k=100).call(query="what was it?").content
    assert "<memory" not in told.lower()
    assert "</" not in told
    assert len(told.split("\n")) > 50
    assert not any(text in told for text in texts if "<" in text or "\n" in text)


def test_a_tool_over_a_memory_of_many_names_its_user(memory: AdaptiveMemory) -> None:
    for create in (create_recall_tool, create_remember_tool, create_forget_tool):
        with pytest.raises(ScopeError, match="No user was named"):
            create(memory)
    nobody = create_remember_tool(memory, user_id=lambda: None, on_error="raise")
    with pytest.raises(ScopeError, match="No user was named"):
        nobody.call(text="Ana's PIN is 1234.")
    assert not memory.for_everyone().recall("PIN", reinforce=False)
