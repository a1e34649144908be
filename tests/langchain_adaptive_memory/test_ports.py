"""Do words, a channel of the user's and a reranker work through LangChain's retriever, which knows of none of them?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.policy import Rerank
from langchain_adaptive_memory import AdaptiveMemoryRetriever

if TYPE_CHECKING:
    from tests.langchain_adaptive_memory.conftest import NewStore, WordEmbeddings

ALL = Policy(channels=("dense", "lexical", "sql"))


@pytest.fixture
def memory(new_store: NewStore, embeddings: WordEmbeddings) -> Iterator[AdaptiveMemory]:
    collection = new_store(user="alice")._collection

    def sql(cue: str, user: str | None, limit: int) -> dict[str, float]:
        return dict.fromkeys(collection.get(where={"user_id": user or ""}, limit=limit)["ids"], 0.5)

    def milk_first(cue: str, texts: list[str]) -> list[float]:
        return [float("milk" in text) for text in texts]

    given: dict[str, Any] = {"channels": {"sql": sql}, "reranker": milk_first, "policy": ALL}
    with AdaptiveMemory(collection, embedder=embeddings.embed_documents, **given) as opened:
        yield opened


@pytest.mark.parametrize("reinforce", [True, False])
async def test_the_memorys_channels_and_its_reranker_rank_the_documents(
    memory: AdaptiveMemory, reinforce: bool
) -> None:
    retriever = AdaptiveMemoryRetriever(memory=memory, k=3, user_id="alice", reinforce=reinforce)
    for documents in (retriever.invoke("something strong"), await retriever.ainvoke("something strong")):
        assert [one.page_content for one in documents][:2] == ["cold milk is white", "black coffee is strong"]
        if reinforce:
            logged = memory.for_user("alice").recalls()[0].candidates[0]
            assert {"words", "sql", "reranker"} <= logged.parts.keys()
    plain = retriever.invoke(
        "something strong", policy=Policy(channels=("dense", "lexical"), rerank=Rerank(weight=0.0))
    )
    assert plain[0].page_content == "black coffee is strong"
