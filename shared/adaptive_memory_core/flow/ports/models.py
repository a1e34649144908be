"""What must an embedder be able to do? Turn texts into vectors, under a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from adaptive_memory_core.flow.ports.search import Vector


class Embedder(Protocol):
    """Texts to vectors of one length. Where it `can_wait`, an event loop awaits `aembed_query`."""

    @property
    def can_wait(self) -> bool: ...
    @property
    def can_wait_for_documents(self) -> bool: ...
    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]: ...
    def embed_query(self, text: str) -> Vector: ...
    async def aembed_query(self, text: str) -> Vector: ...
    async def aembed_documents(self, texts: Sequence[str]) -> Sequence[Vector]: ...
