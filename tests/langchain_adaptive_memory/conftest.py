"""What do the tests of the LangChain package stand on? Its Chroma and embeddings, with the same cheap vectors."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

import chromadb
import pytest
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from langchain_adaptive_memory import AdaptiveMemoryRetriever, AdaptiveMemoryStore
from tests.conftest import Clock, word_vectors

TEXTS = ("green tea is nice", "black coffee is strong", "cold milk is white", "the red car is fast", "rain is wet")
ANA = ("users", "ana")
EVERY_READ = Policy(refresh_floor_seconds=0.0)  # so that only the turn keeps two reads from counting twice


class WordEmbeddings(Embeddings):
    """The vectors of the other tests, as LangChain knows embeddings."""

    def __init__(self, embed: Callable[[Sequence[str]], Any]) -> None:
        self.embed = embed

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self.embed(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def vectors(texts: Sequence[str]) -> list[list[float]]:
    """As LangGraph's stores embed."""
    found: list[list[float]] = word_vectors(texts).tolist()
    return found


INDEX: Any = {"dims": 32, "embed": vectors, "fields": ["text"]}
OpenStore = Callable[..., AdaptiveMemoryStore]


class NewStore(Protocol):
    def __call__(
        self, texts: Sequence[str] = TEXTS, user: str | None = None, space: str = "cosine", **metadata: Any
    ) -> Chroma: ...


class NewRetriever(Protocol):
    def __call__(self, memory: Any = ..., **fields: Any) -> AdaptiveMemoryRetriever: ...


@pytest.fixture
def embeddings() -> WordEmbeddings:
    return WordEmbeddings(word_vectors)


@pytest.fixture
def new_store(embeddings: WordEmbeddings) -> Iterator[NewStore]:
    """Makes LangChain vector stores in RAM, filled as LangChain fills them: no key of ours in them."""
    client = chromadb.EphemeralClient()
    made: list[Chroma] = []

    def new(texts: Sequence[str] = TEXTS, user: str | None = None, space: str = "cosine", **metadata: Any) -> Chroma:
        name = f"test-{uuid.uuid4()}"
        settings: Any = {"hnsw": {"space": space}}
        made.append(Chroma(name, embeddings, client=client, collection_configuration=settings))
        keys = {"source": "chat", **({} if user is None else {"user_id": user}), **metadata}
        if texts:
            made[-1].add_texts(
                list(texts), [{**keys, "n": n} for n in range(len(texts))], [t.split()[1] for t in texts]
            )
        return made[-1]

    yield new
    for store in made:
        store.delete_collection()


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    """A memory of Alice's; there is one of Bob's beside it."""
    mine = memory.for_user("alice")
    mine.remember_many([{"text": text, "id": text.split()[1]} for text in TEXTS])
    memory.for_user("bob").remember("bob drinks green tea", id="bobs")
    return mine


@pytest.fixture
def new_retriever(memory: AdaptiveMemory, alice: UserMemory) -> Iterator[NewRetriever]:
    """Makes retrievers over the memory of many users, or over what is given."""
    with ExitStack() as stack:

        def new(memory: Any = memory, **fields: Any) -> AdaptiveMemoryRetriever:
            return stack.enter_context(AdaptiveMemoryRetriever(memory=memory, **fields))

        yield new


@pytest.fixture
def filled(memory: AdaptiveMemory) -> AdaptiveMemory:
    """A memory of two users, for agents."""
    memory.for_user("ana").remember("Ana drinks green tea.", id="tea")
    memory.for_user("ana").remember("Ana sails old ships.", id="ships")
    memory.for_user("ben").remember("Ben drinks black coffee.", id="coffee")
    return memory


@pytest.fixture
def ana(filled: AdaptiveMemory) -> UserMemory:
    return filled.for_user("ana")


@pytest.fixture
def open_store(clock: Clock) -> Iterator[OpenStore]:
    """Opens a store of LangGraph's, in RAM unless told otherwise; closed when the test ends."""
    with ExitStack() as stack:

        def opener(index: Any = INDEX, **arguments: Any) -> AdaptiveMemoryStore:
            return stack.enter_context(AdaptiveMemoryStore(index, **{"clock": clock, **arguments}))

        yield opener


@pytest.fixture
def store(open_store: OpenStore) -> AdaptiveMemoryStore:
    return open_store()
