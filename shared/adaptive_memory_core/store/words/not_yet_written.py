"""Which changes by other programs are not in the ledger yet? Held in RAM, so that looking writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

from adaptive_memory_core.records import Scope

Row = tuple[Any, ...]  # a record's words as the ledger would have them, from its stored id on


class Entry(NamedTuple):
    """What a record is by now; `row` is None where it is gone, `known` says that the ledger has something of it."""

    scope: Scope | None
    row: Row | None
    known: bool


class NotYetWritten:
    """Records that changed hands, text or existence since the ledger's rows were written. Its user does the locking.

    >>> held = NotYetWritten()
    >>> held.lay(Scope("alice"), [("new", b"mark")], known=set())
    >>> held.miss(["old", "new"], known={"old"})
    >>> held.change, dict(held.rows(Scope("alice"))), held.overruled
    (-1, {}, {'old'})
    """

    def __init__(self) -> None:
        self.version = 0
        self._entries: dict[str, Entry] = {}
        self._rows: dict[Scope | None, dict[str, Row]] = {}
        self._overruled: set[str] = set()
        self._change = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def change(self) -> int:
        """By how much there are more records than the ledger says."""
        return self._change

    @property
    def overruled(self) -> Set[str]:
        """What the ledger says something about that is no longer so."""
        return self._overruled

    def rows(self, scope: Scope | None) -> Mapping[str, Row]:
        return self._rows.get(scope, {})

    def has(self, stored_id: str) -> bool | None:
        """Whether the record is there; None where the ledger is right."""
        entry = self._entries.get(stored_id)
        return None if entry is None else entry.row is not None

    def ids(self, written: Set[str]) -> set[str]:
        """All there are, given what the ledger says."""
        here = {one for one, entry in self._entries.items() if entry.row is not None}
        return (set(written) - self._overruled) | here

    def lay(self, scope: Scope | None, rows: Iterable[Row], *, known: Set[str]) -> None:
        """Records as they are now; `known` are those of which the ledger has something."""
        for row in rows:
            self._put(row[0], Entry(scope, row, row[0] in known))

    def miss(self, stored_ids: Iterable[str], *, known: Set[str]) -> None:
        """Records that are gone."""
        for one in stored_ids:
            if one in known:
                self._put(one, Entry(None, None, known=True))
            else:
                self.let_go([one])

    def as_written(self, said: Mapping[str, bytes]) -> list[str]:
        """Those that the ledger has by now just as they are, given its marks; whoever wrote them."""
        return [one for one, mark in said.items() if (row := self._entries[one].row) is not None and row[1] == mark]

    def let_go(self, stored_ids: Iterable[str]) -> None:
        """The ledger is right about these."""
        for one in stored_ids:
            entry = self._entries.pop(one, None)
            if entry is not None:
                self.version += 1
                self._count(one, entry, -1)

    def taken(self, most: int) -> dict[str, Entry]:
        """The oldest of them, to be written."""
        return {one: self._entries[one] for one, _ in zip(self._entries, range(most), strict=False)}

    def written(self, entries: Mapping[str, Entry]) -> None:
        """These stand in the ledger now, unless they changed meanwhile."""
        self.let_go([one for one, entry in entries.items() if self._entries.get(one) is entry])
        for one in entries.keys() & self._entries.keys():
            self._put(one, self._entries[one]._replace(known=entries[one].row is not None))

    def _put(self, stored_id: str, entry: Entry) -> None:
        self.let_go([stored_id])
        self.version += 1
        self._entries[stored_id] = entry
        self._count(stored_id, entry, 1)

    def _count(self, stored_id: str, entry: Entry, sign: int) -> None:
        self._change += sign * (int(entry.row is not None) - int(entry.known))
        if entry.known:
            (self._overruled.add if sign > 0 else self._overruled.discard)(stored_id)
        if entry.row is not None:
            own = self._rows.setdefault(entry.scope, {})
            if sign > 0:
                own[stored_id] = entry.row
            else:
                own.pop(stored_id, None)
                if not own:
                    del self._rows[entry.scope]


def by_scope(entries: Mapping[str, Entry]) -> dict[Scope | None, list[Row]]:
    """The rows that are to be written, of each scope."""
    rows: dict[Scope | None, list[Row]] = {}
    for entry in entries.values():
        if entry.row is not None:
            rows.setdefault(entry.scope, []).append(entry.row)
    return rows


def marks(rows: Sequence[Row]) -> dict[str, bytes]:
    """What changes when a record does."""
    return {row[0]: row[1] for row in rows}
