"""What both adapters must do is tested once, over each: the framework's own ways are behind `Framework`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import ModuleType
from typing import Any

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, UserMemory
from tests.conftest import word_vectors
from tests.langchain_adaptive_memory.conftest import TEXTS, WordEmbeddings, alice
from tests.llama_adaptive_memory.conftest import HashedWords, index_over

__all__ = ["TEXTS", "alice"]  # what both adapters find


class Framework:
    """What each has: how its users make a store and a retriever, ask, and read what was found."""

    name: str  # of the package
    extra: str  # what installs it
    heavy: tuple[str, ...]  # packages that importing ours must not load
    k: str  # how it names the number of results
    filter: str  # and a filter
    readers: tuple[str, ...]  # the classes that open a memory over a store
    names_no_user: str  # what a warning says of documents that a user shall not read
    all_name_a_user: str  # and of a collection that is asked without one

    @property
    def package(self) -> ModuleType:
        return __import__(self.name)

    def tool(self, verb: str, memory: Any, **options: Any) -> Any:
        return getattr(self.package, f"create_{verb}_tool")(memory, **options)

    def over_store(self, store: Any, user: Any = None, **fields: Any) -> Any:
        """A retriever over a vector store; without a user, of what belongs to nobody."""
        return self.reader("AdaptiveMemoryRetriever", store, user, **fields)

    def over_memory(self, memory: Any, user: str | None = None, k: int = 4, **fields: Any) -> Any:
        return self.package.AdaptiveMemoryRetriever(memory=memory, user_id=user, **{self.k: k, **fields})

    async def find(
        self, retriever: Any, query: str, user: Any = None, *, awaited: Any = False, **asked: Any
    ) -> list[str]:
        """The texts that are found."""
        named = {} if user is None else {"user_id": user}
        return [self.text(one) for one in await self.look(retriever, query, awaited=awaited, **named, **asked)]

    def ids(self, found: Sequence[Any]) -> list[str]:
        return [self.id(one) for one in found]

    over_collection: Callable[..., Any]  # (kind, collection, **fields): one of the readers, over a collection
    reader: Callable[..., Any]  # (kind, store, user=None, **fields): one of the readers, over a store
    look: Callable[..., Awaitable[list[Any]]]  # (retriever, query, *, awaited=False, **asked): what is found
    text: Callable[[Any], str]  # of a document or node that was found
    id: Callable[[Any], str]


class LangChain(Framework):
    name, extra, k, filter = "langchain_adaptive_memory", "langchain", "k", "filter"
    readers = ("AdaptiveMemoryRetriever",)
    heavy = ("chromadb", "langchain", "langchain_core", "langgraph", "pydantic")
    names_no_user, all_name_a_user = r'name no user.*over="everyone".*user_key=None', "all name a user"

    def store(self, collection: Collection, texts: Sequence[str] = (), **metadata: Any) -> Any:
        from langchain_chroma import Chroma

        client = metadata.pop("client", None) or chromadb.EphemeralClient()
        embeddings = WordEmbeddings(word_vectors)
        store = Chroma(collection.name, embeddings, client=client, create_collection_if_not_exists=False)
        for text in texts:
            self.add(store, text, **metadata)
        return store

    def add(self, store: Any, text: str, name: str | None = None, **metadata: Any) -> None:
        store.add_texts([text], [{"source": "chat", **metadata}], ids=None if name is None else [name])

    def reader(self, kind: str, store: Any, user: str | None = None, **fields: Any) -> Any:
        whose = self.package.EVERYONE if user is None else user
        return getattr(self.package, kind).from_vectorstore(store, user_id=whose, **fields)

    def over_collection(self, kind: str, collection: Collection, **fields: Any) -> Any:
        return getattr(self.package, kind).from_collection(collection, WordEmbeddings(word_vectors), **fields)

    async def look(self, retriever: Any, query: str, *, awaited: bool = False, **asked: Any) -> list[Any]:
        return list(await retriever.ainvoke(query, **asked) if awaited else retriever.invoke(query, **asked))

    def text(self, found: Any) -> str:
        return str(found.page_content)

    def id(self, found: Any) -> str:
        return str(found.id)

    def details(self, found: Any) -> dict[str, Any]:
        return dict(found.metadata["adaptive_memory"])

    def score(self, found: Any) -> float:
        return float(found.metadata["score"])

    def scope(self, retriever: Any, user: str | None = None, **over: Any) -> UserMemory:
        return scope_of(retriever.memory, user, **over)

    def where(self, **equal: Any) -> Any:
        return equal

    async def call(self, tool: Any, *, awaited: bool = False, **arguments: Any) -> str:
        return str(await tool.ainvoke(arguments) if awaited else tool.invoke(arguments))

    def parameters(self, tool: Any) -> set[str]:
        from langchain_core.utils.function_calling import convert_to_openai_tool

        return set(convert_to_openai_tool(tool)["function"]["parameters"]["properties"])


class LlamaIndex(Framework):
    name, extra, k, filter = "llama_adaptive_memory", "llama-index", "similarity_top_k", "filters"
    readers = ("AdaptiveMemoryRetriever", "AdaptiveMemoryPostprocessor", "AdaptiveMemoryBlock")
    heavy = ("chromadb", "llama_index", "langchain_core")
    names_no_user, all_name_a_user = r'name no user.*over="everyone"', r"all name a user.*user_id='alice'"

    def store(self, collection: Collection, texts: Sequence[str] = (), **metadata: Any) -> Any:
        metadata.pop("client", None)
        return index_over(collection, texts, **metadata)

    def add(self, store: Any, text: str, name: str | None = None, **metadata: Any) -> None:
        from llama_index.core.schema import TextNode

        store.insert_nodes([TextNode(text=text, metadata=metadata, **({} if name is None else {"id_": name}))])

    def reader(self, kind: str, store: Any, user: str | None = None, **fields: Any) -> Any:
        return getattr(self.package, kind).from_index(store, user_id=user, **fields)

    def over_collection(self, kind: str, collection: Collection, **fields: Any) -> Any:
        return getattr(self.package, kind)(collection=collection, embed_model=HashedWords(), **fields)

    async def look(self, retriever: Any, query: str, *, awaited: bool = False, **asked: Any) -> list[Any]:
        return list(await retriever.aretrieve(query, **asked) if awaited else retriever.retrieve(query, **asked))

    def text(self, found: Any) -> str:
        return str(found.node.get_content())

    def id(self, found: Any) -> str:
        return str(found.node.node_id)

    def details(self, found: Any) -> dict[str, Any]:
        return dict(found.node.metadata)

    def score(self, found: Any) -> float:
        return float(found.score)

    def scope(self, retriever: Any, user: str | None = None, **over: Any) -> UserMemory:
        return scope_of(retriever.memory.memory, user, **over)

    def where(self, **equal: Any) -> Any:
        from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

        return MetadataFilters(filters=[MetadataFilter(key=key, value=one) for key, one in equal.items()])

    async def call(self, tool: Any, *, awaited: bool = False, **arguments: Any) -> str:
        return str((await tool.acall(**arguments) if awaited else tool.call(**arguments)).content)

    def parameters(self, tool: Any) -> set[str]:
        return set(tool.metadata.get_parameters_dict()["properties"])


Adapter = LangChain | LlamaIndex


def scope_of(memory: AdaptiveMemory, user: str | None, **over: Any) -> UserMemory:
    return memory.for_everyone() if user is None else memory.for_user(user, **over)


BOTH = pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "async"])


@pytest.fixture(params=[LangChain, LlamaIndex], ids=["LangChain", "LlamaIndex"])
def adapter(request: pytest.FixtureRequest) -> Adapter:
    made: Adapter = request.param()
    return made
