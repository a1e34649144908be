"""What does plain Chroma find? The nearest texts of a user, by the collection's own index and filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adaptive_memory_core.evaluate.labelled import Item
from adaptive_memory_core.evaluate.systems.on_disk import OnDisk
from adaptive_memory_core.evaluate.systems.port import Asked, Found
from adaptive_memory_core.models.embedder import Embedder

BATCH = 2_000  # texts in one write; Chroma takes 5,461


class PlainChroma:
    """One collection for all users, who are told apart by a filter, as most programs do it."""

    def __init__(self, embedder: Embedder, _: Mapping[str, Any]) -> None:
        self._embedder, self._place = embedder, OnDisk()
        self._collection = self._place.new_collection()

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:  # noqa: ARG002 - it knows no time
        for start in range(0, len(items), BATCH):
            own = items[start : start + BATCH]
            vectors: Any = self._embedder.embed_documents([item.said for item in own])
            whose: Any = [{"user": user}] * len(own)
            self._collection.add([item.id for item in own], embeddings=vectors, metadatas=whose)

    def prepare(self, asked: Asked) -> None:
        """Nothing is."""

    def ask(self, asked: Asked) -> Found:
        vector: Any = [self._embedder.embed_query(asked.text)]
        found = self._collection.query(vector, n_results=asked.k, where={"user": asked.user}, include=[])
        return Found(found["ids"][0])

    def figures(self) -> Sequence[Mapping[str, float]]:
        return ()

    def close(self) -> None:
        self._place.close()
