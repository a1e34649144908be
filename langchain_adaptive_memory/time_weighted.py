"""LangChain's own time-weighted retriever over Chroma, as a system for `adaptive-memory compare`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from langchain_chroma import Chroma
from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever
from langchain_core.documents import Document

from adaptive_memory_core.evaluate.datasets import Item
from adaptive_memory_core.evaluate.systems import OnDisk, SystemQuery, SystemResult
from adaptive_memory_core.models.embedder import Embedder
from langchain_adaptive_memory.local import LocalEmbeddings

READ_AT, BATCH = "last_accessed_at", 2_000  # texts in one write; Chroma takes 5,461


class TimeWeighted:
    """A store and a retriever per user, since the retriever's filter does not apply to the last documents that it adds.

    The retriever always uses the current time. To ask as of another day, the timestamps of its documents are shifted
    before each question by the difference between that day and now. `settings` are its own, such as decay_rate.
    """

    def __init__(self, embedder: Embedder, settings: Mapping[str, Any]) -> None:
        self._embeddings, self._settings = LocalEmbeddings(embedder), dict(settings)
        self._retrievers: dict[str, TimeWeightedVectorStoreRetriever] = {}
        self._last_read: dict[str, float] = {}  # by id, POSIX seconds in the time of the data
        self._place = OnDisk()

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:
        store = Chroma(self._place.new_collection().name, self._embeddings, client=self._place.client)
        retriever = TimeWeightedVectorStoreRetriever(vectorstore=store, **self._settings)
        self._last_read |= {item.id: now if item.ts is None else item.ts for item in items}
        stamps = {READ_AT: 0.0, "created_at": 0.0}  # set before each question; Chroma takes no datetime
        documents = [Document(item.labelled_text, metadata={"item": item.id, **stamps}) for item in items]
        for start in range(0, len(documents), BATCH):
            retriever.add_documents(documents[start : start + BATCH])
        self._retrievers[user] = retriever

    def prepare(self, asked: SystemQuery) -> None:
        retriever, here = self._retrievers[asked.user], datetime.now().timestamp()
        retriever.k = asked.k
        retriever.search_kwargs["k"] = max(asked.k, retriever.search_kwargs.get("k", 100))
        for document in retriever.memory_stream:
            ago = asked.now - self._last_read[document.metadata["item"]]
            document.metadata[READ_AT] = datetime.fromtimestamp(here - ago)

    def ask(self, asked: SystemQuery) -> SystemResult:
        with warnings.catch_warnings():  # its warnings about scores below 0 quote all the texts
            warnings.simplefilter("ignore", UserWarning)
            found = self._retrievers[asked.user].invoke(asked.text)
        ids = [one.metadata["item"] for one in found]
        if asked.reading:
            self._last_read |= dict.fromkeys(ids, asked.now)
        return SystemResult(ids)

    def figures(self) -> Sequence[Mapping[str, float]]:
        return ()

    def close(self) -> None:
        self._place.close()
