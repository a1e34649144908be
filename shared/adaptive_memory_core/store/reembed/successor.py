"""Which collection takes the place of the old one? One that is filled under another name, and renamed at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.store.chroma.beside import Beside
from adaptive_memory_core.store.chroma.write_gate import told_alone
from adaptive_memory_core.store.embedder_check import DIMENSION_KEY, NAME_KEY, notes_on

if TYPE_CHECKING:
    from chromadb import Collection

SUFFIX = "-being-reembedded"
HEIR_KEY = "adaptive_memory:heir"  # the metadata of one that is whole, and has yet to be renamed
INDEXES = ("hnsw", "spann")  # whose settings are kept
PAGE = 1_000  # records that are deleted at a time


def found(collection: Collection, uuid: str) -> Collection | None:
    """The successor of that id."""
    one = Beside(collection).get(collection.name + SUFFIX)
    return one if one is not None and str(one.id) == uuid else None


def make(collection: Collection, embedder: Embedder, function: object) -> Collection:
    """A new one beside it, with its distance, settings and metadata. `function` is Chroma's, where the embedder is."""
    beside, name = Beside(collection), collection.name + SUFFIX
    beside.delete(name)
    metadata = {key: value for key, value in (collection.metadata or {}).items() if not _is_ours(key)}
    settings = {
        name: value for name, value in (collection.configuration_json or {}).items() if name in INDEXES and value
    }
    return beside.create(name, configuration=settings, metadata={**metadata, **notes_on(embedder)}, function=function)


def take_place(new: Collection, old: Collection, name: str, with_lists: Sequence[str]) -> Collection:
    """The new one under that name from now on; the old one goes. A process that is killed in between leaves a mark.

    Chroma leaves the lists in a deleted collection's metadata to the next one, so records `with_lists` go before it.
    """
    told_alone(new, lambda: new.modify(metadata={**_metadata(new), HEIR_KEY: name}))
    for start in range(0, len(with_lists), PAGE):
        told_alone(old, lambda page=with_lists[start : start + PAGE]: old.delete(ids=list(page)))  # type: ignore[misc]
    told_alone(old, lambda: Beside(new).delete(name))
    return _renamed(new, name)


def heir(place: Beside, name: str) -> Collection | None:
    """The collection whose predecessor was gone when its process was killed, under its name by now."""
    one = place.get(name + SUFFIX)
    return None if one is None or (one.metadata or {}).get(HEIR_KEY) != name else _renamed(one, name)


def _renamed(new: Collection, name: str) -> Collection:
    told_alone(new, lambda: new.modify(name=name, metadata=_metadata(new)))
    return new


def _metadata(new: Collection) -> dict[str, object]:
    return {key: value for key, value in (new.metadata or {}).items() if key != HEIR_KEY}


def _is_ours(key: str) -> bool:
    """What says how a collection was made, or is said anew."""
    return key.startswith("hnsw:") or key in (NAME_KEY, DIMENSION_KEY, HEIR_KEY)
