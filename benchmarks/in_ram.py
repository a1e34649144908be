"""How is one thing measured in a memory of its own? In RAM, at a clock that is set, and nothing of it stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import chromadb

from adaptive_memory_core import AdaptiveMemory, Keeping, LocalEmbedder

UNWRITTEN = Keeping(log=False, lag_seconds=3_600)  # nothing is written back meanwhile


@contextmanager
def in_ram(
    name: str, clock: Callable[[], float], *, embedder: Any = None, keeping: Keeping = UNWRITTEN, **options: Any
) -> Iterator[AdaptiveMemory]:
    """An empty memory with the bundled embedder, unless another is given; `name` is that of its collection."""
    client = chromadb.EphemeralClient()
    collection = client.create_collection(
        name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}, get_or_create=True
    )
    embed = LocalEmbedder() if embedder is None else embedder
    with AdaptiveMemory(collection, embedder=embed, clock=clock, keeping=keeping, **options) as memory:
        yield memory
    client.delete_collection(name)
