"""Are the embedding models of LangChain and LlamaIndex taken as they are? Real memories, blocking and async."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from llama_index.core.base.embeddings.base import BaseEmbedding

from adaptive_memory_core import AdaptiveMemory, as_embedder
from adaptive_memory_core.errors import EmbedderError
from langchain_adaptive_memory import AdaptiveMemoryRetriever
from tests.conftest import Open, word_vectors


class OfLangChain(Embeddings):
    """As langchain_openai's: a model's name, and nothing else that is special."""

    model = "words-1"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = word_vectors(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class OnlyAsync(OfLangChain):
    """One whose blocking calls an async program must not make."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return super().embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        return super().embed_documents([text])[0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise AssertionError("the blocking call")


class OfLlamaIndex(BaseEmbedding):
    """As llama_index's: callable, though not with texts."""

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = word_vectors([query])[0].tolist()
        return vector

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


MODELS: list[Any] = [OfLangChain, lambda: OfLlamaIndex(model_name="words-1")]


@pytest.mark.parametrize("model", MODELS)
def test_a_framework_s_model_opens_a_memory(tmp_path: Path, model: Any) -> None:
    for _ in range(2):  # and opens it again
        with AdaptiveMemory.open(tmp_path / "memory", embedder=model()) as memory:
            ana = memory.for_user("ana")
            ana.remember_many(["green tea", "red car"])
            assert ana.recall("green tea", k=1)[0].text == "green tea"
            assert memory.embedder_name.endswith(":words-1")


@pytest.mark.parametrize("model", MODELS)
def test_a_framework_s_model_serves_a_collection(over: Open, model: Any) -> None:
    memory = over(embedder=model())
    memory.for_everyone().remember("green tea")
    assert memory.for_everyone().recall("tea")[0].text == "green tea"


def test_a_class_is_no_model() -> None:
    for kind in (OfLangChain, OfLlamaIndex):
        with pytest.raises(ValueError, match="not an instance"):
            as_embedder(kind)


async def test_an_async_program_awaits_the_models_own_coroutines(over: Open) -> None:
    memory = over(embedder=OnlyAsync())
    ana = memory.for_user("ana")
    assert len(await ana.aremember_many(["green tea", "red car"])) == 2
    assert (await ana.arecall("green tea", k=1))[0].text == "green tea"
    retriever = AdaptiveMemoryRetriever(memory=memory, user_id="ana", k=1)
    assert await retriever.aadd_documents([Document("cold milk", id="milk")]) == ["milk"]
    assert [one.id for one in await retriever.ainvoke("cold milk")] == ["milk"]
    with pytest.raises(EmbedderError, match="the blocking call"):
        ana.remember("white snow")


async def test_a_coroutine_that_fails_is_an_error_of_ours_and_writes_nothing(over: Open) -> None:
    class Failing(OfLangChain):
        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            raise ConnectionError("no route")

    memory = over(embedder=Failing())
    with pytest.raises(EmbedderError, match="no route"):
        await memory.for_user("ana").aremember("tea")
    assert memory.for_user("ana").stats().records == 0
