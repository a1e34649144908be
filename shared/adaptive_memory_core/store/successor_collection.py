"""The collection that is filled with another embedder's vectors under another name: found, made or continued, and
renamed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports.ledger_values import Target
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.store.chroma.chroma_calls import CollectionsOfClient, write_chroma
from adaptive_memory_core.store.embedder_check import DIMENSION_KEY, NAME_KEY, notes_on

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

SUFFIX = "-being-reembedded"
HEIR_KEY = "adaptive_memory:heir"  # the metadata of one that is whole, and has yet to be renamed
INDEXES = ("hnsw", "spann")  # whose settings are kept
PAGE = 1_000  # records that are deleted at a time


def find_successor(collection: Collection, uuid: str) -> Collection | None:
    """The successor of that id."""
    one = CollectionsOfClient(collection).get(collection.name + SUFFIX)
    return one if one is not None and str(one.id) == uuid else None


def make_successor(collection: Collection, embedder: Embedder, function: object) -> Collection:
    """A new one next to it, with its distance, settings and metadata. `function` is Chroma's, if the embedder is."""
    beside, name = CollectionsOfClient(collection), collection.name + SUFFIX
    beside.delete(name)
    metadata = {key: value for key, value in (collection.metadata or {}).items() if not _is_ours(key)}
    settings = {
        name: value for name, value in (collection.configuration_json or {}).items() if name in INDEXES and value
    }
    return beside.create(name, configuration=settings, metadata={**metadata, **notes_on(embedder)}, function=function)


def replace_original(new: Collection, old: Collection, name: str, with_lists: Sequence[str]) -> Collection:
    """The new one under that name from now on; the old one goes. A process that is killed in between leaves a mark.

    Chroma leaves the lists in a deleted collection's metadata to the next one, so records `with_lists` go before it.
    """
    write_chroma(new, lambda: new.modify(metadata={**_metadata(new), HEIR_KEY: name}))
    for start in range(0, len(with_lists), PAGE):
        write_chroma(old, lambda page=with_lists[start : start + PAGE]: old.delete(ids=list(page)))  # type: ignore[misc]
    write_chroma(old, lambda: CollectionsOfClient(new).delete(name))
    return _renamed(new, name)


def renamed_successor(place: CollectionsOfClient, name: str) -> Collection | None:
    """The collection whose predecessor was gone when its process was killed, under its name by now."""
    one = place.get(name + SUFFIX)
    return None if one is None or (one.metadata or {}).get(HEIR_KEY) != name else _renamed(one, name)


def _renamed(new: Collection, name: str) -> Collection:
    write_chroma(new, lambda: new.modify(name=name, metadata=_metadata(new)))
    return new


def _metadata(new: Collection) -> dict[str, object]:
    return {key: value for key, value in (new.metadata or {}).items() if key != HEIR_KEY}


def _is_ours(key: str) -> bool:
    """Whether a key says how a collection was made, or is set again for a new one."""
    return key.startswith("hnsw:") or key in (NAME_KEY, DIMENSION_KEY, HEIR_KEY)


PROBES = 5  # texts that are embedded again to compare their vectors
MOST_DIFFERENCE = 0.045  # of a vector's length; of vectors of one length, a cosine of .999
_log = logging.getLogger(__name__)


def begin_or_continue(ledger: Ledger, collection: Collection, embedder: Embedder, function: Any) -> Collection:
    """The collection to fill: the one that was begun with this embedder, else a new one."""
    target, left = ledger.new_vectors.target(), ledger.new_vectors.progress()[0]
    if target is not None and _gives_what_is_there(embedder, target, ledger):
        known = find_successor(collection, target.uuid)
        if known is not None:
            return known
    if target is not None and left:
        _log.warning(
            "%d vectors of an interrupted reembed() with %r are not what %r gives, or their collection is gone: all "
            "records are embedded from the beginning.",
            left,
            target.embedder,
            embedder.name,
        )
    made = make_successor(collection, embedder, function)
    ledger.new_vectors.begin(Target(str(made.id), embedder.name, embedder.dimension))
    return made


def _gives_what_is_there(embedder: Embedder, target: Target, ledger: Ledger) -> bool:
    """Whether the name is the same, and the vectors: all lambdas have one name, and a model may have been changed.

    If there is nothing to compare, nothing is lost by starting again.
    """
    if target.embedder != embedder.name or embedder.dimension not in (None, target.dimension):
        return False
    there = ledger.new_vectors.sample(PROBES)
    made = embedder.embed_documents([text for text, _ in there])
    return bool(there) and all(
        _same(np.frombuffer(vector, dtype="<f4"), one) for (_, vector), one in zip(there, made, strict=True)
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two vectors differ by no more than a model's rounding in batches of other sizes.

    >>> _same(np.ones(4), np.ones(4) * 1.001), _same(np.ones(4), -np.ones(4)), _same(np.ones(4), np.ones(5))
    (True, False, False)
    """
    return len(one) == len(other) and bool(np.linalg.norm(one - other) <= MOST_DIFFERENCE * np.linalg.norm(one))


def remove_from_successor(ledger: Ledger, collection: Collection, stored_ids: Sequence[str]) -> None:
    """What was forgotten leaves the collection that is being filled as well. What Chroma refuses leaves it later."""
    target = ledger.new_vectors.target() if stored_ids else None
    new = None if target is None else find_successor(collection, target.uuid)
    if new is not None:
        with suppress(StoreError):
            write_chroma(new, lambda: new.delete(ids=list(stored_ids)))
            ledger.new_vectors.remove(stored_ids)
