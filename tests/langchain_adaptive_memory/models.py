"""The parts that tests put around a retriever; chat models that say what a test has written for them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.documents import BaseDocumentCompressor
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

AS_IT_IS: Runnable[Any, Any] = RunnablePassthrough()


def step(function: Callable[[Any], Any]) -> Runnable[Any, Any]:
    return RunnableLambda(function)


def ensemble(*retrievers: Any) -> EnsembleRetriever:
    return EnsembleRetriever(retrievers=list(retrievers), weights=[1.0] * len(retrievers))


class FirstOnly(BaseDocumentCompressor):
    n: int = 1_000

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        return documents[: self.n]


class Scripted(GenericFakeChatModel):
    """Gives its messages one after the other, whatever it is asked and whatever tools it has."""

    def __init__(self, messages: Sequence[AIMessage]) -> None:
        super().__init__(messages=iter(messages))

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def asks(tool: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": str(uuid.uuid4())}])


def says(text: str) -> AIMessage:
    return AIMessage(text)
