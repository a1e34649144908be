"""Who keeps the records? Writing them, and reading them by their ids: what the collection is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from adaptive_memory_core.flow.ports.search import Vector
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.identity import origin
from adaptive_memory_core.records import Metadata, Record, Scope, Seen


@dataclass(frozen=True, slots=True)
class Stored:
    """A record as it stands in the collection; `stored_id` is its id there."""

    record: Record
    stored_id: str

    @property
    def seen(self) -> Seen:
        return seen(self.record)


def seen(record: Record) -> Seen:
    """A record's state with what else the ledger keeps of it."""
    return Seen(record.read, record.kind, origin(record.text, record.stored))


class Extent(NamedTuple):
    """How many records a collection holds, and the one that came last."""

    size: int
    last: str | None


class Records(Protocol):
    """Keeping: text, vector, metadata."""

    @property
    def batch_size(self) -> int: ...
    @property
    def space(self) -> str:
        """What the distance between two vectors is: "cosine", "ip" or "l2"."""

    def extent(self) -> Extent: ...
    def flagged(self, scope: Scope, flag: str) -> list[str]: ...
    def fetch(self, scope: Scope, ids: Sequence[str]) -> dict[str, Found]: ...
    def said_in(self, scope: Scope, sessions: Sequence[Any], limit: int) -> list[Found]: ...
    def pages(self, scope: Scope) -> Iterator[list[Found]]: ...
    def taken(self, ids: Sequence[str]) -> set[str]: ...
    def add(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None: ...
    def revise(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None: ...
    def annotate(self, scope: Scope, stored_id: str, changes: Metadata) -> None: ...
    def remove(self, scope: Scope, stored_ids: Sequence[str]) -> None: ...
    def unlink(self, scope: Scope, record_id: str, began: float | None) -> None: ...
    def count(self, scope: Scope) -> int: ...
    def size(self) -> int: ...
    def latest(self, most: int) -> list[str]: ...
    def ids(self) -> list[str]: ...
    def rows(self, stored_ids: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]: ...
    def metadata(self, stored_ids: Sequence[str]) -> dict[str, Metadata]: ...
    def update_metadata(self, changes: Mapping[str, Metadata]) -> None: ...
