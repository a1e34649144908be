"""How is Chroma called? Filters joined as it wants them, and its errors translated into ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from adaptive_memory_core.errors import DamagedStoreError, FilterError, StoreError
from adaptive_memory_core.flow.ports import Where
from adaptive_memory_core.let_others_run import let_go
from adaptive_memory_core.shown_in_errors import reason, shown

if TYPE_CHECKING:
    from chromadb import Collection

T = TypeVar("T")


def space_of(collection: Collection) -> str:
    """The distance the collection was made with, as it says itself."""
    configuration: Mapping[str, Any] = collection.configuration_json or {}
    index = configuration.get("hnsw") or configuration.get("spann") or {}
    space = index.get("space") or (collection.metadata or {}).get("hnsw:space") or "l2"
    return str(space)


def distances_to(vector: Any, others: Any, *, space: str) -> Any:
    """Chroma's distances, reckoned here.

    >>> distances_to([1.0, 0.0], [[0.0, 2.0], [3.0, 0.0]], space="cosine").tolist()
    [1.0, 0.0]
    >>> distances_to([1.0, 0.0], [[0.0, 2.0]], space="l2").tolist()
    [5.0]
    >>> distances_to([1.0, 0.0], [[0.5, 2.0]], space="ip").tolist()
    [0.5]
    """
    one, rows = np.asarray(vector, dtype=np.float64), np.asarray(others, dtype=np.float64)
    if space == "l2":
        return ((rows - one) ** 2).sum(axis=1)
    if space == "ip":
        return 1.0 - rows @ one
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(one)
    return 1.0 - np.divide(rows @ one, lengths, out=np.zeros(len(rows)), where=lengths > 0)


def client_of(collection: Collection) -> Any:
    """The client behind a collection: the only way to learn its limits and its directory."""
    return collection._client


def both(one: Where | None, other: Where | None) -> Where | None:
    """Both conditions; several keys in one mapping mean all of them, as a reader would expect.

    >>> both({"user_id": "a"}, {"x": 1, "y": 2})
    {'$and': [{'user_id': 'a'}, {'x': 1}, {'y': 2}]}
    >>> both(None, None) is None
    True
    """
    parts = [{key: value} for where in (one, other) if where for key, value in where.items()]
    return None if not parts else parts[0] if len(parts) == 1 else {"$and": parts}


_LENGTHS = re.compile(r"expecting embedding with dimension of (?P<wanted>\d+), got (?P<given>\d+)")
_DAMAGED = re.compile("hnsw segment (reader|writer)|Error getting embedding")


def told(call: Callable[[], T], where: Where | None = None) -> T:
    """What the call gives; Chroma's errors in our words."""
    import httpx
    from chromadb.errors import ChromaError, InvalidArgumentError

    let_go()
    try:
        return call()
    except (ChromaError, httpx.HTTPError, ValueError, TypeError, OSError, RuntimeError) as error:
        if lengths := _LENGTHS.search(str(error)):
            raise StoreError(
                f"The vector has {lengths['given']} numbers, and those of the collection have {lengths['wanted']}. "
                "Give one of the embedder that the collection was written with, or the text alone."
            ) from error
        if where is not None and isinstance(error, ValueError | InvalidArgumentError):
            raise FilterError(
                f"The filter {shown(where)} was refused by Chroma: {reason(error)}. Give a Chroma `where` "
                'mapping, e.g. {"kind": "fact"} or {"$and": [{"kind": "fact"}, {"importance": {"$gte": 0.5}}]}.'
            ) from error
        if _DAMAGED.search(str(error)):
            raise DamagedStoreError(
                f"Chroma cannot read its index: {reason(error)}. Where it is embedded, close what has its directory "
                "open and call AdaptiveMemory.repair(path, collection=..., embedder=...); for a server, do it there."
            ) from error
        raise StoreError(
            f"The Chroma collection failed: {type(error).__name__}: {reason(error)}. Nothing of this call is "
            "half-done on our side; check that the database is there and reachable, then call again."
        ) from error
