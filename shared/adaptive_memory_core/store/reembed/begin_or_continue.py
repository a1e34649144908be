"""Can a call go on with the vectors that an interrupted one has left? Only if its embedder gives them, too."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.flow.ports import Ledger, Target
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.store.reembed import successor

if TYPE_CHECKING:
    from chromadb import Collection

PROBES = 5  # texts that are embedded again to compare their vectors
MOST_DIFFERENCE = 0.045  # of a vector's length; of vectors of one length, a cosine of .999
_log = logging.getLogger(__name__)


def begun(ledger: Ledger, collection: Collection, embedder: Embedder, function: Any) -> Collection:
    """The collection to fill: the one that was begun with this embedder, else a new one."""
    target, left = ledger.new_vectors.target(), ledger.new_vectors.progress()[0]
    if target is not None and _gives_what_is_there(embedder, target, ledger):
        known = successor.found(collection, target.uuid)
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
    made = successor.make(collection, embedder, function)
    ledger.new_vectors.begin(Target(str(made.id), embedder.name, embedder.dimension))
    return made


def _gives_what_is_there(embedder: Embedder, target: Target, ledger: Ledger) -> bool:
    """Whether the name is the same, and the vectors: all lambdas have one name, and a model may have been changed.

    Where there is nothing to compare, nothing is lost by beginning anew.
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
