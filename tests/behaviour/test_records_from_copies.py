"""Are all records of a scope the same, whether the collection is asked or the ledger's copies of it?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Scope
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from tests.conftest import Open

SCOPES = (Scope("alice"), Scope("bob"), Scope("nobody"), Scope(None), Scope("alice", over="everyone"))
THEIRS: list[tuple[str, str | None, dict[str, Any] | None]] = [
    ("a", "green tea", {"user_id": "alice", "topic": "tea"}),
    ("b", None, {"user_id": "alice", "n": 1}),
    ("c", "black tea", {"user_id": "bob", "x": 0.5, "flag": True}),
    ("d", "for all", None),
    ("e", "for all", {"topic": "news"}),
    ("f", "of a number", {"user_id": 3}),
    ("g", "of nobody", {"user_id": ""}),
]


@pytest.fixture
def memory(open_memory: Open, tmp_path: Path) -> AdaptiveMemory:
    """Over what another program wrote, and we."""
    collection: Any = chromadb.PersistentClient(str(tmp_path / "memory")).create_collection("memories")
    for name, text, metadata in THEIRS:
        collection.add(
            ids=[name],
            documents=None if text is None else [text],
            metadatas=None if metadata is None else [metadata],
            embeddings=[[0.1] * 32],
        )
    memory = open_memory()
    memory.for_user("alice").remember_many(["an own note", {"text": "a fact", "id": "fact", "kind": "fact"}])
    memory.for_everyone().remember("everybody's")
    memory.sync()
    return memory


def found(records: Any, scope: Scope) -> tuple[int, list[Any]]:
    rows = [(one.stored_id, one.text, dict(one.metadata or {})) for page in records.pages(scope) for one in page]
    return records.count(scope), sorted(rows, key=lambda row: row[0])


@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_they_are(memory: AdaptiveMemory, scope: Scope) -> None:
    memory.flush()
    ours, theirs = memory.ports().records, ChromaRecords(memory.ports().records.collection, memory.fields)
    assert found(ours, scope) == found(theirs, scope)
    assert found(ours, scope)[0] == len(found(ours, scope)[1])


def test_what_another_program_has_just_written_is_among_them(memory: AdaptiveMemory) -> None:
    records: Any = memory.ports().records
    records.collection.delete(ids=["a"])
    records.collection.add(ids=["h"], documents=["new"], metadatas=[{"user_id": "alice"}], embeddings=[[0.2] * 32])
    names = [row[0] for row in found(records, Scope("alice"))[1]]
    assert "h" in names
    assert "a" not in names
    assert memory.for_user("alice").stats().records == len(names)
