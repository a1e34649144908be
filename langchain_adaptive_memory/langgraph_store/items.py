"""What does the store keep of an item? Value, namespace, times and expiry, in SQLite; vectors only point to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adaptive_memory_core.arguments.values import in_turn
from langchain_adaptive_memory.langgraph_store.changes import Changes
from langchain_adaptive_memory.langgraph_store.filters import Namespace
from langchain_adaptive_memory.langgraph_store.rows import COLUMNS, Row, Write, labels

CHUNK = 900  # names in one IN (...)
PAGE = 500  # rows at a time, so that a long walk does not keep others out
SELECT = f"SELECT {COLUMNS} FROM items JOIN namespaces USING (namespace_key)"  # noqa: S608 - our own names
_ALIVE = "(expires_at IS NULL OR expires_at > ?)"


class Items(Changes):
    """The items of one store, by the name of its collection; several stores may share a file.

    Where a method takes `now`, items that have expired by then are passed over; None passes over nothing.
    """

    def get(self, path: str, key: str, now: float | None) -> Row | None:
        """One item."""
        return next(self._rows("path = ? AND key = ?", (path, key), now), None)

    def under(self, prefix: str, now: float | None) -> Iterator[Row]:
        """All items at or below a namespace, in the order they came, namespace by namespace."""
        within, place = _within(prefix)
        query = f"SELECT namespace_key FROM namespaces WHERE store_key = ? AND {within} ORDER BY namespace_key"  # noqa: S608
        with self.file.reading() as sql:
            spaces = [row[0] for row in sql.execute(query, (self.store_key, *place))]
        for space in spaces:  # one by one, each in the order of an index: nothing has to be sorted
            last, page = 0, None
            while page is None or len(page) == PAGE:
                further = (space, last)
                page = list(
                    self._rows("namespace_key = ? AND item_key > ?", further, now, f"ORDER BY item_key LIMIT {PAGE}")
                )
                yield from page
                last = page[-1].item_key if page else last

    def by_record(self, records: Sequence[str], prefix: str, now: float | None) -> dict[str, Row]:
        """Those of the records whose item stands at or below a namespace."""
        within, place = _within(prefix)
        found: dict[str, Row] = {}
        for start in range(0, len(records), CHUNK):
            chunk = records[start : start + CHUNK]
            condition = f"{within} AND record IN ({', '.join('?' * len(chunk))})"
            found |= {row.record: row for row in self._rows(condition, (*place, *chunk), now)}
        return found

    def namespaces(self, now: float | None) -> list[Namespace]:
        """Every namespace that has an item."""
        alive, bound = ("1", ()) if now is None else (_ALIVE, (now,))
        query = (
            "SELECT path FROM namespaces WHERE store_key = ? AND EXISTS "  # noqa: S608 - our own words
            f"(SELECT 1 FROM items WHERE items.namespace_key = namespaces.namespace_key AND {alive})"
        )
        with self.file.reading() as sql:
            return [labels(row[0]) for row in sql.execute(query, (self.store_key, *bound))]

    def write(self, puts: Iterable[Write], gone: Iterable[tuple[str, str]], now: float) -> list[Row]:
        """Write and delete items in one transaction; gives the written ones. What had expired begins anew."""
        with self.file.writing() as sql:
            for path, key in gone:
                self.drop(sql, "path = ? AND key = ?", (path, key))
            written = []
            for number, one in enumerate(puts):
                self.drop(sql, "path = ? AND key = ? AND expires_at <= ?", (one.path, one.key, now))
                self.upsert(sql, one, in_turn(now, number))
                query = f"{SELECT} WHERE store_key = ? AND path = ? AND key = ?"
                written.append(Row(*sql.execute(query, (self.store_key, one.path, one.key)).fetchone()))
        return written

    def unsettled(self) -> list[Row]:
        """Items whose vectors are missing, or are of another version."""
        return list(self._rows("unsettled", (), None))

    def _rows(self, condition: str, bound: tuple[Any, ...], now: float | None, order: str = "") -> Iterator[Row]:
        alive, until = ("1", ()) if now is None else (_ALIVE, (now,))
        query = f"{SELECT} WHERE store_key = ? AND {condition} AND {alive} {order}"
        with self.file.reading() as sql:
            found = sql.execute(query, (self.store_key, *bound, *until)).fetchall()
        return (Row(*row) for row in found)


def _within(prefix: str) -> tuple[str, tuple[str, ...]]:
    """The condition for paths at or below a prefix; the slash is what comes after the dot."""
    return ("1", ()) if not prefix else ("(path = ? OR (path > ? AND path < ?))", (prefix, f"{prefix}.", f"{prefix}/"))
