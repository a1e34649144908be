"""What both adapters must do is tested once, over each: the framework's own ways are behind `Adapter`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory
from tests.conftest import word_vectors
from tests.langchain_adaptive_memory.conftest import WordEmbeddings
from tests.llama_adaptive_memory.conftest import index_over


class Adapter(ABC):
    """One framework: how its users make a store and a retriever, ask, and read what was found."""

    name: str  # of the package
    extra: str  # what installs it
    heavy: tuple[str, ...]  # packages that importing ours must not load
    names_no_user: str  # what a warning says of documents that a user shall not read
    all_name_a_user: str  # and of a collection that is asked without one

    @property
    def package(self) -> ModuleType:
        return __import__(self.name)

    @abstractmethod
    def store(self, collection: Collection, texts: Sequence[str], **metadata: Any) -> Any:
        """A vector store of the framework's over a collection, filled as its users fill it."""

    @abstractmethod
    def over_store(self, store: Any, user: str | None = None, **fields: Any) -> Any:
        """A retriever over it; without a user, of what belongs to nobody."""

    @abstractmethod
    def over_memory(self, memory: AdaptiveMemory, user: str, k: int = 4, **fields: Any) -> Any: ...

    @abstractmethod
    async def find(self, retriever: Any, query: str, user: str | None = None, *, awaited: bool = False) -> list[str]:
        """The texts that are found."""


class LangChain(Adapter):
    name, extra = "langchain_adaptive_memory", "langchain"
    heavy = ("chromadb", "langchain", "langchain_core", "langgraph", "pydantic")
    names_no_user, all_name_a_user = r'name no user.*over="everyone".*user_key=None', "all name a user"

    def store(self, collection: Collection, texts: Sequence[str], **metadata: Any) -> Any:
        from langchain_chroma import Chroma

        store = Chroma(
            collection.name,
            WordEmbeddings(word_vectors),
            client=chromadb.EphemeralClient(),
            create_collection_if_not_exists=False,
        )
        store.add_texts(list(texts), [{"source": "chat", **metadata} for _ in texts])
        return store

    def over_store(self, store: Any, user: str | None = None, **fields: Any) -> Any:
        return self.package.AdaptiveMemoryRetriever.from_vectorstore(
            store, user_id=self.package.EVERYONE if user is None else user, **fields
        )

    def over_memory(self, memory: AdaptiveMemory, user: str, k: int = 4, **fields: Any) -> Any:
        return self.package.AdaptiveMemoryRetriever(memory=memory, user_id=user, k=k, **fields)

    async def find(self, retriever: Any, query: str, user: str | None = None, *, awaited: bool = False) -> list[str]:
        asked = {} if user is None else {"user_id": user}
        found = await retriever.ainvoke(query, **asked) if awaited else retriever.invoke(query, **asked)
        return [one.page_content for one in found]


class LlamaIndex(Adapter):
    name, extra = "llama_adaptive_memory", "llama-index"
    heavy = ("chromadb", "llama_index", "langchain_core")
    names_no_user, all_name_a_user = r'name no user.*over="everyone"', r"all name a user.*user_id='alice'"

    def store(self, collection: Collection, texts: Sequence[str], **metadata: Any) -> Any:
        return index_over(collection, texts, **metadata)

    def over_store(self, store: Any, user: str | None = None, **fields: Any) -> Any:
        return self.package.AdaptiveMemoryRetriever.from_index(store, user, **fields)

    def over_memory(self, memory: AdaptiveMemory, user: str, k: int = 4, **fields: Any) -> Any:
        return self.package.AdaptiveMemoryRetriever(memory, user_id=user, similarity_top_k=k, **fields)

    async def find(self, retriever: Any, query: str, user: str | None = None, *, awaited: bool = False) -> list[str]:
        asked = {} if user is None else {"user_id": user}
        found = await retriever.aretrieve(query, **asked) if awaited else retriever.retrieve(query, **asked)
        return [one.node.get_content() for one in found]


@pytest.fixture(params=[LangChain, LlamaIndex], ids=["LangChain", "LlamaIndex"])
def adapter(request: pytest.FixtureRequest) -> Adapter:
    made: Adapter = request.param()
    return made
