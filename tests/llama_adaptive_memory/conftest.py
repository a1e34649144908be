"""What the tests for LlamaIndex share: an index over real Chroma, an embedding model of hashed words, mock LLMs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from chromadb import Collection
from llama_index.core import Document, Settings, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeWithScore
from llama_index.vector_stores.chroma import ChromaVectorStore

from adaptive_memory_core import Policy, UserMemory
from tests.conftest import word_vectors

EVERY_READ = Policy(refresh_floor_seconds=0)
TEXTS = (
    "alice drinks green tea",
    "bob drinks black coffee",
    "the deploy failed on friday",
    "tea is best at four",
    "coffee keeps bob awake",
    "the invoice of march is paid",
)


class HashedWords(BaseEmbedding):
    """Texts that share words are near each other; nothing is downloaded."""

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = word_vectors([query])[0].tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)


def index_over(collection: Collection, texts: Sequence[str] = (), **metadata: Any) -> VectorStoreIndex:
    """An index as users make one; each text is a document of its own, `d0`, `d1` and so on."""
    index = VectorStoreIndex.from_vector_store(
        ChromaVectorStore(chroma_collection=collection), embed_model=HashedWords(), transformations=[SentenceSplitter()]
    )
    for number, text in enumerate(texts):
        index.insert(Document(text=text, id_=f"d{number}", metadata={"number": number, **metadata}))
    return index


def add_plainly(collection: Collection, text: str, **metadata: Any) -> None:
    """A record `p`, as programs without LlamaIndex write it."""
    collection.add(ids=["p"], documents=[text], embeddings=word_vectors([text]), metadatas=[metadata])


def agent(tools: Sequence[Any], calls: Sequence[tuple[str, dict[str, Any]]]) -> FunctionAgent:
    """One that makes these calls for each message of its user, one after the other, and then answers."""

    def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        last = max(number for number, one in enumerate(messages) if one.role == "user")
        done = sum(one.role == "tool" for one in messages[last:])
        if done == len(calls):
            return ChatMessage(role="assistant", content="done")
        name, arguments = calls[done]
        block = ToolCallBlock(tool_call_id=str(done), tool_name=name, tool_kwargs=arguments)
        return ChatMessage(role="assistant", blocks=[block])

    return FunctionAgent(tools=list(tools), llm=MockFunctionCallingLLM(response_generator=answer))


def ids(nodes: Sequence[NodeWithScore]) -> list[str]:
    return [node.node.node_id for node in nodes]


def texts(nodes: Sequence[NodeWithScore]) -> list[str]:
    return [node.node.get_content() for node in nodes]


def counts(memory: UserMemory, nodes: Sequence[NodeWithScore]) -> list[int]:
    """How often each of the nodes was read."""
    return [memory.get(node.node.node_id).read.retrieval_count for node in nodes]


@pytest.fixture(autouse=True)
def _mock_models() -> Iterator[None]:
    """No test asks a real model; and none is resolved by accident."""
    before = (Settings._llm, Settings._embed_model)
    Settings.llm, Settings.embed_model = MockLLM(max_tokens=8), HashedWords()
    yield
    Settings._llm, Settings._embed_model = before


@pytest.fixture
def index(collection: Collection) -> VectorStoreIndex:
    """Six documents of nobody."""
    return index_over(collection, TEXTS)


@pytest.fixture
def index_in(new_collection: Callable[..., Collection]) -> Callable[[str], VectorStoreIndex]:
    """Makes the same index in a space of that name."""
    return lambda space: index_over(new_collection(space), TEXTS)
