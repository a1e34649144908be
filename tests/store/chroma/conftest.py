"""A memory beside which other programs write, and what its ledger has."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping
from adaptive_memory_core.store.chroma.importer import Importer
from tests.conftest import Open, word_vectors

LATE = Keeping(lag_seconds=3_600.0, queue_limit=1_000_000, others_seen_seconds=3_600.0)  # nothing is done by itself


def importer_of(memory: AdaptiveMemory) -> Importer:
    records: Any = memory.ports().records
    found: Importer = records._access.open.importer
    return found


def collection_of(memory: AdaptiveMemory) -> Any:
    records: Any = memory.ports().records
    return records.collection


def in_ledger(memory: AdaptiveMemory) -> dict[str, str | None]:
    """The texts that the ledger has, by id."""
    mirror = memory.ports().ledger.mirror
    return {one: text for one, text, _ in mirror.rows(sorted(mirror.stored_ids()))}


def rows(**texts: str) -> dict[str, Any]:
    """What another program writes: records of alice's."""
    vectors = word_vectors(list(texts.values()))
    owners = [{"user_id": "alice"}] * len(texts)
    return {"ids": list(texts), "documents": list(texts.values()), "embeddings": vectors, "metadatas": owners}


@pytest.fixture
def unheard(open_memory: Open, others_unheard: None) -> AdaptiveMemory:
    """A memory that hears of no write, as if another process wrote, and that does nothing by itself."""
    memory = open_memory(keeping=LATE)
    memory.for_user("alice").remember_many([{"id": "tea", "text": "green tea"}, {"id": "wine", "text": "red wine"}])
    memory.flush()
    memory.sync()
    return memory
