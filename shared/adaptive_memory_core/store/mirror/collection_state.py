"""What tells that a collection has changed? The times of an embedded Chroma's files, or the size of one on a server."""

from __future__ import annotations

import time
from collections.abc import Hashable
from pathlib import Path
from typing import Protocol

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.ports import Extent, Records
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
    """A server's: how many records there are, and which came last, asked from time to time."""

    def __init__(self, records: Records, seen_seconds: float) -> None:
        self._records, self._seen_seconds = records, seen_seconds
        self._seen: tuple[float, State] = (-seen_seconds, None)  # when it was asked for last, and what that gave

    def recent(self) -> State:
        at, known = self._seen
        return known if time.monotonic() - at < self._seen_seconds else self.now()

    def quickly(self) -> State:
        return self.recent()

    def now(self) -> State:
        at, known = time.monotonic(), self._asked()
        if at >= self._seen[0]:  # else another thread asked later, and was answered sooner
            self._seen = at, known
        return known

    def _asked(self) -> State:
        try:
            return self._records.extent()
        except StoreError:
            return None

    def is_ours(self, before: State, after: State, grows: int) -> bool:
        if not isinstance(before, Extent) or not isinstance(after, Extent):
            return False
        return after.size == before.size + grows and (grows != 0 or after.last == before.last)

    def may_hide(self, grows: int | None) -> bool:
        return grows != 0
