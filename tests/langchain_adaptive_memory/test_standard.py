"""Does LangChain's own suite pass, against real Chroma, and does a user's memory pass for a vector store?"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import chromadb
import pytest
from chromadb import Collection
from langchain_classic.retrievers import ParentDocumentRetriever
from langchain_core.documents import Document
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.retrievers import BaseRetriever
from langchain_core.stores import InMemoryStore
from langchain_core.tools import BaseTool, create_retriever_tool
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    ToolsIntegrationTests,
    VectorStoreIntegrationTests,
)
from langchain_tests.unit_tests import ToolsUnitTests
from langchain_text_splitters import CharacterTextSplitter

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, ScopeError, UserMemory
from langchain_adaptive_memory import (
    EVERYONE,
    AdaptiveMemoryRetriever,
    AdaptiveMemoryVectorStore,
    create_recall_tool,
    create_remember_tool,
)
from tests.conftest import word_vectors


class OverAMemory:
    """A memory for each test of a suite."""

    @pytest.fixture(autouse=True)
    def _memory(self) -> Iterator[None]:
        collection = chromadb.EphemeralClient().create_collection(f"test-{uuid.uuid4()}", embedding_function=None)
        with AdaptiveMemory(collection, embedder=word_vectors) as self.memory:
            self.memory.for_user("ana").remember_many([f"note {number} on tea" for number in range(6)])
            yield


class TestRetriever(OverAMemory, RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return AdaptiveMemoryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory, "user_id": "ana"}

    @property
    def retriever_query_example(self) -> str:
        return "tea"


class OfTheRetriever(OverAMemory):
    @property
    def tool_constructor(self) -> BaseTool:
        retriever = AdaptiveMemoryRetriever(memory=self.memory, user_id="ana")
        return create_retriever_tool(retriever, "notes", "What is known about tea.")

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"query": "tea"}


class Recalling(OfTheRetriever):
    @property
    def tool_constructor(self) -> BaseTool:
        return create_recall_tool(self.memory, user_id="ana", response_format="content_and_artifact")


class Remembering(OverAMemory):
    @property
    def tool_constructor(self) -> BaseTool:
        return create_remember_tool(self.memory, user_id="ana")

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"text": "Ana drinks tea.", "importance": 0.9}


class TestRetrieverTool(OfTheRetriever, ToolsIntegrationTests): ...


class TestRetrieverToolAlone(OfTheRetriever, ToolsUnitTests): ...


class TestRecallTool(Recalling, ToolsIntegrationTests): ...


class TestRecallToolAlone(Recalling, ToolsUnitTests): ...


class TestRememberTool(Remembering, ToolsIntegrationTests): ...


class TestRememberToolAlone(Remembering, ToolsUnitTests): ...


class TestVectorStore(VectorStoreIntegrationTests):
    """LangChain's suite."""

    @pytest.fixture
    def vectorstore(self, collection: Collection) -> Iterator[AdaptiveMemoryVectorStore]:
        with closing(AdaptiveMemory(collection, embedder=self.get_embeddings())) as memory:
            yield AdaptiveMemoryVectorStore(memory.for_user("ana"))


@pytest.fixture
def store(memory: AdaptiveMemory) -> AdaptiveMemoryVectorStore:
    return AdaptiveMemoryVectorStore(memory, user_id="ana")


def test_parent_documents_are_found_by_their_parts(store: AdaptiveMemoryVectorStore) -> None:
    splitter = CharacterTextSplitter(separator=". ", chunk_size=20, chunk_overlap=0)
    retriever = ParentDocumentRetriever(vectorstore=store, docstore=InMemoryStore(), child_splitter=splitter)
    texts = ["green tea is nice. black coffee is strong", "the red car is fast. rain is wet today"]
    retriever.add_documents([Document(text) for text in texts])
    assert retriever.invoke("black coffee is strong")[0].page_content == texts[0]
    assert store.scope.stats().reads > 0


def test_index_adds_keeps_and_cleans_up(store: AdaptiveMemoryVectorStore) -> None:
    manager = InMemoryRecordManager("notes")
    manager.create_schema()
    notes = [Document(text, metadata={"source": text[:3]}) for text in ("tea is hot", "car is red")]

    def indexed(documents: list[Document]) -> dict[str, Any]:
        done = index(documents, manager, store, cleanup="full", source_id_key="source", key_encoder="sha256")
        return {name: number for name, number in done.items() if number}

    assert indexed(notes) == {"num_added": 2}
    assert indexed(notes) == {"num_skipped": 2}
    assert indexed(notes[:1]) == {"num_skipped": 1, "num_deleted": 1}
    assert [one.page_content for one in store.similarity_search("car")] == ["tea is hot"]


def test_it_is_one_users_and_learns(memory: AdaptiveMemory, store: AdaptiveMemoryVectorStore) -> None:
    memory.for_user("ben").remember("green tea of ben")
    (one,) = store.add_texts(["green tea"], [{"topic": "drinks", "importance": 0.9}])
    found = store.similarity_search_with_score("green tea", k=5)
    assert [(document.id, document.metadata) for document, _ in found] == [(one, {"topic": "drinks"})]
    assert found[0][1] == pytest.approx(1.0, abs=1e-5)
    assert store.as_retriever(search_kwargs={"filter": {"topic": "cars"}}).invoke("tea") == []
    assert store.scope.get(one).importance == 0.9
    assert store.scope.get(one).read.retrieval_count == 1
    assert [kept.page_content for kept in store.max_marginal_relevance_search("green tea", k=1)] == ["green tea"]
    everyone = AdaptiveMemoryVectorStore(memory, user_id=EVERYONE)
    assert everyone.similarity_search("green tea") == everyone.get_by_ids([one]) == []


async def test_a_search_by_vector_says_what_to_do_in_async_as_well(store: AdaptiveMemoryVectorStore) -> None:
    with pytest.raises(NotImplementedError, match="needs a query in words"):
        await store.asimilarity_search_by_vector([0.5, 0.5])
    with pytest.raises(NotImplementedError, match="needs a query in words"):
        await store.amax_marginal_relevance_search_by_vector([0.5, 0.5])


def test_what_makes_no_sense_is_refused(memory: AdaptiveMemory, store: AdaptiveMemoryVectorStore) -> None:
    with pytest.raises(ScopeError):
        AdaptiveMemoryVectorStore(memory)
    with pytest.raises(InvalidInputError, match="ids are given"):
        store.add_texts(["a", "b"], ids=["a"])
    with pytest.raises(InvalidInputError, match=r"1 metadatas are given for 2 texts. Give one for each"):
        store.add_texts(["a", "b"], [{}])
    with pytest.raises(InvalidInputError, match=r"metadata is 'wiki'. Give a mapping"):
        store.add_texts(["a"], ["wiki"])  # type: ignore[list-item]
    with pytest.raises(NotImplementedError, match=r"needs a query in words.*Give the question to similarity_search"):
        store.similarity_search_by_vector([0.5, 0.5])
    with pytest.raises(NotImplementedError, match="needs a query in words"):
        store.max_marginal_relevance_search_by_vector([0.5, 0.5])
    with pytest.raises(InvalidInputError, match="no ids"):
        store.delete()
    with pytest.raises(InvalidInputError, match="no memory"):
        AdaptiveMemoryVectorStore.from_texts(["tea"], embedding=None)  # type: ignore[arg-type]
    scope: UserMemory = store.scope
    assert scope.stats().records == 0
