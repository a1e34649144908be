"""What does BM25 alone find? The texts of a user that share most words with the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.evaluate.bm25 import BM25
from adaptive_memory_core.evaluate.labelled import Item
from adaptive_memory_core.evaluate.systems.port import Asked, Found
from adaptive_memory_core.models.embedder import Embedder


class ByWords:
    """An index for each user; texts without any word of the question are not found."""

    def __init__(self, _: Embedder, __: Mapping[str, Any]) -> None:
        self._indexes: dict[str, tuple[list[str], BM25]] = {}

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:  # noqa: ARG002 - it knows no time
        self._indexes[user] = [item.id for item in items], BM25([item.said for item in items])

    def prepare(self, asked: Asked) -> None:
        """Nothing is."""

    def ask(self, asked: Asked) -> Found:
        if asked.user not in self._indexes:
            return Found([])
        ids, index = self._indexes[asked.user]
        scores = index(asked.text)
        best = np.argsort(-scores, kind="stable")[: asked.k].tolist()
        return Found([ids[number] for number in best if scores[number] > 0])

    def figures(self) -> Sequence[Mapping[str, float]]:
        return ()

    def close(self) -> None:
        self._indexes.clear()
