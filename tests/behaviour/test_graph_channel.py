"""Can the graph be asked from every front door, by the policy alone? Async, LangChain, LlamaIndex, the paper's form."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, PolicyError
from adaptive_memory_core.policy.graph import Graphs
from langchain_adaptive_memory import AdaptiveMemoryRetriever as ForLangChain
from llama_adaptive_memory import AdaptiveMemoryRetriever as ForLlamaIndex
from tests.conftest import Vectors

POLICY = Policy(channels=("dense", "lexical", "graph"))
CUE = "Where did the father of Teutberga's husband die?"
FAMILY: list[Any] = [
    {"id": "t", "text": "Teutberga was married to Lothair II.", "metadata": {"title": "Teutberga"}},
    {"id": "l", "text": "He ruled. His father was Lothair I.", "metadata": {"title": "Lothair II"}},
    {"id": "f", "text": "He died at the abbey.", "metadata": {"title": "Lothair I"}},
    *({"text": f"Note {n} is about nothing in particular."} for n in range(30)),
]


@pytest.fixture
def memory(collection: Collection, embed: Callable[..., Vectors]) -> Iterator[AdaptiveMemory]:
    with closing(AdaptiveMemory(collection, embedder=embed, policy=POLICY)) as opened:
        opened.for_user("ann").remember_many(FAMILY)
        yield opened


def test_async_finds_the_same(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    found = asyncio.run(ann.arecall(CUE, k=3, reinforce=False))
    assert found.ids == ann.recall(CUE, k=3, reinforce=False).ids
    assert set(found.ids) == {"t", "l", "f"}


def test_langchain_needs_no_other_class(memory: AdaptiveMemory) -> None:
    retriever: Any = ForLangChain(memory=memory.for_user("ann"), k=3)
    assert {str(one.id) for one in retriever.invoke(CUE)} == {"t", "l", "f"}


def test_llama_index_needs_no_other_class(memory: AdaptiveMemory) -> None:
    retriever = ForLlamaIndex(memory=memory.for_user("ann"), similarity_top_k=3)
    assert {one.node.node_id for one in retriever.retrieve(CUE)} == {"t", "l", "f"}


def test_the_papers_form_is_a_policy_away(memory: AdaptiveMemory) -> None:
    found = memory.for_user("ann").recall(CUE, k=5, policy=POLICY.replace(graph={"form": "paper", "rounds": 2}))
    assert {"t", "l"} <= set(found.ids)
    assert Policy.from_json(POLICY.replace(graph={"rounds": 2}).to_json()).graph == Graphs(rounds=2)


def test_a_channel_of_the_callers_may_not_take_its_name(collection: Collection, embed: Callable[..., Vectors]) -> None:
    with pytest.raises(PolicyError, match="graph"):
        AdaptiveMemory(collection, embedder=embed, channels={"graph": lambda cue, user, limit: []})


def test_looking_changes_nothing(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    first = ann.recall(CUE, k=3, reinforce=False)
    again = ann.recall(CUE, k=3, reinforce=False)
    assert [(hit.id, hit.score) for hit in first] == [(hit.id, hit.score) for hit in again]
    assert all(hit.record.read.retrieval_count == 0 for hit in again)
