"""The parts that tests put around a retriever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.documents import BaseDocumentCompressor
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
