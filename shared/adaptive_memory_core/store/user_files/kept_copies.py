"""How do a user's vectors or words come into a file, and from there into RAM? Beside the ledger, which has the rows.

A file is as good as the rows that it was made of, and quicker to read. Without one, with a torn one, or with one in
which something stands that was removed since, the rows are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from adaptive_memory_core.flow.ports.user_files import FileKind, UserFile, UserFiles
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.user_files import arrays_file
from adaptive_memory_core.store.user_files.arrays_file import Arrays
from adaptive_memory_core.store.user_files.keeper import UserFilesKeeper

GROWN = 1.05  # times as many records as in the file, from which on another one is made: before its room is full


class Taken(NamedTuple):
    """What is to be written: `arrays` makes the arrays, which may take a while."""

    owner: int
    written: int
    removed: int
    notes: Mapping[str, Any]
    arrays: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class KeptCopies:
    """The files of one kind. Of users with fewer records than `least` there are none: their rows are read as soon."""

    kind: FileKind
    files: UserFiles
    keeper: UserFilesKeeper
    least: int

    def read(self, scope: Scope) -> tuple[UserFile, Arrays] | None:
        """The user's file; None where there is none that can be used."""
        found = self.files.find(scope, self.kind) if self.least else None
        if found is None:
            return None
        arrays = arrays_file.read(found.place)
        if arrays is None:
            self.files.drop(found)
            return None
        return found, arrays

    def is_due(self, records: int, in_file: int) -> bool:
        """Whether a user with so many records, of which the file has so many, needs another one."""
        return 0 < self.least <= records and records > GROWN * in_file

    def ask(self, scope: Scope, take: Callable[[], Taken | None], adopt: Callable[[UserFile, Arrays], object]) -> None:
        """Have what there is written into a file, and `adopt` told what it then says."""
        self.keeper.ask((self.kind, scope), lambda: self._write(scope, take, adopt))

    def _write(
        self, scope: Scope, take: Callable[[], Taken | None], adopt: Callable[[UserFile, Arrays], object]
    ) -> None:
        taken = take()
        if taken is None:
            return
        there = self.files.find(scope, self.kind)
        if there is None or there.owner != taken.owner or there.written < taken.written:
            there = self._written(taken)
        arrays = None if there is None else arrays_file.read(there.place)
        if there is not None and arrays is not None:
            adopt(there, arrays)

    def _written(self, taken: Taken) -> UserFile | None:
        place = self.files.new(taken.owner, self.kind)
        if place is None:
            return None
        try:
            arrays_file.write(place, taken.notes, taken.arrays())
            return self.files.keep(self.kind, UserFile(place, taken.owner, taken.written, taken.removed))
        except OSError:  # the disk is full, or may not be written: then there is none
            with suppress(OSError):
                place.unlink(missing_ok=True)
            return None
