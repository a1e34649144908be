"""The items of the store, and what changes them."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adaptive_memory_core.arguments.values import in_turn
from langchain_adaptive_memory.langgraph_store.file import ItemsFile
from langchain_adaptive_memory.langgraph_store.rows import COLUMNS, ItemRow, Namespace, Write, labels, record_ids

_UPSERT = """
INSERT INTO items (namespace_key, key, value, created_at, updated_at, ttl_minutes, expires_at, fields, record, vectors)
VALUES (:namespace, :key, :value, :now, :now, :ttl, :expires, :fields, :record, :vectors)
ON CONFLICT (namespace_key, key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at,
    ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at, fields = excluded.fields,
    vectors = max(vectors, excluded.vectors), version = version + 1, unsettled = 1
"""


class ItemWrites:
    """The writing half of the items.

    An item is *unsettled* from the transaction that writes it until its vectors are in the collection. The records of a
    deleted item are *leftovers* until they are gone from the collection. So a crash between the two loses nothing.
    """

    def __init__(self, file: ItemsFile, name: str) -> None:
        self.file = file
        with file.writing() as sql:
            sql.execute("INSERT OR IGNORE INTO stores (name) VALUES (?)", (name,))
            self.store_key = int(sql.execute("SELECT store_key FROM stores WHERE name = ?", (name,)).fetchone()[0])

    def meet(self, collection_uuid: str) -> None:
        """Name the collection that is to hold the vectors; those in another one, or nowhere, have to be made."""
        own = "SELECT namespace_key FROM namespaces WHERE store_key = ?"
        with self.file.writing() as sql:
            query = "SELECT collection_uuid FROM stores WHERE store_key = ?"
            if sql.execute(query, (self.store_key,)).fetchone()[0] == collection_uuid:
                return
            sql.execute("UPDATE stores SET collection_uuid = ? WHERE store_key = ?", (collection_uuid, self.store_key))
            sql.execute(
                f"UPDATE items SET unsettled = 1, vectors = 0 WHERE namespace_key IN ({own})",  # noqa: S608
                (self.store_key,),
            )
            sql.execute("DELETE FROM leftovers WHERE store_key = ?", (self.store_key,))

    def upsert(self, sql: sqlite3.Connection, one: Write, now: float) -> None:
        sql.execute("INSERT OR IGNORE INTO namespaces (store_key, path) VALUES (?, ?)", (self.store_key, one.path))
        place = (self.store_key, one.path)
        found = sql.execute("SELECT namespace_key FROM namespaces WHERE store_key = ? AND path = ?", place)
        values = {
            "namespace": found.fetchone()[0],
            "key": one.key,
            "value": one.value,
            "now": now,
            "ttl": one.ttl_minutes,
            "expires": None if one.ttl_minutes is None else now + 60 * one.ttl_minutes,
            "fields": one.fields,
            "record": uuid.uuid4().hex,
            "vectors": one.vectors,
        }
        sql.execute(_UPSERT, values)

    def drop(self, sql: sqlite3.Connection, condition: str, bound: tuple[Any, ...]) -> int:
        """Delete items; their records are leftovers, and no name of a namespace outlives its last item."""
        query = (
            "SELECT item_key, namespace_key, record, vectors "  # noqa: S608 - our own conditions
            f"FROM items JOIN namespaces USING (namespace_key) WHERE store_key = ? AND {condition}"
        )
        found = sql.execute(query, (self.store_key, *bound)).fetchall()
        for item_key, _, record, vectors in found:
            self._leave(sql, record_ids(record, vectors))
            sql.execute("DELETE FROM items WHERE item_key = ?", (item_key,))
        for namespace_key in {row[1] for row in found}:
            sql.execute(
                "DELETE FROM namespaces WHERE namespace_key = ? AND NOT EXISTS "
                "(SELECT 1 FROM items WHERE items.namespace_key = namespaces.namespace_key)",
                (namespace_key,),
            )
        return len(found)

    def touch(self, rows: Iterable[ItemRow], now: float) -> None:
        """These items were read: their time to live starts again now."""
        mortal = [(now + 60 * row.ttl_minutes, row.item_key) for row in rows if row.ttl_minutes is not None]
        if mortal:
            with self.file.writing() as sql:
                sql.executemany("UPDATE items SET expires_at = ? WHERE item_key = ?", mortal)

    def sweep(self, now: float) -> int:
        """Delete what has expired; gives how many."""
        with self.file.writing() as sql:
            return self.drop(sql, "expires_at <= ?", (now,))

    def settle(self, written: Iterable[tuple[ItemRow, int]]) -> bool:
        """Note how many vectors of these versions the collection holds now; False if another change came in between."""
        with self.file.writing() as sql:
            settled = [self._settle(sql, row, vectors) for row, vectors in written]
        return all(settled)

    def _settle(self, sql: sqlite3.Connection, row: ItemRow, vectors: int) -> bool:
        present = record_ids(row.record, vectors)
        found = sql.execute("SELECT version FROM items WHERE item_key = ?", (row.item_key,)).fetchone()
        if found is None:  # deleted meanwhile: the vectors that were just written must go as well
            self._leave(sql, present)
        elif found[0] == row.version:
            sql.execute("UPDATE items SET vectors = ?, unsettled = 0 WHERE item_key = ?", (vectors, row.item_key))
            sql.executemany("DELETE FROM leftovers WHERE record = ?", [(one,) for one in present])
            self._leave(sql, row.records()[vectors:])
        else:  # written over meanwhile: whose vectors came last, nobody can tell
            many = "UPDATE items SET unsettled = 1, vectors = max(vectors, ?) WHERE item_key = ?"
            sql.execute(many, (vectors, row.item_key))
        return found is not None and found[0] == row.version

    def leftovers(self) -> list[str]:
        """Records that must go from the collection."""
        with self.file.reading() as sql:
            found = sql.execute("SELECT record FROM leftovers WHERE store_key = ?", (self.store_key,))
            return [row[0] for row in found]

    def cleared(self, records: Iterable[str]) -> None:
        """These are gone from there."""
        with self.file.writing() as sql:
            sql.executemany("DELETE FROM leftovers WHERE record = ?", [(one,) for one in records])

    def _leave(self, sql: sqlite3.Connection, records: Iterable[str]) -> None:
        sql.executemany(
            "INSERT OR IGNORE INTO leftovers (record, store_key) VALUES (?, ?)",
            [(one, self.store_key) for one in records],
        )


CHUNK = 900  # names in one IN (...)
PAGE = 500  # rows at a time, so that a long walk does not keep others out
SELECT = f"SELECT {COLUMNS} FROM items JOIN namespaces USING (namespace_key)"  # noqa: S608 - our own names
_ALIVE = "(expires_at IS NULL OR expires_at > ?)"


class Items(ItemWrites):
    """The items of one store, by the name of its collection; several stores may share a file.

    If a method takes `now`, items that have expired by then are skipped; None skips nothing.
    """

    def get(self, path: str, key: str, now: float | None) -> ItemRow | None:
        """One item."""
        return next(self._rows("path = ? AND key = ?", (path, key), now), None)

    def under(self, prefix: str, now: float | None) -> Iterator[ItemRow]:
        """All items at or below a namespace, in insertion order, namespace by namespace."""
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

    def by_record(self, records: Sequence[str], prefix: str, now: float | None) -> dict[str, ItemRow]:
        """Those of the records whose item is at or below a namespace."""
        within, place = _within(prefix)
        found: dict[str, ItemRow] = {}
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

    def write(self, puts: Iterable[Write], gone: Iterable[tuple[str, str]], now: float) -> list[ItemRow]:
        """Write and delete items in one transaction; gives the written ones. An expired item counts as new."""
        with self.file.writing() as sql:
            for path, key in gone:
                self.drop(sql, "path = ? AND key = ?", (path, key))
            written = []
            for number, one in enumerate(puts):
                self.drop(sql, "path = ? AND key = ? AND expires_at <= ?", (one.path, one.key, now))
                self.upsert(sql, one, in_turn(now, number))
                query = f"{SELECT} WHERE store_key = ? AND path = ? AND key = ?"
                written.append(ItemRow(*sql.execute(query, (self.store_key, one.path, one.key)).fetchone()))
        return written

    def unsettled(self) -> list[ItemRow]:
        """Items whose vectors are missing, or are of another version."""
        return list(self._rows("unsettled", (), None))

    def _rows(self, condition: str, bound: tuple[Any, ...], now: float | None, order: str = "") -> Iterator[ItemRow]:
        alive, until = ("1", ()) if now is None else (_ALIVE, (now,))
        query = f"{SELECT} WHERE store_key = ? AND {condition} AND {alive} {order}"
        with self.file.reading() as sql:
            found = sql.execute(query, (self.store_key, *bound, *until)).fetchall()
        return (ItemRow(*row) for row in found)


def _within(prefix: str) -> tuple[str, tuple[str, ...]]:
    """The condition for paths at or below a prefix; the slash is what comes after the dot."""
    return ("1", ()) if not prefix else ("(path = ? OR (path > ? AND path < ?))", (prefix, f"{prefix}.", f"{prefix}/"))
