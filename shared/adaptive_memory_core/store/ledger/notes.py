"""What does the ledger note about the collection? The embedder that it was first written with."""

from __future__ import annotations

from adaptive_memory_core.store.ledger.context import LedgerContext


class LedgerNotes:
    """The row of the collection."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def embedder(self) -> tuple[str | None, int | None]:
        """The name and dimension of the embedder this collection was first written with."""
        query = "SELECT embedder, dimension FROM collections WHERE collection_key = ?"
        with self._shared.reading() as sql:
            row = sql.execute(query, (self._shared.collection_key,)).fetchone()
        return (None, None) if row is None else (row[0], row[1])

    def keep_embedder(self, name: str, dimension: int) -> None:
        """Write down the embedder, in the place of what was known."""
        with self._shared.writing() as sql:
            sql.execute(
                "UPDATE collections SET embedder = ?, dimension = ? WHERE collection_key = ?",
                (name, dimension, self._shared.collection_key),
            )

    def uuid(self) -> str | None:
        """The collection's own id."""
        query = "SELECT uuid FROM collections WHERE collection_key = ?"
        with self._shared.reading() as sql:
            row = sql.execute(query, (self._shared.collection_key,)).fetchone()
        return None if row is None else str(row[0])
