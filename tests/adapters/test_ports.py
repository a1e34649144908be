"""Words, a channel of the user's and a reranker work through each framework, which knows of none of them."""

from __future__ import annotations

from typing import Any

import pytest
from chromadb import Collection
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import QueryBundle

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.policy import Advanced
from llama_adaptive_memory import AdaptiveMemoryPostprocessor
from tests.adapters.conftest import TEXTS, Adapter
from tests.conftest import Open
from tests.llama_adaptive_memory.conftest import index_over, texts

ALL = Policy(channels=("dense", "lexical", "sql"))


@pytest.fixture
def index(collection: Collection) -> VectorStoreIndex:
    return index_over(collection, TEXTS)


@pytest.fixture
def memory(over: Open, collection: Collection) -> AdaptiveMemory:
    def sql(cue: str, user: str | None, limit: int) -> dict[str, float]:
        where: Any = {"user_id": user} if user else None
        return dict.fromkeys(collection.get(where=where, limit=limit)["ids"], 0.5)

    def milk_first(cue: str, texts: list[str]) -> list[float]:
        return [float("milk" in text) for text in texts]

    given: dict[str, Any] = {"channels": {"sql": sql}, "reranker": milk_first, "policy": ALL}
    return over(**given)


@pytest.mark.parametrize("reinforce", [True, False])
async def test_the_memorys_channels_and_its_reranker_rank_what_is_found(
    adapter: Adapter, collection: Collection, memory: AdaptiveMemory, reinforce: bool
) -> None:
    adapter.store(collection, TEXTS, user_id="alice")
    retriever = adapter.over_memory(memory, "alice", k=3, reinforce=reinforce)
    for awaited in (False, True):
        found = await adapter.find(retriever, "something strong", awaited=awaited)
        assert found[:2] == ["cold milk is white", "black coffee is strong"]
        if reinforce:
            logged = memory.for_user("alice").recalls()[0].candidates[0]
            assert {"words", "sql", "reranker"} <= logged.parts.keys()
    plain = Policy(channels=("dense", "lexical"), advanced=Advanced(rerank_weight=0.0))
    without = adapter.over_memory(memory, "alice", k=3, policy=plain)
    assert (await adapter.find(without, "something strong"))[0] == "black coffee is strong"


def test_a_postprocessor_takes_the_memorys_reranker(index: VectorStoreIndex, memory: AdaptiveMemory) -> None:
    found = index.as_retriever(similarity_top_k=5).retrieve("what is strong?")
    again = AdaptiveMemoryPostprocessor(memory=memory).postprocess_nodes(found, QueryBundle("what is strong?"))
    assert texts(again)[0] == "cold milk is white"
