"""What does growing need? The rows, the collection's texts and vectors, the embedder, the models, and the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adaptive_memory_core.cue.unrelated import UNRELATED
from adaptive_memory_core.flow.ports import Embedder, Records, Search
from adaptive_memory_core.flow.ports.hierarchy import HierarchyRows, Queued
from adaptive_memory_core.flow.ports.roles import Line, Roles
from adaptive_memory_core.hierarchy.nodes import Said
from adaptive_memory_core.policy.hierarchy import Hierarchies
from adaptive_memory_core.records import Fields, Scope
from adaptive_memory_core.stored_metadata import belongs


@dataclass
class Growing:
    """The parts that the steps of growth share."""

    rows: HierarchyRows
    records: Records
    search: Search
    embedder: Embedder
    fields: Fields
    roles: Roles
    settings: Callable[[], Hierarchies]
    now: Callable[[], float]
    transaction: Callable[[], Any]
    _usual: list[float] = field(default_factory=list)

    def said(self, scope: Scope, messages: Sequence[Queued], *, vectors: bool) -> list[Said | None]:
        """The messages as the collection has them; None for one that is gone, or another user's by now."""
        ids = [one.entry.stored_id for one in messages]
        found = {row[0]: row for row in self.records.rows(ids)}
        known = self.search.vectors(scope, ids) if vectors else {}
        return [
            Said(one, queued.entry.speaker, found[one][1] or "", queued.entry.at, known.get(one))
            if one in found and belongs(found[one][2], scope, self.fields)
            else None
            for one, queued in zip(ids, messages, strict=True)
        ]

    def present(self, scope: Scope, messages: Sequence[Queued], *, vectors: bool = False) -> list[Said] | None:
        """All of them; None where some are gone, which are let go of."""
        said = self.said(scope, messages, vectors=vectors)
        gone = [one.entry.stored_id for one, text in zip(messages, said, strict=True) if text is None]
        if gone:
            self.rows.drop(gone)
            return None
        return [one for one in said if one is not None]

    def usual(self) -> float:
        """The cosine of two texts that have nothing to do with each other, for this embedder."""
        if not self._usual:
            vectors = unit(self.embedder.embed_documents(UNRELATED))
            total, count = vectors.sum(axis=0), len(vectors)
            self._usual.append(max(0.0, float(total @ total - count) / (count * (count - 1))))
        return self._usual[0]


def lines_of(said: Sequence[Said]) -> list[Line]:
    return [Line(one.speaker, one.text, one.at) for one in said]


def unit(vectors: Any) -> Any:
    """Rows of length 1; one without a direction stays as it is."""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0.0, lengths, 1.0)
