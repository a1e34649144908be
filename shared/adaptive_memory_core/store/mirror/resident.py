"""What of one user is in RAM? The vectors and ids of the records and, where filters are asked, their metadata."""

from __future__ import annotations

import json
import threading
from collections.abc import Hashable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adaptive_memory_core.flow.ports import MirrorNews, Where
from adaptive_memory_core.flow.ports.ledger_copies import MirrorRows
from adaptive_memory_core.flow.ports.ledger_values import some_let_go
from adaptive_memory_core.flow.ports.user_files import UserFile
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.mirror.matrix import Matrix
from adaptive_memory_core.store.user_files.arrays_file import Arrays, packed, unpacked
from adaptive_memory_core.store.user_files.kept_copies import KeptCopies, Taken
from adaptive_memory_core.where.parse import predicate

BYTES_OF_AN_ID, BYTES_OF_METADATA = 150, 800  # of a record in RAM, about
MOST_FILTERS = 8  # whose answers are kept
FEW = 4  # rows that are found sooner one by one; measured with 30,000 records


class Passing(NamedTuple):
    """Which records pass a filter, as of a version."""

    version: tuple[int, int]
    allowed: npt.NDArray[np.bool_]
    ids: Set[str]


class TornMirrorError(Exception):
    """The mirror's rows are not what was written; it is made anew."""


class Resident:
    """One user's records as of the last `take_in`. `turn` is taken by whoever uses it."""

    def __init__(self, space: str) -> None:
        self.turn = threading.RLock()
        self._space = space
        self._start()

    def _start(self) -> None:
        self.owner = 0
        self._as_of: Hashable = None  # the ledger's last change that it has heard of
        self.matrix: Matrix | None = None
        self.ids: list[str] = []
        self._rows: list[int] = []  # the number of each record's row in the ledger
        self._places: dict[str, int] | None = None  # of ids; made when first asked for
        self._written = self._removed = self._changed = 0  # what was taken in so far
        self._metadata: dict[int, Metadata | None] | None = None  # by row
        self._filters: dict[str, Passing] = {}
        self._version = 0
        self.in_file = 0  # records that a file has

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        vectors = 0 if self.matrix is None else self.matrix.nbytes
        return vectors + len(self) * (BYTES_OF_AN_ID + (0 if self._metadata is None else BYTES_OF_METADATA))

    @property
    def places(self) -> Mapping[str, int]:
        """Where each record stands."""
        if self._places is None:
            self._places = {one: place for place, one in enumerate(self.ids)}
        return self._places

    def take_in(self, rows: MirrorRows, scope: Scope, kept: KeptCopies | None = None) -> bool:
        """Learn of what was written and removed since, in any process; whether there was anything."""
        change = rows.last_change(scope)
        if change == self._as_of:
            return False
        if kept is not None and not self._written and (found := kept.read(scope)) is not None:
            self.adopt(*found)
        news = rows.news(scope, self._written, self._removed)
        if self.owner not in (0, news.owner) or (len(self) and some_let_go(news.removed)):
            self._start()
            news = rows.news(scope, 0, 0)
        learned = bool(news.removed or news.written)
        self.in_file = 0 if news.removed else self.in_file
        if learned:
            self._learn(news)
        self.owner, self._as_of = news.owner, change
        return learned

    def passing(self, rows: MirrorRows, scope: Scope, where: Where) -> Passing:
        """The records that pass the filter."""
        self._take_in_metadata(rows, scope)
        asked, version = json.dumps(where, default=repr), (self._version, self._changed)
        found = self._filters.pop(asked, None)
        if found is None or found.version != version:
            found = self._filtered(where, version)
        self._filters[asked] = found
        if len(self._filters) > MOST_FILTERS:
            del self._filters[next(iter(self._filters))]
        return found

    def taken(self) -> Taken | None:
        """What a file is to have; None where nothing can be made of it."""
        with self.turn:
            if self.matrix is None:
                return None
            arrays = {**self.matrix.arrays(), "numbers": np.array(self._rows, dtype=np.int64)}
            ids, notes = tuple(self.ids), {"space": self._space}
            removed, owner, written = self._removed, self.owner, self._written
        return Taken(owner, written, removed, notes, lambda: {**arrays, "ids": packed(ids)})

    def adopt(self, file: UserFile, arrays: Arrays) -> None:
        """Go on with what stands in a file, where that is as much as is known here, or nothing is."""
        with self.turn:
            known = (self.owner, self._written, self._removed)
            if arrays.notes["space"] != self._space or (self._written and known != file[1:]):
                return
            ids, numbers = unpacked(arrays["ids"]), arrays["numbers"].tolist()
            if not self._written:
                self.owner, self._written, self._removed = file[1:]
                self._as_of = None
                self.ids, self._rows = ids, numbers
            if self._rows == numbers:
                self.matrix, self.in_file = Matrix.of(self._space, arrays.arrays, len(ids)), len(ids)

    def _learn(self, news: MirrorNews) -> None:
        gone = {row for _, row in news.removed if row <= self._written}
        for place in reversed(self._places_of(gone)):  # so that what takes a place stays
            self._remove(place)
        self._removed = max((number for number, _ in news.removed), default=self._removed)
        if news.written:
            self._append(news.written)
        self._version += 1

    def _places_of(self, gone: Set[int]) -> list[int]:
        """Where the rows of these numbers stand, first to last; many are looked for at once."""
        if len(gone) > FEW:
            return [place for place, row in enumerate(self._rows) if row in gone]
        return sorted(self._rows.index(row) for row in gone if row in self._rows)

    def _remove(self, place: int) -> None:
        """The last record takes the place of the one that goes."""
        if self.matrix is not None:
            self.matrix.remove(place)
        if self._metadata is not None:
            self._metadata.pop(self._rows[place], None)
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

    def _take_in_metadata(self, rows: MirrorRows, scope: Scope) -> None:
        known = {} if self._metadata is None else self._metadata
        for number, row, _, metadata in rows.changes(scope, self._changed):
            known[row] = metadata
            self._changed = number
        self._metadata = known

    def _filtered(self, where: Where, version: tuple[int, int]) -> Passing:
        test, known = predicate(where), self._metadata or {}
        rows = (known.get(row) for row in self._rows)
        allowed = np.fromiter((test(one or {}, None) for one in rows), dtype=bool, count=len(self._rows))
        return Passing(version, allowed, {self.ids[place] for place in np.flatnonzero(allowed).tolist()})


def _vectors(written: Sequence[Any]) -> npt.NDArray[np.float32]:
    try:
        return np.frombuffer(b"".join(written), dtype="<f4").reshape(len(written), -1)
    except (TypeError, ValueError) as error:
        raise TornMirrorError(f"a vector is missing or torn: {error}") from error
