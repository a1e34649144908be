"""How are removals told to those who hold copies in RAM, without being kept for ever? The last ones, and a mark before.

Where a user's earlier removals were let go, the newest of them stays as a mark: whoever comes to it has missed some,
and reads the user's rows anew.
"""

from __future__ import annotations

from adaptive_memory_core.flow.ports.ledger_values import LET_GO
from adaptive_memory_core.store.sqlite_file import LedgerFile

TABLES = ("words_gone", "mirror_gone")
MOST_REMOVALS = 10_000  # kept of each table; to read a user anew takes about as long as to look through these
_HEARD = {"words_gone": "(SELECT min(removed) FROM graph_seen)"}  # up to which the graph has let go of them, too
_BEFORE = (
    "SELECT CASE WHEN last - most < heard THEN last - most ELSE heard END "
    "FROM (SELECT last, most, coalesce({heard}, last) AS heard "
    "FROM (SELECT max(gone) AS last, ? AS most FROM {table}) AS of_all) AS told"
)
_DUE = "SELECT EXISTS (SELECT 1 FROM {table} WHERE gone <= ? AND row != ?)"
_LAST = "SELECT max(gone) FROM {table} WHERE gone <= ? GROUP BY user_key"


def trim(file: LedgerFile, most: int = MOST_REMOVALS) -> None:
    """Let go of the removals before the last ones."""
    for table in TABLES:
        with file.reading() as sql:
            heard = _HEARD.get(table, "NULL")
            before = sql.execute(_BEFORE.format(table=table, heard=heard), (most,)).fetchone()[0]
            due = sql.execute(_DUE.format(table=table), (before, LET_GO)).fetchone()[0]
        if due:
            with file.writing() as sql:
                marks = _LAST.format(table=table)
                sql.execute(f"DELETE FROM {table} WHERE gone <= ? AND gone NOT IN ({marks})", (before, before))  # noqa: S608
                sql.execute(f"UPDATE {table} SET row = ? WHERE gone <= ?", (LET_GO, before))  # noqa: S608
