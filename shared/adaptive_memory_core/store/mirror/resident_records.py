"""Users' vectors, ids and filtered metadata in RAM: kept current with the ledger, limited in bytes, least recently
searched dropped first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from adaptive_memory_core.flow.ports.ledger_values import (
    LedgerVersion,
    MirrorChange,
    News,
    UserFile,
    some_let_go,
)
from adaptive_memory_core.flow.ports.records import Where
from adaptive_memory_core.metadata_columns import Mask, MetadataColumns
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.surprise import Baseline
from adaptive_memory_core.store.ledger.cached_copies import CopiedRow
from adaptive_memory_core.store.mirror.vector_matrix import Matrix
from adaptive_memory_core.store.user_copies import Arrays, CopiedUser, UserCopies, packed, unpacked
from adaptive_memory_core.where import STORED_DOCUMENT, filter_keys, predicate

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.mirror_rows import LedgerMirror

if TYPE_CHECKING:
    import numpy.typing as npt

BYTES_OF_AN_ID = 150  # in RAM, about
MOST_CHARACTERS = 8_000_000  # of the texts cached for one user; guess
MOST_CHANGED = 200  # changed rows up to which cached texts are replaced, and not dropped; guess
OF_A_ROW = 1_000  # characters that a row counts for in addition to its text
FEW = 4  # rows up to which single look-ups are faster; measured with 30,000 records


class TornMirrorError(Exception):
    """The mirror's rows are damaged; the mirror is rebuilt."""


class Resident:
    """One user's records as of the last `take_in`. Take `turn` before using it."""

    def __init__(self, space: str) -> None:
        self.turn = threading.RLock()
        self._space, self.size = space, 0
        self.start()

    def start(self) -> None:
        """Begin with nothing, as if nothing had been taken in."""
        self.owner = 0
        self.as_of: tuple[int, int] | None = None  # the ledger's last change taken in
        self.weighed = False  # whether `size` is up to date
        self.unsure: int | None = None  # `version.undone` if it was read within a transaction, else None
        self.matrix: Matrix | None = None
        self.ids: list[str] = []
        self._rows: list[int] = []  # the number of each record's row in the ledger
        self._places: dict[str, int] | None = None  # of ids; built at the first use
        self._written = self._removed = self._changed = 0  # the numbers of the last row, removal and change taken in
        self._columns = MetadataColumns()
        self._columns_as_of: int | None = None  # the last change of a row in them
        self._passing: tuple[LedgerVersion, str, Mask] | None = None  # the last answer, because a recall asks twice
        self._texts: dict[str, CopiedRow] = {}  # cache of returned rows
        self._characters, self._texts_as_of = 0, 0  # of the cached texts, and the last change of a row in them
        self.baseline: tuple[int, Baseline] | None = None  # with the number of records at that time
        self.in_file = 0  # the number of records in the file

    @property
    def nbytes(self) -> int:
        vectors = 0 if self.matrix is None else self.matrix.nbytes
        return vectors + len(self.ids) * BYTES_OF_AN_ID + self._columns.nbytes + self._characters

    @property
    def places(self) -> Mapping[str, int]:
        """The place of each record."""
        if self._places is None:
            self._places = {one: place for place, one in enumerate(self.ids)}
        return self._places

    def take_in(self, rows: LedgerMirror, scope: Scope, version: LedgerVersion, kept: UserCopies | None = None) -> bool:
        """Apply what was written and removed, in any process, up to that version at least; return whether there was
        anything. Changes read within a transaction that was undone are discarded."""
        if self.unsure not in (None, version.undone):
            self.start()
        if kept is not None and not self._written and (found := kept.read(scope)) is not None:
            self.adopt(*found)
        news = rows.news(scope, self._written, self._removed)
        if self.owner not in (0, news.owner) or (self.ids and some_let_go(news.removed)):
            self.start()
            news = rows.news(scope, 0, 0)
        learned = bool(news.removed or news.written)
        self.in_file = 0 if news.removed else self.in_file
        if learned:
            self.weighed = False
            self._learn(news)
        self.unsure = version.undone if version.of_rows is None else None
        self.owner, self.as_of = news.owner, version.change
        return learned

    def passing(self, rows: LedgerMirror, scope: Scope, where: Where, version: LedgerVersion) -> Mask:
        """A mask of the records, by their places, that pass the filter, at least as of the version."""
        self._columns.grow(len(self.ids))
        test, new = predicate(where), filter_keys(where) - self._columns.keys()
        if new or version.of_rows is None or version.of_rows != self._columns_as_of:
            changes = rows.changes(scope, 0 if new else self._changed)
            self._columns.start(new)
            self._columns_as_of = version.of_rows
            if changes or new:
                self.weighed = False
                self._take_in_metadata(changes, new)
        elif self._passing is not None and self._passing[:2] == (version, repr(test)):
            return self._passing[2]
        mask = test.mask(self._columns)
        self._passing = (version, repr(test), mask)  # as text, because 1 equals True and 1.0
        return mask

    def texts(
        self, rows: LedgerMirror, scope: Scope, stored_ids: Sequence[str], version: LedgerVersion
    ) -> list[CopiedRow]:
        """The rows of the records that have one, at least as of the version. Don't change them: they may be cached."""
        number = version.of_rows
        if number is None:  # within a transaction, which may still be undone
            return rows.rows(stored_ids)
        if number != self._texts_as_of:
            changed = rows.changed(scope, self._texts_as_of, MOST_CHANGED) if self._texts else ()
            if number < self._texts_as_of or len(changed) == MOST_CHANGED:
                self._texts, self._characters = {}, 0
            self._keep([row for row in changed if row[0] in self._texts])
            self._texts_as_of = number
        get = self._texts.get
        found = [row for one in stored_ids if (row := get(one)) is not None]
        if len(found) < len(stored_ids):
            here = {row[0] for row in found}
            new = rows.rows([one for one in stored_ids if one not in here])
            found += new
            self._keep(new)
        return found

    def _keep(self, rows: Sequence[CopiedRow]) -> None:
        """Cache rows that were just read, except metadata with lists, which a copy would share."""
        if self._characters > MOST_CHARACTERS:
            self._texts, self._characters = {}, 0
        for one, text, data in rows:
            if (before := self._texts.pop(one, None)) is not None:
                self._characters -= OF_A_ROW + len(before[1] or "")
            if data is None or list not in map(type, data.values()):
                self._texts[one] = (one, text, None if data is None else {**data})
                self._characters += OF_A_ROW + len(text or "")
        self.weighed = False

    def taken(self) -> CopiedUser | None:
        """The content to write into a file; None if there is none, or if a transaction may still be undone."""
        with self.turn:
            if self.matrix is None or self.unsure is not None:
                return None
            arrays = {**self.matrix.arrays(), "numbers": np.array(self._rows, dtype=np.int64)}
            ids, notes = tuple(self.ids), {"space": self._space}
            removed, owner, written = self._removed, self.owner, self._written
        return CopiedUser(owner, written, removed, notes, lambda: {**arrays, "ids": packed(ids)})

    def adopt(self, file: UserFile, arrays: Arrays) -> None:
        """Use the content of a file, if it matches the records here, or if there are none yet."""
        with self.turn:
            known = (self.owner, self._written, self._removed)
            if arrays.notes["space"] != self._space or (self._written and known != file[1:]):
                return
            ids, numbers = unpacked(arrays["ids"]), arrays["numbers"].tolist()
            if not self._written:
                self.owner, self._written, self._removed = file[1:]
                self.as_of = None
                self.ids, self._rows = ids, numbers
            if self._rows == numbers:
                self.matrix, self.in_file = Matrix.of(self._space, arrays.arrays, len(ids)), len(ids)
                self.weighed = False

    def _learn(self, news: News) -> None:
        gone = {row for _, row in news.removed if row <= self._written}
        for place in reversed(self._places_of(gone)):  # from the end, so that records filling a place stay
            self._remove(place)
        self._removed = max((number for number, _ in news.removed), default=self._removed)
        if news.written:
            self._append(news.written)

    def _places_of(self, gone: Set[int]) -> list[int]:
        """The places of the rows with these numbers, in order; many rows are looked up in one pass."""
        if len(gone) > FEW:
            return [place for place, row in enumerate(self._rows) if row in gone]
        return sorted(self._rows.index(row) for row in gone if row in self._rows)

    def _remove(self, place: int) -> None:
        """Remove a record; the last record takes its place."""
        if self.matrix is not None:
            self.matrix.remove(place)
        self._columns.grow(len(self.ids))
        self._columns.remove(place)
        self._texts.pop(self.ids[place], None)
        last_id, last_row = self.ids.pop(), self._rows.pop()
        if place < len(self.ids):
            self.ids[place], self._rows[place] = last_id, last_row
        self._places = None

    def _append(self, written: Sequence[tuple[int, str, bytes]]) -> None:
        vectors = _vectors([vector for _, _, vector in written])
        if self.matrix is None:
            self.matrix = Matrix(self._space, vectors.shape[1])
        if vectors.shape[1] != self.matrix.dimension:
            raise TornMirrorError("its vectors are of several lengths")
        self.matrix.extend(vectors)
        if self._places is not None:
            self._places.update({one: place for place, (_, one, _) in enumerate(written, start=len(self.ids))})
        self.ids += [one for _, one, _ in written]
        self._rows += [row for row, _, _ in written]
        self._written = written[-1][0]

    def _take_in_metadata(self, changes: Sequence[MirrorChange], new: Set[str]) -> None:
        """Put all changes into the new columns, and changes since the last time into the others. What another process
        has written since `take_in` is left for the next call."""
        before, many = self._changed, len(changes) > FEW
        known = {row: place for place, row in enumerate(self._rows)} if many else {}
        for number, row, text, metadata in changes:
            if row > self._written:
                self._changed = min(self._changed, number - 1)  # other changes with this number are read again
                self._columns_as_of = None
                break
            places = [known[row]] if row in known else [] if many else self._places_of({row})
            for place in places:
                self._columns.put(place, {**(metadata or {}), STORED_DOCUMENT: text}, new if number <= before else None)
            self._changed = max(self._changed, number)


def _vectors(written: Sequence[Any]) -> npt.NDArray[np.float32]:
    try:
        return np.frombuffer(b"".join(written), dtype="<f4").reshape(len(written), -1)
    except (TypeError, ValueError) as error:
        raise TornMirrorError(f"a vector is missing or torn: {error}") from error


class Sized(Protocol):
    """A user's copies in RAM, with the size that was last recorded."""

    size: int


T = TypeVar("T", bound=Sized)


class UsersInRam(Generic[T]):
    """Users' copies by scope, limited in bytes, least recently used dropped first. Its lock is held only briefly, and
    never while another lock is taken.

    >>> from functools import partial
    >>> kept, alice = UsersInRam(partial(Resident, "cosine"), most_bytes=1_000), Scope("alice")
    >>> kept.of(alice) is kept.of(alice)
    True
    >>> kept.weigh(alice, kept.of(alice), 0); len(kept.users)      # a user without records is not stored
    0
    """

    def __init__(self, make: Callable[[], T], most_bytes: int) -> None:
        self._make, self._most, self.nbytes = make, most_bytes, 0
        self.users: OrderedDict[Scope, T] = OrderedDict()
        self._moment = threading.Lock()

    def of(self, scope: Scope) -> T:
        """The user's copies; pass them to `weigh` after a change."""
        with self._moment:
            one = self.users.get(scope)
            if one is None:
                one = self.users[scope] = self._make()
            self.users.move_to_end(scope)
            return one

    def weigh(self, scope: Scope, one: T, size: int) -> None:
        """Record a user's size in RAM; drop the user if it is zero, and other users if the total is too large."""
        with self._moment:
            if self.users.get(scope) is not one:  # dropped meanwhile
                return
            self.nbytes += size - one.size
            one.size = size
            if not size:
                del self.users[scope]
            while self.nbytes > self._most and len(self.users) > 1:
                self.nbytes -= self.users.popitem(last=False)[1].size
