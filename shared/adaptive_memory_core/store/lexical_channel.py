"""Does the word index know what the collection holds? Each recall asks; what other programs wrote is taken in."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.ports import Found, Leads, Pair, Stored
from adaptive_memory_core.fusion import Fusion
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.chroma import ChromaStore
from adaptive_memory_core.store.word_index import WordIndex

AT_ONCE = 3_000  # records that a recall waits for; more are taken in beside it
PAGE = 1_000
COMPARED_SECONDS = 2.0  # between two looks for a swap that left the number of records the same
_log = logging.getLogger(__name__)


class LexicalChannel:
    """The word index over a collection that others may write to as well."""

    def __init__(self, index: WordIndex, store: ChromaStore) -> None:
        self._index, self._store = index, store
        self._turn, self._stop = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._compared = -COMPARED_SECONDS
        self._asked = False  # until somebody looks, nothing needs to be kept up with

    def look(self, scope: Scope, cue: str, fusion: Fusion, limit: int, within: Set[str] | None) -> Leads:
        """The records with the most of the cue's words; a note where some are not taken in yet."""
        self._asked = True
        note = self._keep_up()
        leads = self._index.look(scope, cue, fusion, limit, within)
        return leads if note is None else replace(leads, note=note)

    def beside(self, scope: Scope, stored_ids: Sequence[str]) -> Mapping[str, Pair]:
        """What was said right before and right after each of them, as far as it is taken in."""
        self._asked = True
        self._keep_up()
        return self._index.beside(scope, stored_ids)

    def put(self, scope: Scope, records: Sequence[Stored]) -> None:
        if self._asked:  # else the first look takes them in
            self._index.put(scope, records)

    def drop(self, stored_ids: Sequence[str]) -> None:
        self._index.drop(stored_ids)

    def notice(self, scope: Scope, found: Sequence[Found]) -> None:
        self._index.notice(scope, found)

    def close(self) -> None:
        """Stop taking in; what is left is taken in when somebody looks again."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _keep_up(self) -> str | None:
        """Take in what is new: at once where it is little, else in a thread of its own."""
        size = self._store.size()
        if size == self._index.size() and not self._swapped():
            return None
        with self._turn:
            if self._thread is None or not self._thread.is_alive():
                if abs(size - self._index.size()) <= AT_ONCE:
                    self._take_in()
                    return None
                self._thread = threading.Thread(target=self._work, name="adaptive-memory-words", daemon=True)
                self._thread.start()
        return f"the words of {self._index.size():,} of {size:,} records are indexed so far; the rest is under way"

    def _swapped(self) -> bool:
        """Whether as many were removed as written elsewhere: then the newest record is unknown. Looked at now and then,
        because Chroma walks through all ids to name it."""
        now = time.monotonic()
        if now - self._compared < COMPARED_SECONDS:
            return False
        self._compared = now
        last = self._store.extent().last
        return last is not None and not self._index.knows(last)

    def _work(self) -> None:
        try:
            self._take_in()
        except AdaptiveMemoryError as error:
            _log.warning("the words of the collection could not be indexed, which is tried again later: %s", error)

    def _take_in(self) -> None:
        """Compare all ids, let go of those that are no more, read those that are new."""
        there, known = set(self._store.ids()), self._index.known()
        gone, new = list(known - there), sorted(there - known)
        for start in range(0, len(gone), PAGE):
            self._index.drop(gone[start : start + PAGE])
        for start in range(0, len(new), PAGE):
            if self._stop.is_set():
                return
            self._index.take_in(self._store.rows(new[start : start + PAGE]))
