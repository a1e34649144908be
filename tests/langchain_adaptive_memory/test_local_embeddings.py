"""Does the bundled embedder serve LangChain's own store, and does a memory over that store know it again?"""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path

import chromadb
import numpy as np
import pytest
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder
from adaptive_memory_core.errors import EmbedderMismatchError
from langchain_adaptive_memory import AdaptiveMemoryRetriever, LocalEmbeddings
from tests.conftest import word_vectors

TEXTS = ["tea at four", "the lift is slow", ""]


def test_it_embeds_as_the_memory_does() -> None:
    embeddings: Embeddings = LocalEmbeddings()
    ours = LocalEmbedder()
    vectors = embeddings.embed_documents(TEXTS)
    assert all(type(number) is float for vector in vectors for number in vector)
    assert np.array_equal(np.array(vectors, dtype=np.float32), ours(TEXTS))
    assert embeddings.embed_query("tea") == asyncio.run(embeddings.aembed_query("tea")) == ours(["tea"])[0].tolist()
    assert embeddings.embed_documents([]) == asyncio.run(embeddings.aembed_documents([])) == []
    assert pickle.loads(pickle.dumps(embeddings)).embed_query("tea") == embeddings.embed_query("tea")


def test_ones_own_embedder_is_taken_instead() -> None:
    assert len(LocalEmbeddings(word_vectors).embed_query("tea")) == 32
    assert LocalEmbeddings(word_vectors).embedder.name == "word_vectors"


def test_a_memory_over_that_store_knows_the_embedder_and_goes_on_without_it(tmp_path: Path) -> None:
    store = Chroma("notes", LocalEmbeddings(), client=chromadb.PersistentClient(str(tmp_path)))
    store.add_texts(TEXTS[:2], ids=["tea", "lift"])
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
