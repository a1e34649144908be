"""What tells that a collection has changed? The times of an embedded Chroma's files, or the size of one on a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from pathlib import Path
from typing import Protocol

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Extent
from adaptive_memory_core.store.chroma.changes import FILES, seen_in_call, seen_now

State = Hashable | None


class CollectionState(Protocol):
    """What is another as soon as the collection is, as far as that can be asked cheaply; None where it is not known."""

    def recent(self) -> State:
        """As of a short while ago."""

    def quickly(self) -> State:
        """As of now, where that takes no time, else as of a short while ago."""

    def now(self) -> State: ...
    def is_ours(self, before: State, after: State, grows: int) -> bool:
        """Whether a write of ours that lets the collection grow by so many explains the change."""

    def may_hide(self, grows: int | None) -> bool:
        """Whether such a write of ours may explain what others wrote at the same moment as well."""


class Extended(Protocol):
    """A collection that says how large it is, and which record came last."""

    def extent(self, expected: Extent | None = None) -> Extent:
        """The quickest where it is as expected."""


class FileTimes:
    """An embedded Chroma's: the time and size of its files change with every write, by any process."""

    def __init__(self, directory: Path) -> None:
        self._files = tuple(str(directory / name) for name in FILES)

    def now(self) -> State:
        return seen_now(self._files)

    def recent(self) -> State:
        return seen_in_call(self._files)

    def quickly(self) -> State:
        return self.now()

    def is_ours(self, before: State, after: State, grows: int) -> bool:  # noqa: ARG002 - times do not tell how many
        return True

    def may_hide(self, grows: int | None) -> bool:  # noqa: ARG002
        return True


class SizeAndLast:
    """A server's: how many records there are, and which came last. An answer serves for `seen_seconds`, from when it
    was asked for; who needs one later waits for it, unless it was asked for in time (`asked_ahead.py`)."""

    def __init__(self, records: Extended, seen_seconds: float) -> None:
        self._records, self._seen_seconds = records, seen_seconds
        self._known: Extent | None = None
        self._at = -seen_seconds  # when that was asked for
        self._asking, self._moment = threading.Lock(), threading.Lock()

    def age(self) -> float:
        """Seconds since the latest answer was asked for."""
        return time.monotonic() - self._at

    def recent(self) -> State:
        if self.age() < self._seen_seconds:
            return self._known
        with self._asking:  # what another one is being told meanwhile serves this one, too
            return self._known if self.age() < self._seen_seconds else self.now()

    def quickly(self) -> State:
        return self.recent()

    def now(self) -> State:
        at = time.monotonic()
        try:
            found = self._records.extent(self._known)
        except StoreError:
            found = None
        with self._moment:
            if at >= self._at:  # else somebody who asked later was answered before
                self._known, self._at = found, at
        return found

    def renew(self) -> None:
        """Have an answer of now, for those who need one later."""
        with self._asking:
            self.now()

    def is_ours(self, before: State, after: State, grows: int) -> bool:
        if not isinstance(before, Extent) or not isinstance(after, Extent):
            return False
        return after.size == before.size + grows and (grows != 0 or after.last == before.last)

    def may_hide(self, grows: int | None) -> bool:
        return grows != 0
