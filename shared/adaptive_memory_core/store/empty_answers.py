"""Why was nothing found at all? Records that were looked past are named once, in the trace and as a warning."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.empty_answer_notes import looked_past
from adaptive_memory_core.records import Scope

LOOKED_AT = 100  # records
MOST_SCOPES = 10_000  # of a memory, that are looked after once each
_asked: weakref.WeakKeyDictionary[Any, set[Scope]] = weakref.WeakKeyDictionary()
_said: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
_noting = threading.Lock()


def is_odd(memory: Any, recall: Recall, where: Any) -> bool:
    """Whether an answer is worth a look into the collection: nothing was there to drop, and nobody has looked yet."""
    if recall.kept or recall.dropped or where is not None:
        return False
    with _noting:
        known = _asked.setdefault(memory, set())
        if recall.scope in known or len(known) >= MOST_SCOPES:
            return False
        known.add(recall.scope)
    return True


def explained(memory: Any, recall: Recall, advice: Mapping[bool, str], *, stacklevel: int) -> Recall:
    """The recall with a note on what it looked past; said aloud once for a memory and each kind of reason.

    `advice` says what to do, where nobody's records were asked for and where a user's were.
    """
    collection: Any = getattr(memory.ports().records, "collection", None)
    if collection is None:
        return recall
    found = collection.get(limit=LOOKED_AT, include=["metadatas"])["metadatas"] or []
    note = looked_past(recall.scope.name, [(one or {}).get(memory.fields.user_id) for one in found])
    if note is None:
        return recall
    if _first(memory, note.partition(":")[0].partition("'")[0]):
        warnings.warn(f"Nothing was found: {note}. {advice[recall.scope.user is None]}", UserWarning, stacklevel)
    return recall if note in recall.trace else replace(recall, trace=(*recall.trace, note))


def _first(memory: Any, kind: str) -> bool:
    with _noting:
        said = _said.setdefault(memory, set())
        if kind in said:
            return False
        said.add(kind)
        return True
