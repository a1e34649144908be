"""Which rows of the mirror need not be read again? Those looked at last, as long as nobody has changed one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from adaptive_memory_core.records import Metadata

MOST_CHARACTERS = 8_000_000  # of the texts that are kept; guess
OF_A_ROW = 1_000  # characters that a row counts for besides its text
Row = tuple[str, str | None, Metadata | None]  # a record's id, text and metadata
Stamp = tuple[int, int | None, int | None]  # the collection, and how often its rows were changed and removed so far


class RowsInRam:
    """Rows by id, as of a version of the file.

    >>> kept = RowsInRam()
    >>> kept.begin("now", (1, 7, 0)); kept.keep([("a", "tea", {"topic": "drinks"})])
    >>> kept.begin("later", (1, 7, 0)); kept.known(["a", "b"])       # somebody wrote something else
    [('a', 'tea', {'topic': 'drinks'})]
    >>> kept.begin("later still", (1, 8, 0)); kept.known(["a"])
    []
    """

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}
        self._version: Hashable = None
        self._stamp: Stamp = (0, None, None)
        self._characters = 0

    def is_as_of(self, version: Hashable, changes: int | None) -> bool:
        """Whether nobody has written since, nor changed a row, where that is told by the number of changes."""
        return version == self._version and changes in (None, self._stamp[1])

    def begin(self, version: Hashable, stamp: Stamp) -> None:
        """Go on from this version of the file, with nothing where rows were changed since."""
        if stamp != self._stamp:
            self._rows, self._characters = {}, 0
        self._version, self._stamp = version, stamp

    def known(self, stored_ids: Sequence[str]) -> list[Row]:
        """Those of the rows that are here, not to be changed: records have copies of their metadata."""
        if self._characters > MOST_CHARACTERS:
            self._rows, self._characters = {}, 0
        get = self._rows.get
        return [row for one in stored_ids if (row := get(one)) is not None]

    def keep(self, rows: Iterable[Row]) -> None:
        """Remember rows that were just read, but for metadata with lists, which a copy would share."""
        for one, text, data in rows:
            if data is None or list not in map(type, data.values()):
                self._rows[one] = (one, text, None if data is None else {**data})
                self._characters += OF_A_ROW + len(text or "")

    def drop(self, stored_ids: Iterable[str]) -> None:
        """These are being written."""
        for one in stored_ids:
            self._rows.pop(one, None)

    def annotated(self, changes: int, rows: Iterable[Row]) -> None:
        """What was dropped was the change of that number, and is kept in the file like this."""
        collection, before, removed = self._stamp
        if before == changes - 1:
            self._stamp = (collection, changes, removed)
            self.keep(rows)
