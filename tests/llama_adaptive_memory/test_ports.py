"""Do words, a channel of the user's and a reranker work through LlamaIndex, which knows of none of them?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import QueryBundle

from adaptive_memory_core import AdaptiveMemory, Policy
from llama_adaptive_memory import AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever
from tests.conftest import word_vectors
from tests.llama_adaptive_memory.conftest import texts

ALL = Policy(channels=("dense", "lexical", "sql"))


def invoices_first(cue: str, given: Sequence[str]) -> list[float]:
    return [float("invoice" in text) for text in given]


@pytest.fixture
def memory(index: VectorStoreIndex) -> Iterator[AdaptiveMemory]:
    vector_store: Any = index.vector_store
    collection = vector_store.client

    def sql(cue: str, user: str | None, limit: int) -> dict[str, float]:
        return dict.fromkeys(collection.get(limit=limit)["ids"], 0.5)

    given: dict[str, Any] = {"channels": {"sql": sql}, "reranker": invoices_first, "policy": ALL}
    with AdaptiveMemory(collection, embedder=word_vectors, **given) as opened:
        yield opened


@pytest.mark.parametrize("reinforce", [True, False])
async def test_the_memorys_channels_and_its_reranker_rank_the_nodes(memory: AdaptiveMemory, reinforce: bool) -> None:
    retriever = AdaptiveMemoryRetriever.from_memory(memory, similarity_top_k=2, reinforce=reinforce)
    for nodes in (retriever.retrieve("what failed?"), await retriever.aretrieve("what failed?")):
        assert texts(nodes) == ["the invoice of march is paid", "the deploy failed on friday"]
        assert retriever._last_recall is not None
        assert {"words", "sql", "reranker"} <= retriever._last_recall[0].parts.keys()


def test_a_postprocessor_takes_the_memorys_reranker(index: VectorStoreIndex, memory: AdaptiveMemory) -> None:
    found = index.as_retriever(similarity_top_k=6).retrieve("what failed?")
    again = AdaptiveMemoryPostprocessor(memory=memory).postprocess_nodes(found, QueryBundle("what failed?"))
    assert texts(again)[0] == "the invoice of march is paid"
