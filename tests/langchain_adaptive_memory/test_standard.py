"""Does LangChain's own suite pass, against real Chroma?"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import chromadb
import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, create_retriever_tool
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from adaptive_memory_core import AdaptiveMemory
from langchain_adaptive_memory import AdaptiveMemoryRetriever, create_recall_tool, create_remember_tool
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
