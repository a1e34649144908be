"""What does growing need? The rows, the collection's texts and vectors, the embedder, the models, and the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adaptive_memory_core.cue.unrelated import UNRELATED
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Embedder, Records, Search
from adaptive_memory_core.flow.ports.hierarchy import HierarchyRows
from adaptive_memory_core.flow.ports.hierarchy_values import Queued
from adaptive_memory_core.flow.ports.ledger_copies import MirrorRows
from adaptive_memory_core.flow.ports.roles import Line, Roles
from adaptive_memory_core.hierarchy.nodes import Said
from adaptive_memory_core.policy.hierarchy import Hierarchies
from adaptive_memory_core.records import Scope
from adaptive_memory_core.stored_owner import belongs


@dataclass
class Growing:
    """The parts that the steps of growth share."""

    rows: HierarchyRows
    mirror: MirrorRows
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
        """The messages as the mirror has them, else the collection; None for one that is gone, or another's by now."""
        ids = [one.entry.stored_id for one in messages]
        found = {row[0]: row for row in self.mirror.rows(ids)}
        if missing := [one for one in ids if one not in found]:
            found |= {row[0]: row for row in self.records.rows(missing)}
        known = self._vectors(scope, ids) if vectors else {}
        return [
            Said(one, queued.entry.speaker, found[one][1] or "", queued.entry.at, known.get(one))
            if one in found and belongs(found[one][2], scope, self.fields)
            else None
            for one, queued in zip(ids, messages, strict=True)
        ]

    def _vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Any]:
        known = {one: np.frombuffer(blob, dtype="<f4") for one, blob in self.mirror.vectors(stored_ids).items()}
        missing = [one for one in stored_ids if one not in known]
        return known | (self.search.vectors(scope, missing) if missing else {})

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


def kept_note(note: str | None) -> str | None:
    """What is kept of a note: not what the model said, which may be what a message says that is forgotten one day.

    >>> kept_note("the judge was not believed: it said 'I own a boat', which is not the JSON that it was asked for")
    'the judge was not believed'
    >>> kept_note("the judge failed: openai:m: APIError: you said: I own a boat"), kept_note(None)
    ('the judge failed: openai:m: APIError', None)
    """
    if note is None or " it said " in note:
        return None if note is None else note.partition(":")[0]
    return ": ".join(note.split(": ")[:3])


def lines_of(said: Sequence[Said]) -> list[Line]:
    return [Line(one.speaker, one.text, one.at) for one in said]


def unit(vectors: Any) -> Any:
    """Rows of length 1; one without a direction stays as it is."""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0.0, lengths, 1.0)
