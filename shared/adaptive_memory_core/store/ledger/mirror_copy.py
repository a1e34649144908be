"""What does a ledger's file hold of a collection that Chroma cannot read? Read without opening the ledger as one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from adaptive_memory_core.flow.ports import MirrorRow
from adaptive_memory_core.store.ledger.state_rows import chunks

Vectors = dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]]
_OF_NAME = (
    "SELECT collection_key, uuid, embedder, dimension, (SELECT count(*) FROM mirror "
    "WHERE mirror.collection_key = collections.collection_key) AS records FROM collections "
    "WHERE name = ? ORDER BY records > 0 DESC, collection_key DESC LIMIT 1"
)


class Copied(NamedTuple):
    """A collection that the ledger has a copy of."""

    key: int
    uuid: str
    embedder: str | None
    dimension: int | None
    records: int


def copied(ledger: Path | None, name: str) -> Copied | None:
    """The collection of that name of which the ledger has records; None where there is none that can be read."""
    if ledger is None or not ledger.exists():
        return None
    try:
        with closing(_reading(ledger)) as sql:
            row = sql.execute(_OF_NAME, (name,)).fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        return None  # what is wrong with the ledger is told on opening it
    return Copied(*row) if row is not None and row[4] else None


def rows(ledger: Path, key: int) -> Iterator[MirrorRow]:
    """The collection's records in the order of writing."""
    query = (
        "SELECT stored_id, text, metadata, vector FROM mirror JOIN mirror_vectors USING (row) "
        "WHERE collection_key = ? ORDER BY row"
    )
    with closing(_reading(ledger)) as sql:
        for stored_id, text, metadata, vector in sql.execute(query, (key,)):
            yield MirrorRow(stored_id, text, None if metadata is None else json.loads(metadata), vector)


def vectors(ledger: Path | None, uuid: str, texts: Mapping[str, str | None]) -> Vectors:
    """The vectors of those of the records whose texts are still what the ledger's copies say."""
    if ledger is None or not ledger.exists() or not texts:
        return {}
    found: Vectors = {}
    try:
        with closing(_reading(ledger)) as sql:
            for chunk in chunks(list(texts)):
                query = (
                    "SELECT stored_id, text, vector FROM mirror JOIN mirror_vectors USING (row) "  # noqa: S608
                    "JOIN collections USING (collection_key) "
                    f"WHERE uuid = ? AND stored_id IN ({', '.join('?' * len(chunk))})"
                )
                for stored_id, text, vector in sql.execute(query, (uuid, *chunk)):
                    if (text or "") == (texts[stored_id] or ""):
                        found[stored_id] = np.frombuffer(vector, dtype="<f4")
    except (sqlite3.Error, UnicodeDecodeError):
        return {}
    return found


def _reading(ledger: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{ledger.resolve().as_uri()}?mode=rw", uri=True, timeout=10.0)
