"""Whether any record of a collection names a user, and notes on why nothing was found if other users' records were
skipped.

While no record names a user, each user may read all records as everyone's. If this is not known, they may not. Another
user's records are never readable.
"""

from __future__ import annotations

import logging
import math
import threading
import time
import warnings
import weakref
from collections.abc import Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.reasons import looked_past
from adaptive_memory_core.flow.ports.ledger_values import Extent
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.chroma.chroma_changes import FILES, file_states

READ_AS_EVERYONES = "no record of the collection names a user, so they are read as everyone's"
STRICT_NOW = (
    "A record of the collection names a user now, so those that name none are no longer returned to users. Give "
    'over="everyone" if users should still read them.'
)
FIRST_PAGE, LARGEST_PAGE = 100, 5_000  # records per query, the newest first
ALWAYS_ALL = 2_000  # size up to which all records are checked again after a change
MOST_LOOKED_AT = 100_000  # size up to which a collection is checked; beyond it, only the ledger's copies are
NEWEST = 20  # newest records, to recognise where the last check ended
AGAIN_SECONDS, LOOKED_AT_A_SECOND = 2.0, 500.0  # between checks of all records; longer for a large collection

_log = logging.getLogger(__name__)
_as_everyones: weakref.WeakSet[Any] = weakref.WeakSet()  # memories
_strict: weakref.WeakSet[Any] = weakref.WeakSet()
_changing = threading.Lock()
UserName = TypeVar("UserName", bound=Any)


def reading_everyones(user: UserName) -> UserName:
    """The user's memory, extended to everyone's records while no record of the collection names a user.

    Once a record names a user, the memory stays strict until it is opened again. Each of the two changes is logged
    once.
    """
    if stays_as_it_is(user):
        return user
    memory = user.memory
    with memory.opened.call():
        named = memory.ports().records.names_users()
    if named:
        with _changing:
            was_open = memory in _as_everyones
            _as_everyones.discard(memory)
            _strict.add(memory)
        if was_open:
            _log.warning(STRICT_NOW)
    if named is not False:
        return user
    with _changing:
        if memory in _strict:  # another call has just found a record that names a user
            return user
        is_first = memory not in _as_everyones
        _as_everyones.add(memory)
    if is_first:
        _log.warning(
            '%s, as with over="everyone". It ends as soon as a record names a user. If they name users under another '
            "key, give fields=Fields(user_id=...).",
            READ_AS_EVERYONES.capitalize(),
        )
    found: UserName = user.over("everyone")
    return found


def stays_as_it_is(user: Any) -> bool:
    """Whether the memory is kept unchanged without checking records: if there is no user, if `over` or a fallback is
    set, or if the memory is strict."""
    scope = user.scope
    return scope.user is None or scope.over is not None or user.fallback is not None or user.memory in _strict


def with_note(recall: Recall, user: Any) -> Recall:
    """The recall, with a note in its trace if it read more than the user's own records."""
    if recall.scope == user.scope:
        return recall
    return replace(recall, trace=(*recall.trace, READ_AS_EVERYONES))


class Collected(Protocol):
    """A collection that can be read from its newest records backwards."""

    def extent(self, expected: Extent | None = None) -> Extent: ...
    def owners_from(self, offset: int, most: int) -> list[tuple[str, Any]]:
        """The ids and user names of at most `most` records from `offset` on."""


class NamedUsers:
    """Whether any record names a user now. All records are checked once, and later only added records.

    Changes by others in place are noticed at the next check of all records. A small collection in a directory gets that
    check at its next change.
    """

    def __init__(self, records: Collected, directory: Path | None) -> None:
        self._records, self._directory = records, directory
        self._files = [] if directory is None else [str(directory / name) for name in FILES]
        self._turn = threading.Lock()
        # state when no record named a user
        self._token: Hashable | None = None  # of the files
        self._extent: Extent | None = None
        self._newest: frozenset[str] = frozenset()
        self._all_at = -math.inf  # when all records were checked

    def any(self) -> bool | None:
        """Whether any record names a user; None if this is not known."""
        with self._turn:
            return self._looked(time.monotonic())

    def _looked(self, now: float) -> bool | None:
        token = file_states(self._files) if self._files else None
        if token is not None and token == self._token:
            return False
        extent = self._records.extent(self._extent)
        all_due = now - self._all_at >= max(AGAIN_SECONDS, extent.size / LOOKED_AT_A_SECOND)
        if self._directory is None and extent == self._extent and not all_due:
            return False
        if extent.size == 0 or (all_due and extent.size > MOST_LOOKED_AT):
            return None
        all_due = all_due or extent.size <= ALWAYS_ALL
        named, newest = self._walked(extent.size, frozenset() if all_due else self._newest)
        if named:
            return True
        self._token, self._extent, self._newest = token, extent, frozenset(newest)
        self._all_at = now if all_due else self._all_at
        return False

    def _walked(self, size: int, known: frozenset[str]) -> tuple[bool, list[str]]:
        """Whether a record names a user, from the newest back to a known record; and the ids of the newest records."""
        end, page, newest = size, FIRST_PAGE if known else LARGEST_PAGE, list[str]()
        while end > 0:
            begin = max(0, end - page)
            rows = self._records.owners_from(begin, end - begin)
            if any(owner is not None for _, owner in rows):
                return True, newest
            ids = [one for one, _ in rows]
            newest = newest or ids[-NEWEST:]
            if not known.isdisjoint(ids):
                break
            end, page = begin, min(4 * page, LARGEST_PAGE)
        return False, newest


LOOKED_AT = 100  # records checked to explain an empty answer
MOST_SCOPES = 10_000  # scopes of a memory that are checked once each
_asked: weakref.WeakKeyDictionary[Any, set[Scope]] = weakref.WeakKeyDictionary()
_warned: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
_noting = threading.Lock()


def is_unexpected(memory: Any, recall: Recall, where: Any) -> bool:
    """Whether an empty answer needs a look into the collection: no candidates were dropped, and this scope was not
    checked yet."""
    if recall.kept or recall.dropped or where is not None:
        return False
    with _noting:
        known = _asked.setdefault(memory, set())
        if recall.scope in known or len(known) >= MOST_SCOPES:
            return False
        known.add(recall.scope)
    return True


def explain_empty(memory: Any, recall: Recall, advice: Mapping[bool, str], *, stacklevel: int) -> Recall:
    """The recall with a note on the records it skipped; a warning is raised once per memory and kind of reason.

    `advice` says what to do, for a recall without a user (True) and with a user (False).
    """
    records = memory.ports().records
    if not records.holds_collection:
        return recall
    found = records.collection.get(limit=LOOKED_AT, include=["metadatas"])["metadatas"] or []
    note = looked_past(recall.scope.name, [(one or {}).get(memory.fields.user_id) for one in found])
    if note is None:
        return recall
    if _first(memory, note.partition(":")[0].partition("'")[0]):
        warnings.warn(f"Nothing was found: {note}. {advice[recall.scope.user is None]}", UserWarning, stacklevel)
    return recall if note in recall.trace else replace(recall, trace=(*recall.trace, note))


def _first(memory: Any, kind: str) -> bool:
    with _noting:
        warned = _warned.setdefault(memory, set())
        if kind in warned:
            return False
        warned.add(kind)
        return True
