"""Why did a retriever find nothing at all? What it looked past is said once, as a warning and in the trace."""

from __future__ import annotations

import threading
import warnings
import weakref
from dataclasses import replace
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Recall, Scope, UserMemory
from adaptive_memory_core.context.looked_past import looked_past
from langchain_adaptive_memory.asking import Step, away
from langchain_adaptive_memory.source import whole_memory

LOOKED_AT = 100  # records
MOST_SCOPES = 10_000  # of a memory, that are looked after once each
ADVICE = {
    False: "Where the user around a shared store does not matter to it, say user_key=None and user_id=EVERYONE.",
    True: "Say whose are meant: user_id=..., or config={'configurable': {'user_id': ...}}.",
}
_asked: weakref.WeakKeyDictionary[AdaptiveMemory, set[Scope]] = weakref.WeakKeyDictionary()
_said: weakref.WeakKeyDictionary[AdaptiveMemory, set[str]] = weakref.WeakKeyDictionary()
_noting = threading.Lock()


def with_reason(scope: UserMemory, recall: Recall, where: Any) -> Step[Recall]:
    """The recall, with a note on what it looked past where that is odd."""
    memory = whole_memory(scope)
    if not _is_odd(memory, recall, where):
        return recall
    return (yield from away(_explained, memory, recall))


def _is_odd(memory: AdaptiveMemory, recall: Recall, where: Any) -> bool:
    """Whether an answer is worth a look into the collection: nothing was there to drop, and nobody has looked yet."""
    if recall.kept or recall.dropped or where is not None:
        return False
    with _noting:
        known = _asked.setdefault(memory, set())
        if recall.scope in known or len(known) >= MOST_SCOPES:
            return False
        known.add(recall.scope)
    return True


def _explained(memory: AdaptiveMemory, recall: Recall) -> Recall:
    """The recall with a note on what it looked past; said aloud once for a memory and each kind of reason."""
    collection: Any = getattr(memory.ports().records, "collection", None)
    if collection is None:
        return recall
    found = collection.get(limit=LOOKED_AT, include=["metadatas"])["metadatas"] or []
    note = looked_past(recall.scope.user, [(one or {}).get(memory.fields.user_id) for one in found])
    if note is None:
        return recall
    _say(memory, note, ADVICE[recall.scope.user is None])
    return replace(recall, trace=(*recall.trace, note))


def _say(memory: AdaptiveMemory, note: str, advice: str) -> None:
    kind = note.partition(":")[0].partition("'")[0]
    with _noting:
        said = _said.setdefault(memory, set())
        if kind in said:
            return
        said.add(kind)
    warnings.warn(f"Nothing was found: {note}. {advice}", UserWarning, stacklevel=6)
