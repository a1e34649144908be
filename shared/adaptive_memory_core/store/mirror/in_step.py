"""Is the mirror as the collection is? What we write ourselves keeps it so; any other change of the collection ends it.

The collection's state is what can be asked of it cheaply: the times of an embedded Chroma's files, the size of one on a
server. A write of ours takes it from one known state to the next, unless somebody else wrote before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.let_others_run import is_under_way, own_call
from adaptive_memory_core.store.mirror.collection_state import CollectionState, State


@dataclass(frozen=True, slots=True, eq=False)
class _Unheard:
    """What was written and did not reach the mirror yet: when first, and by which call, if by any."""

    at: float
    call: object | None

    def is_broken_off(self) -> bool:
        """Whether it will not be heard of any more: the call that wrote it has ended."""
        return self.call is not None and not is_under_way(self.call)


class InStep:
    """Whether the mirror says what the collection does; `late_seconds` is how long it may lack what was written."""

    def __init__(self, state: CollectionState, late_seconds: float) -> None:
        self._state, self._late_seconds = state, late_seconds
        self._lock = threading.Lock()
        self._same: State = None  # the state that the mirror is as
        self._found = 0  # how often a comparison found what others had written, or might have
        self._compared_from: State = None  # the one that a comparison under way began with
        self._writes: set[object] = set()  # of ours, under way
        self._clean = self._clean_compared = False  # whether only we write, since the first of the writers began
        self._before: State = None  # as the first of the writers found it
        self._grows: int | None = 0  # by them all; None where that is not sure
        self._unheard: dict[str, _Unheard] = {}  # the longest first
        self.written = 0  # records that we wrote so far in ways that may hide what others wrote at the same moment

    def holds(self) -> bool:
        """Whether recalls may look into the mirror."""
        if self._same is None or self._is_late():
            return False
        if self._writes and self._clean:
            return True
        return self._state.recent() == self._same or self._state.quickly() == self._same  # a write of ours just ended

    def only_ours_since(self) -> int | None:
        """Another number as soon as others may have written; None where they may have since the last comparison."""
        return self._found if self.holds() else None

    @interruptible
    def changing(self, stored_ids: Sequence[str], grows: int | None = None) -> Generator[None, None, None]:
        """Around each write of ours into the collection; `grows` is by how many records, where that is sure."""
        write = object()
        try:
            with self._lock:
                if not self._writes:
                    self._before = before = self._state.now()
                    self._grows = 0
                    self._clean = before is not None and before == self._same
                    self._clean_compared = before is not None and before == self._compared_from
                elif self._grows == 0 and not self._state.is_ours(self._before, self._state.now(), 0):
                    self._clean = self._clean_compared = False  # somebody else wrote, which this one would hide
                self._writes.add(write)
                self._grows = None if grows is None or self._grows is None else self._grows + grows
            yield
        finally:
            try:
                self._changed(write, stored_ids, grows)
            finally:
                self._changed(write, stored_ids, grows)  # again, where an interrupt broke that off

    def _changed(self, write: object, stored_ids: Sequence[str], grows: int | None) -> None:
        with self._lock:
            if write not in self._writes:
                return
            written = _Unheard(time.monotonic(), own_call())
            for one in stored_ids:
                self._unheard.setdefault(one, written)  # what was broken off before is not made good by another write
            self.written += len(stored_ids) if self._state.may_hide(grows) else 0
            if len(self._writes) == 1:
                self._wrote(self._state.now())
            self._writes.discard(write)

    def heard(self, stored_ids: Iterable[str], *, by_comparing: bool = False) -> None:
        """The mirror has these as they were written; `by_comparing` where nobody told of it."""
        with self._lock:
            self._found += by_comparing
            for one in stored_ids:
                self._unheard.pop(one, None)

    def unheard(self, after_seconds: float | None = None) -> list[str]:
        """What was written a while ago, or by a call that has ended, and has not reached the mirror."""
        until = time.monotonic() - (self._late_seconds if after_seconds is None else after_seconds)
        with self._lock:
            return [one for one, written in self._unheard.items() if written.at <= until or written.is_broken_off()]

    def compare(self) -> State:
        """A comparison with the collection begins; gives the state that it begins in, None where that is not known."""
        with self._lock:
            self._compared_from = None if self._writes else self._state.now()
            return self._compared_from

    def compared(self, *, found: bool = True) -> bool:
        """The comparison is through: whether nobody else wrote meanwhile, so that the mirror is as the collection.
        `found` says whether it was not so before."""
        with self._lock:
            if self._writes or self._compared_from is None or self._state.now() != self._compared_from:
                return False
            self._found += found or self._same != self._compared_from
            self._same, self._compared_from = self._compared_from, None
            return True

    def lost(self) -> None:
        """The mirror is not what it should be."""
        with self._lock:
            self._same = None

    def _wrote(self, state: State) -> None:
        if self._grows is not None and not self._state.is_ours(self._before, state, self._grows):
            return  # somebody else wrote at the same moment
        if self._clean:
            self._same = state
        if self._clean_compared:
            self._compared_from = state

    def _is_late(self) -> bool:
        if not self._unheard:
            return False
        with self._lock:
            waiting = set(self._unheard.values())  # one of each write
        until = time.monotonic() - self._late_seconds
        return any(one.at < until or one.is_broken_off() for one in waiting)
