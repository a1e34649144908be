"""Is the word index up to date with the collection? Each recall asks, and takes in what other programs wrote.

Looking writes nothing: what was learned stays in RAM, until a recall that counts as a reading writes it down.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from adaptive_memory_core.flow.calls.looks import known_already, looked_at
from adaptive_memory_core.flow.ports import Found, JudgedQuestion, Records, Stored, Vector
from adaptive_memory_core.flow.ports.words import Pair, WordsFound
from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.records import Scope, Verdict
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.chroma.changes import ChangeWatch
from adaptive_memory_core.store.words.compared import Compared
from adaptive_memory_core.store.words.index import WordIndex
from adaptive_memory_core.store.words.on_their_way import OnTheirWay
from adaptive_memory_core.store.words.reread import reread
from adaptive_memory_core.store.words.taken_in import PAGE, make_anew, take_in_all, take_in_latest

AT_ONCE = 3_000  # records that a recall waits for; more are taken in beside it
COMPARED_SECONDS = 2.0  # between two looks for a swap that left the number of records the same
AGAIN_SECONDS = 3.0  # between two pages of texts that are read again, in the background, while recalls that count go on
ALL_IDS_SECONDS, IDS_A_SECOND = 30.0, 500.0  # between two comparisons of all ids; longer for a large collection
DONE = object()


class UpToDateWords:
    """The word index over a collection that others may write to as well."""

    name = "word index"

    def __init__(
        self,
        index: WordIndex,
        store: Records,
        wake: Callable[[], object],
        changes: ChangeWatch,
        yet_to_come: Callable[[], int] = int,
    ) -> None:
        """`yet_to_come` counts what other processes wrote that the collection has yet to show."""
        self._index, self._store, self._wake, self._changes = index, store, wake, changes
        self._yet_to_come = yet_to_come
        self._turn = threading.Lock()
        self._left: Iterator[None] | None = None  # of what is done in the background, a page at a time
        self._compared, self._read_again = -COMPARED_SECONDS, time.monotonic()
        self._is_taking_in = False  # whether the background is at it
        self._owed = False  # whether what is taken in is to be written down
        self._asked = False  # until somebody looks, or is about to, nothing needs to be kept up with
        self._kept_up: tuple[Hashable, int] | None = None  # the state, of both, that all ids were compared in
        self._counted: tuple[Hashable, int] | None = (
            None  # as well, in which as many were found in the collection as are known
        )
        self._dropping = 0  # how often this process began, or was through, with letting go of words
        self._leaving = OnTheirWay()
        self._said = Compared(index.fields)
        self._all_due = False
        self._all_compared: tuple[Hashable | None, float | None] = (None, None)  # in which state, and when
        self._outdated: bool | None = None  # whether an earlier version made some words; None before it was asked
        self._heard: deque[tuple[Scope | None, Sequence[Found], Sequence[str]]] = deque()

    def expect(self) -> None:
        """Somebody is going to look: what is written from now on is taken in at once."""
        self._asked = True

    def look(self, scope: Scope, cue: str, fusion: Fusion, limit: int, within: Set[str] | None) -> WordsFound:
        """The records with the most of the cue's words; a note where some are not taken in yet."""
        self._asked = True
        self._compare_heard()
        note = self._keep_up(scope, looked_at(self, self._changes.token_of_others))
        leads = self._index.look(scope, cue, fusion, limit, within)
        return leads if note is None else replace(leads, note=note)

    def beside(self, scope: Scope, stored_ids: Sequence[str]) -> Mapping[str, Pair]:
        """What was said right before and right after each of them, as far as it is taken in."""
        self._asked = True
        self._keep_up(scope, self._changes.token_of_others())
        return self._index.beside(scope, stored_ids)

    def sync(self) -> None:
        """Compare all ids now, take in what is new, and write it down: who follows the rows of words waits for that."""
        with self._turn:
            self._compare_heard()
            deque(self._take_in(), maxlen=0)
            deque(self._write_down(), maxlen=0)

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:  # noqa: ARG002
        if self._asked:  # else the first look takes them in
            self._index.put(scope, records)

    def revising(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an id is of one scope
        """Not known until they are written: whatever comes in between, they are read again."""
        self._drop(stored_ids)

    def judged(self, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None:
        """Words are not moved by verdicts."""

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an id is of one scope
        self._drop(stored_ids)

    def came_upon(self, scope: Scope, found: Sequence[Found], missing: Sequence[str]) -> None:
        """Have them compared, in the background or before the next look, with what is known: another program may have
        written. What says what it said when it was compared need not be again."""
        if not self._asked:
            return
        found = self._said.unknown_in(known_already(self), scope, found)
        if found or missing:
            self._heard.append((scope, found, missing))
            self._wake()

    def overwritten(self, stored_ids: Sequence[str]) -> None:
        """The mirror found that others wrote over these, or removed them. They are not known until they are read again,
        in the background or before the next look: the mirror tells of it only once, and whoever is killed in between
        finds fewer records than the collection has, and compares them all."""
        if known := self._index.ever_known(stored_ids):
            self._drop(known)
            self._heard.append((None, (), known))
            self._wake()

    def stored_ids(self) -> set[str]:
        return self._index.known()

    def catch_up(self, scope: Scope) -> None:
        """Write down what looking has learned: at once where it is little, else in the background. And look again,
        from time to time, at what the user's records say, where no mirror tells what others wrote over."""
        if not self._asked:
            return
        if self._index.unwritten or self._working():  # what is taken in just now is to be written as well
            self._keep()
        if self._outdated is None:
            self._outdated = self._index.outdated
        if self._outdated:
            with self._turn:
                self._start(self._make_anew())
        if not self._all_due and self._ids_are_due():
            self._all_due = True
            self._wake()
        if time.monotonic() - self._read_again >= AGAIN_SECONDS and not self._changes.tells_of_overwriting():
            with self._turn:
                self._read_again = time.monotonic()
                self._start(self._reread(scope))

    def _drop(self, stored_ids: Sequence[str]) -> None:
        """Let go of them. Where the call is broken off after that, and they stay in the collection, the next look takes
        them in again, though nobody wrote to it."""
        self._leaving.note(stored_ids)
        self._dropping += 1
        try:
            self._index.drop(stored_ids)
        finally:
            self._dropping += 1
            self._said.forget(stored_ids)

    def _reread(self, scope: Scope) -> Iterator[None]:
        for one in scope.parts:
            reread(self._index, self._store, one)
            yield

    def _keep(self) -> None:
        """At once where it is little and nobody else does it: nobody waits for whoever waits for the ledger."""
        if self._turn.locked():  # asked and not tried: an interrupt right after a try would leave it taken for ever
            self._owed = True
            return
        with self._turn:
            if self._index.unwritten <= AT_ONCE and not self._working():
                self._index.keep(AT_ONCE)
                return
            self._owed = True
            self._start(self._write_down())

    def wait(self) -> float | None:
        return 0.0 if self._working() or self._heard or self._all_due else None

    def work(self, _going: Going) -> None:
        """The next page of what is left; what an error leaves undone is seen by the next recall."""
        self._compare_heard()
        if self._all_due:
            self._all_due = False
            deque(self._take_in(), maxlen=0)
        left = self._left
        try:
            if left is None or next(left, DONE) is DONE:
                with self._turn:  # a recall may have asked for the writing while the last page was taken in
                    self._left = self._write_down() if self._owed else None
        except BaseException:
            self._left = None
            raise

    def _compare_heard(self) -> None:
        """Learn of records that recalls came upon and that are not as they were known, or are gone. They are read again
        for that: what a recall saw may have been forgotten since."""
        while self._heard:
            try:
                scope, found, missing = self._heard.popleft()
            except IndexError:  # another thread was quicker
                return
            doubtful = [*missing] if scope is None else [*self._index.changed(scope, found), *missing]
            if doubtful:
                with self._index.comparing():
                    there = self._store.rows(doubtful)
                    self._index.take_in(there)
                    self._index.miss(set(doubtful) - {row[0] for row in there})
            if scope is not None:
                self._said.keep(scope, found)

    def _keep_up(self, scope: Scope, state: Hashable | None) -> str | None:
        """Learn of what is new, unless nobody has written: at once where it is little, else in the background."""
        both = None if state is None else (state, self._dropping)
        if both is not None and (both == self._kept_up or (both == self._counted and not self._swap_is_due())):
            return None
        settled = not self._leaving.may_be(1)
        note, all_compared = self._learn_of_new(scope)
        if note is None and both is not None and settled:
            self._kept_up, self._counted = (both, None) if all_compared else (self._kept_up, both)
        return note

    def _only_ours_since_kept_up(self) -> bool:
        kept_up, ours = self._kept_up, self._changes.only_ours_since()
        return kept_up is not None and ours is not None and kept_up[0] == ours

    def _swap_is_due(self) -> bool:
        return time.monotonic() - self._compared >= COMPARED_SECONDS

    def _learn_of_new(self, scope: Scope) -> tuple[str | None, bool]:
        """A note where some are left for later, and whether all ids were looked at. What other processes wrote, whose
        words are known, no recall puts into the collection in order to count, but now and then."""
        if not self._swap_is_due() and self._yet_to_come():
            return None, False
        known, size = self._index.size(scope), self._store.size()  # in this order: what is put between them is known
        swapped = self._swapped() if size == known else None
        if size == known and not swapped:
            return None, swapped is not None
        if self._leaving.may_be(size - known) and not self._swap_is_due():
            return None, False
        with self._turn:
            if not self._is_taking_in and abs(size - self._index.size()) <= AT_ONCE:
                self._compared = time.monotonic()
                if not take_in_latest(self._index, self._store):
                    deque(self._take_in(), maxlen=0)
                return None, True
            self._start(self._take_in_beside())
        note = f"the words of {self._index.size():,} of {size:,} records are indexed so far; the rest is under way"
        return note, False

    def _working(self) -> bool:
        return self._left is not None

    def _start(self, work: Iterator[None]) -> None:
        """Have this done in the background, unless there is work left; what is not done is seen by the next recall."""
        if not self._working():
            self._left = work
            self._wake()

    def _swapped(self) -> bool | None:
        """Whether as many were removed as written elsewhere: then the newest record is unknown. Looked at now and then,
        and not where only we have written since, because Chroma walks through all ids to name it (80 ms of 100,000);
        None where it was not looked at."""
        if self._only_ours_since_kept_up():
            return False
        if not self._swap_is_due():
            return None
        self._compared = time.monotonic()
        last = self._store.extent().last
        return last is not None and not self._index.knows(last)

    def _take_in(self) -> Iterator[None]:
        """Compare all ids; what a recall asked for meanwhile is written down between two pages."""
        state, began = self._changes.token(), time.monotonic()
        for _ in take_in_all(self._index, self._store):
            yield
            if self._owed:
                yield from self._write_down()
        self._all_compared = (state, began)

    def _take_in_beside(self) -> Iterator[None]:
        """The same in the background; recalls do not do it, too, meanwhile."""
        self._is_taking_in = True
        try:
            yield from self._take_in()
        finally:
            self._is_taking_in = False

    def _make_anew(self) -> Iterator[None]:
        yield from make_anew(self._index, self._store)
        self._outdated = False

    def _ids_are_due(self) -> bool:
        """Whether all ids are to be compared again: somebody may have removed as many as were written elsewhere."""
        state, at = self._all_compared
        past = ALL_IDS_SECONDS if at is None else time.monotonic() - at
        if past < ALL_IDS_SECONDS or (at is not None and past < self._index.size() / IDS_A_SECOND):
            return False
        now = self._changes.token()
        return now is None or now != state

    def _write_down(self) -> Iterator[None]:
        while self._index.keep(PAGE):
            yield
        self._owed = False
