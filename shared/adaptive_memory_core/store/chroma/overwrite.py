"""How does the collection come to hold exactly these records? Written whole, so that doing it twice does no harm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.flow.ports import MirrorRow
from adaptive_memory_core.records import Metadata
from adaptive_memory_core.store.chroma.own_writes import NOBODY, Heard
from adaptive_memory_core.store.chroma.rows import rows_of
from adaptive_memory_core.store.chroma.write_gate import told_alone

if TYPE_CHECKING:
    from chromadb import Collection


def overwrite(collection: Collection, rows: Sequence[MirrorRow], gone: Sequence[str], heard: Heard = NOBODY) -> None:
    """Text, vector and metadata as the rows have them, whatever stood there; what is gone is deleted.

    Whoever hears of it is told once nobody else writes: what others write until then is not taken for ours.
    """

    def write() -> None:
        with heard.changing([*gone, *(row.stored_id for row in rows)]):
            if gone:
                collection.delete(ids=list(gone))
            if rows:
                _write(collection, rows)

    told_alone(collection, write)


def _write(collection: Collection, rows: Sequence[MirrorRow]) -> None:
    present = {stored_id: metadata for stored_id, _, metadata in rows_of(collection, [row[0] for row in rows])}
    metadatas: Any = [_instead(present.get(row.stored_id), row.metadata) for row in rows]
    collection.upsert(
        ids=[row.stored_id for row in rows],
        documents=["" if row.text is None else row.text for row in rows],
        metadatas=metadatas,
        embeddings=[np.frombuffer(row.vector, dtype="<f4") for row in rows],
    )


def _instead(present: Metadata | None, wanted: Metadata | None) -> dict[str, Any] | None:
    """What Chroma, which merges, is to be given so that it shows this and no more.

    >>> _instead({"a": 1, "b": 2}, {"b": 3}), _instead(None, None)
    ({'a': None, 'b': 3}, None)
    """
    return {**dict.fromkeys(present or {}), **(wanted or {})} or None
