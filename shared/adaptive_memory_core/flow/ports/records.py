"""What must the keeper of records be able to do? Write them, and read them by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from adaptive_memory_core.flow.ports.ledger_values import Extent
from adaptive_memory_core.flow.ports.search import Vector
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.records import Metadata, Record, Scope, Seen
from adaptive_memory_core.text_identity import origin, said


@dataclass(frozen=True, slots=True)
class Stored:
    """A record as it stands in the collection; `stored_id` is its id there. `shared` says that it is everyone's, and is
    looked at by a user."""

    record: Record
    stored_id: str
    shared: bool = False

    @property
    def seen(self) -> Seen:
        return seen(self.record, shared=self.shared)


def seen(record: Record, *, shared: bool = False) -> Seen:
    """A record's state with what else the ledger keeps of it."""
    words = said(record.text)
    return Seen(record.read, record.kind, origin(record.text, record.stored or record.metadata), shared, words)


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
    def names_users(self) -> bool | None:
        """Whether any record names a user, as of now; None if that is not known, or if there are no records."""

    def latest(self, most: int) -> list[str]: ...
    def ids(self) -> list[str]: ...
    def rows(self, stored_ids: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]: ...
    def metadata(self, stored_ids: Sequence[str]) -> dict[str, Metadata]: ...
    def update_metadata(self, changes: Mapping[str, Metadata]) -> None: ...
