"""The bundled embedder in LangChain's own store, and what a retriever does while an embedder is down."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator
from pathlib import Path

import chromadb
import numpy as np
import pytest
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, LocalEmbedder
from adaptive_memory_core.errors import EmbedderError, EmbedderMismatchError
from langchain_adaptive_memory import EVERYONE, AdaptiveMemoryRetriever, AdaptiveMemoryVectorStore, LocalEmbeddings
from langchain_adaptive_memory.convert import DETAILS
from tests.conftest import word_vectors
from tests.langchain_adaptive_memory.conftest import TEXTS

SAID = ["tea at four", "the lift is slow", ""]


def test_it_embeds_as_the_memory_does() -> None:
    embeddings: Embeddings = LocalEmbeddings()
    ours = LocalEmbedder()
    vectors = embeddings.embed_documents(SAID)
    assert all(type(number) is float for vector in vectors for number in vector)
    assert np.array_equal(np.array(vectors, dtype=np.float32), ours(SAID))
    assert embeddings.embed_query("tea") == asyncio.run(embeddings.aembed_query("tea")) == ours(["tea"])[0].tolist()
    assert embeddings.embed_documents([]) == asyncio.run(embeddings.aembed_documents([])) == []
    assert pickle.loads(pickle.dumps(embeddings)).embed_query("tea") == embeddings.embed_query("tea")


def test_ones_own_embedder_is_taken_instead() -> None:
    assert len(LocalEmbeddings(word_vectors).embed_query("tea")) == 32
    assert LocalEmbeddings(word_vectors).embedder.name == "word_vectors"


def test_a_memory_over_that_store_knows_the_embedder_and_goes_on_without_it(tmp_path: Path) -> None:
    store = Chroma("notes", LocalEmbeddings(), client=chromadb.PersistentClient(str(tmp_path)))
    store.add_texts(SAID[:2], ids=["tea", "lift"])
    assert store.similarity_search("slow lift", k=1)[0].id == "lift"
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=1) as retriever:
        assert [one.id for one in retriever.invoke("slow lift")] == ["lift"]
    ledger = tmp_path / "ledger.sqlite3"
    with AdaptiveMemory(store._collection, embedder=store.embeddings, ledger=ledger) as memory:
        memory.for_everyone().remember("the tram is late", id="tram")
    with AdaptiveMemory(store._collection, embedder=LocalEmbedder(), ledger=ledger) as memory:
        assert memory.for_everyone().recall("late tram", k=1).ids == ("tram",)
    with pytest.raises(EmbedderMismatchError, match="word_vectors"):
        AdaptiveMemory(store._collection, embedder=word_vectors, ledger=ledger)


class Failing(Embeddings):
    """Embeddings of a service that is down whenever it is told so."""

    def __init__(self, working: Embeddings) -> None:
        self.working, self.down = working, False

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.down:
            raise ConnectionError("503 Service Unavailable")
        return self.working.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def outage(embeddings: Embeddings) -> Iterator[tuple[Failing, Chroma]]:
    failing = Failing(embeddings)
    store = Chroma("outage", failing, client=chromadb.EphemeralClient())
    store.add_texts(list(TEXTS), ids=[text.split()[1] for text in TEXTS])
    yield failing, store
    store.delete_collection()


async def test_an_embedder_that_is_down_is_an_error_and_nothing_is_counted(outage: tuple[Failing, Chroma]) -> None:
    failing, store = outage
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=1) as retriever:
        assert retriever.invoke("green tea")[0].metadata[DETAILS].get("embedder_failed") is None
        failing.down = True
        for query in ("black coffee", "words that nobody wrote"):
            with pytest.raises(EmbedderError, match="503 Service Unavailable"):
                retriever.invoke(query)
            with pytest.raises(EmbedderError, match="503 Service Unavailable"):
                await retriever.ainvoke(query)
        assert retriever.memory.for_everyone().stats().recalls == 1
        with pytest.raises(EmbedderError):
            AdaptiveMemoryVectorStore(retriever.memory, user_id=EVERYONE).similarity_search("black coffee")
        failing.down = False
        assert retriever.invoke("black coffee")[0].id == "coffee"


@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "async"])
async def test_words_answer_for_an_embedder_that_is_down_if_asked_to(
    outage: tuple[Failing, Chroma], caplog: pytest.LogCaptureFixture, awaited: bool
) -> None:
    failing, store = outage
    failing.down = True
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=1, on_embedder_error="words") as retriever:
        with pytest.warns(RuntimeWarning, match="found by words alone"):
            found = await retriever.ainvoke("black coffee") if awaited else retriever.invoke("black coffee")
        assert [(one.id, one.metadata[DETAILS]["embedder_failed"]) for one in found] == [("coffee", True)]
        assert [one.levelname for one in caplog.records if "words alone" in one.message] == ["WARNING"]
        assert "503 Service Unavailable" in retriever.explain_last()
        with pytest.raises(EmbedderError):  # words find nothing either
            retriever.invoke("nothing of that kind")
        with pytest.raises(EmbedderError):
            retriever.invoke("black coffee", on_embedder_error="raise")
        with pytest.raises(InvalidInputError, match="on_embedder_error is 'ignore'"):
            retriever.invoke("black coffee", on_embedder_error="ignore")
        failing.down = False
        assert "embedder_failed" not in retriever.invoke("black coffee")[0].metadata[DETAILS]
