"""Another embedder's vectors: collected next to the old ones, and swapped in at once.

The texts come from the mirror, so a record that is written in the meantime is a row without a new vector.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import numpy as np

from adaptive_memory_core.errors import StoreInUseError
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow, Target, Unfinished
from adaptive_memory_core.store.ledger.cached_copies import read_metadata
from adaptive_memory_core.store.ledger.schema import LedgerPart

_TARGET = "SELECT uuid, embedder, dimension FROM reembedding WHERE collection_key = ?"
_PROGRESS = (
    "SELECT (SELECT count(*) FROM new_vectors WHERE collection_key = ?), "
    "(SELECT count(*) FROM mirror WHERE collection_key = ?)"
)
_MISSING = (
    "SELECT mirror.row, text FROM mirror {by_row} LEFT JOIN new_vectors USING (row) "
    "WHERE mirror.collection_key = ? AND mirror.row > ? AND vector IS NULL ORDER BY mirror.row LIMIT ?"
)
_SAMPLE = (
    "SELECT text, vector FROM new_vectors JOIN mirror USING (row) "
    "WHERE new_vectors.collection_key = ? AND vector != zeroblob(length(vector)) ORDER BY row LIMIT ?"
)
_KEEP = (
    "INSERT INTO new_vectors (row, collection_key, vector) "
    "SELECT row, collection_key, ? FROM mirror WHERE row = ? AND collection_key = ? "
    "ON CONFLICT (row) DO UPDATE SET collection_key = excluded.collection_key, vector = excluded.vector"
)
_MADE = (
    "SELECT mirror.row, stored_id, text, metadata, vector FROM mirror {by_row} JOIN new_vectors USING (row) "
    "WHERE mirror.collection_key = ? AND mirror.row > ? ORDER BY mirror.row LIMIT ?"
)
_SWAP = (  # one after another, each with the names of its values; the last value of all is the collection's key
    ("INSERT INTO mirror_gone (user_key, row) SELECT user_key, row FROM mirror WHERE collection_key = ?", ()),
    ("DELETE FROM mirror_vectors WHERE row IN (SELECT row FROM mirror WHERE collection_key = ?)", ()),
    (
        "INSERT INTO mirror_vectors (row, vector) SELECT row + ?, vector FROM new_vectors WHERE collection_key = ?",
        ("beyond",),
    ),
    # rows get other numbers, because copies in RAM notice changes by them
    ("UPDATE mirror SET row = row + ?, changed = ? WHERE collection_key = ?", ("beyond", "number")),
    (
        "UPDATE mirror_size SET complete_at = ?, drops = mirror_size.drops + 1 WHERE collection_key = ?",
        ("complete_at",),
    ),
    ("UPDATE collections SET replaces = uuid, replaces_written = ? WHERE collection_key = ?", ("written",)),
    (
        "UPDATE collections SET uuid = ?, embedder = ?, dimension = ? WHERE collection_key = ?",
        ("uuid", "embedder", "dimension"),
    ),
)
_OF_PASSAGES = (
    "SELECT passage, new_vectors.vector FROM graph_passages "
    "LEFT JOIN mirror ON mirror.collection_key = graph_passages.collection_key "
    "AND mirror.stored_id = graph_passages.stored_id LEFT JOIN new_vectors ON new_vectors.row = mirror.row "
    "WHERE graph_passages.collection_key = ? AND length(graph_passages.vector) > 0"
)
_NUMBERED = (
    "INSERT INTO mirror_size (collection_key, changes) VALUES (?, 1) "
    "ON CONFLICT (collection_key) DO UPDATE SET changes = mirror_size.changes + 1 RETURNING changes"
)


class LedgerNewVectors(LedgerPart):
    """Another embedder's vectors for the records in the mirror, until they replace the old ones at once."""

    def _by_row(self, statement: str) -> str:
        """The statement with the engine's hint to read the mirror in the order of its rows."""
        return statement.format(by_row=self._shared.file.by_row)

    def begin(self, target: Target, *, from_start: bool = True) -> None:
        """Start collecting vectors for this collection. With `anew`, vectors from an earlier start are discarded."""
        own = self._shared.collection_key
        with self._shared.writing() as sql:
            for table in ("reembedding", "new_vectors") if from_start else ("reembedding",):
                sql.execute(f"DELETE FROM {table} WHERE collection_key = ?", (own,))  # noqa: S608 - our own names
            sql.execute("INSERT INTO reembedding VALUES (?, ?, ?, ?)", (own, *target))

    def target(self) -> Target | None:
        row = self._first(_TARGET, self._shared.collection_key)
        return None if row is None else Target(*row)

    def progress(self) -> tuple[int, int]:
        """The number of records with a new vector, and of all records."""
        made, total = self._first(_PROGRESS, self._shared.collection_key, self._shared.collection_key)
        return made, total

    def missing(self, after: int, limit: int) -> list[tuple[int, str | None]]:
        """Row and text of records without a new vector, after this row."""
        return self._all(self._by_row(_MISSING), self._shared.collection_key, after, limit)

    def sample(self, limit: int) -> list[tuple[str, bytes]]:
        """Texts with their new vectors, without zero vectors."""
        return self._all(_SAMPLE, self._shared.collection_key, limit)

    def keep(self, uuid: str, vectors: Mapping[int, bytes]) -> bool:
        """Store the vectors of these rows, if the rows still exist; return False if the target is another one now."""
        own = self._shared.collection_key
        with self._shared.writing() as sql:
            if not _is_target(sql, own, uuid):
                return False
            sql.executemany(_KEEP, [(vector, row, own) for row, vector in vectors.items()])
            length = next((len(vector) // 4 for vector in vectors.values()), None)
            sql.execute(
                "UPDATE reembedding SET dimension = coalesce(dimension, ?) WHERE collection_key = ?", (length, own)
            )
        return True

    def made(self, after: int, limit: int) -> list[tuple[int, MirrorRow]]:
        """Records with their new vectors after this row, each with the number of its row."""
        found = self._all(self._by_row(_MADE), self._shared.collection_key, after, limit)
        return [(row, MirrorRow(one, text, read_metadata(data), vector)) for row, one, text, data, vector in found]

    def last_change(self) -> int:
        """The number of the latest change of any record."""
        query = "SELECT coalesce(max(changes), 0) FROM mirror_size WHERE collection_key = ?"
        return int(self._value(query, self._shared.collection_key))

    def changed_since(self, number: int) -> list[str]:
        """The ids of the records that changed after this change."""
        query = "SELECT stored_id FROM mirror WHERE collection_key = ? AND changed > ?"
        return [row[0] for row in self._all(query, self._shared.collection_key, number)]

    def swap(self, uuid: str, *, written: int | None, complete_at: str | None) -> bool:
        """Swap the mirror's vectors, the embedder and the collection's id at once; return False if vectors are
        missing."""
        own = self._shared.collection_key
        with self._shared.writing() as sql:
            row = sql.execute(_TARGET, (own,)).fetchone()
            if row is None or row[0] != uuid:
                raise StoreInUseError(
                    "Another call is re-embedding the same records, or has already done so. Wait for it, and look at "
                    "memory.embedder_name before you call again."
                )
            if sql.execute(self._by_row(_MISSING), (own, 0, 1)).fetchone() is not None:
                return False
            target, beyond = Target(*row), self._shared.file.last_number(sql, "mirror", "row")
            number = sql.execute(_NUMBERED, (own,)).fetchone()[0]
            values = {"own": own, "beyond": beyond, "number": number, "written": written, "complete_at": complete_at}
            values |= target._asdict()
            _swap_in_graph(sql, own)
            for statement, named in _SWAP:
                sql.execute(statement, (*(values[one] for one in named), own))
            self._shared.file.numbered(sql, "mirror", "row")
            for table in ("reembedding", "new_vectors"):
                sql.execute(f"DELETE FROM {table} WHERE collection_key = ?", (own,))  # noqa: S608 - our own names
        return True

    def with_lists(self) -> list[str]:
        """The ids of the records whose metadata contain lists, or text that looks like one."""
        query = "SELECT stored_id FROM mirror WHERE collection_key = ? AND instr(metadata, ':[') > 0"
        return [row[0] for row in self._all(query, self._shared.collection_key)]

    def unfinished(self, name: str) -> Unfinished | None:
        """The collection that has not yet taken over this name, or None."""
        query = "SELECT uuid, replaces, replaces_written FROM collections WHERE name = ? AND replaces IS NOT NULL"
        row = self._first(query, name)
        return None if row is None else Unfinished(*row)

    def finish(self) -> None:
        """Note that the attached collection has taken over its name."""
        done = "UPDATE collections SET replaces = NULL, replaces_written = NULL WHERE collection_key = ?"
        with self._shared.writing() as sql:
            sql.execute(done, (self._shared.collection_key,))


def _swap_in_graph(sql: sqlite3.Connection, own: int) -> None:
    """Give the graph's passages the new vectors of their records."""
    found = sql.execute(_OF_PASSAGES, (own,)).fetchall()
    update = "UPDATE graph_passages SET vector = ?, sentence_vectors = NULL, time_vectors = NULL WHERE passage = ?"
    sql.executemany(update, [(_halved(vector), passage) for passage, vector in found])


def _halved(vector: bytes | None) -> bytes:
    """The vector in the graph's format, with numbers of 16 bits."""
    return b"" if vector is None else np.frombuffer(vector, dtype="<f4").astype("<f2").tobytes()


def _is_target(sql: sqlite3.Connection, own: int, uuid: str) -> bool:
    row = sql.execute(_TARGET, (own,)).fetchone()
    return row is not None and row[0] == uuid
