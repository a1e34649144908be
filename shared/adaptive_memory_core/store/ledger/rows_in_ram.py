"""Which rows of the mirror need not be read again? Those looked at last, as long as nobody has written since."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from adaptive_memory_core.records import Metadata

MOST_CHARACTERS = 8_000_000  # of the texts that are kept; guess
OF_A_ROW = 1_000  # characters that a row counts for besides its text
Row = tuple[str, str | None, Metadata | None]  # a record's id, text and metadata


class RowsInRam:
    """Rows by id, as of a version of the file.

    >>> kept = RowsInRam()
    >>> kept.keep(1, [("a", "tea", {"topic": "drinks"})])
    >>> kept.known(1, ["a", "b"]), kept.known(2, ["a"])
    ([('a', 'tea', {'topic': 'drinks'})], [])
    """

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}
        self._version: Hashable = None
        self._characters = 0

    def known(self, version: Hashable, stored_ids: Sequence[str]) -> list[Row]:
        """Those of the rows that are here. The metadata are copies, for whoever is given them may change them."""
        if version != self._version or self._characters > MOST_CHARACTERS:
            self._rows, self._characters, self._version = {}, 0, version
        rows = self._rows
        found = [rows[one] for one in stored_ids if one in rows]
        return [(one, text, None if data is None else {**data}) for one, text, data in found]

    def keep(self, version: Hashable, rows: Iterable[Row]) -> None:
        """Remember rows that were just read, but for metadata with lists, which a copy would share."""
        if version != self._version:
            self._rows, self._characters, self._version = {}, 0, version
        for one, text, data in rows:
            if data is None or list not in map(type, data.values()):
                self._rows[one] = (one, text, None if data is None else {**data})
                self._characters += OF_A_ROW + len(text or "")

    def drop(self, stored_ids: Iterable[str]) -> None:
        """These are being written."""
        for one in stored_ids:
            self._rows.pop(one, None)
