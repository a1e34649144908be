"""Who hears of what we write into the collection? Whoever keeps a copy of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from adaptive_memory_core.records import Metadata


class Heard(Protocol):
    """It hears of every write of ours, when it begins and when it has ended."""

    def changing(self, stored_ids: Sequence[str], grows: int | None = None) -> AbstractContextManager[None]:
        """Around a write of these; `grows` says by how many records the collection grows, where that is sure."""

    def annotated(self, changes: Mapping[str, Metadata]) -> None:
        """These keys were merged into the metadata of these records."""

    def as_mirrored(self, stored_ids: Sequence[str]) -> None:
        """These were written as the copy has them."""


class Nobody:
    """Where there is no copy."""

    def changing(self, stored_ids: Sequence[str], grows: int | None = None) -> AbstractContextManager[None]:  # noqa: ARG002
        return nullcontext()

    def annotated(self, changes: Mapping[str, Metadata]) -> None:
        """Nothing is done."""

    def as_mirrored(self, stored_ids: Sequence[str]) -> None:
        """Nothing is done."""


NOBODY = Nobody()
