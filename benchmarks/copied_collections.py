"""How is a ledger filled fast? The rows of one collection are copied for further ones, by the server itself."""

from __future__ import annotations

from typing import Any

import psycopg

KEYS = {  # each with the table that numbers it
    "collection_key": "collections",
    "user_key": "users",
    "record_key": "records",
    "id_key": "logged_ids",
    "row": "mirror",
}
COPIED = (
    "collections",
    "users",
    "records",
    "words",
    "words_size",
    "mirror",
    "mirror_vectors",
    "mirror_size",
    "logged_ids",
)
_COLUMNS = (
    "SELECT column_name FROM information_schema.columns WHERE table_schema = 'adaptive_memory' AND table_name = %s "
    "ORDER BY ordinal_position"
)


def copy_collections(address: str, times: int) -> None:
    """As many more collections with the users, records, words, vectors and texts of the one that is there."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # triggers would count what is copied as well
        steps = {key: _largest(connection, table, key) for key, table in KEYS.items()}
        steps["row"] = max(steps["row"], _largest(connection, "words", "row"))
        for table in COPIED if times else ():
            columns = [row[0] for row in connection.execute(_COLUMNS, (table,))]
            values = [_value(column, steps) for column in columns]
            connection.execute(
                f"INSERT INTO adaptive_memory.{table} ({', '.join(columns)}) SELECT {', '.join(values)} "
                f"FROM adaptive_memory.{table}, generate_series(1, {times}) AS copy"
            )
        for key, table in (*KEYS.items(), ("row", "words")):
            name, largest = f"adaptive_memory.{table}", _largest(connection, table, key)
            connection.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", (name, key, largest))
        connection.execute("VACUUM ANALYZE")


def _value(column: str, steps: dict[str, int]) -> str:
    if column in steps:
        return f"{column} + copy * {steps[column]}"
    return "uuid || '-' || copy" if column == "uuid" else column


def _largest(connection: Any, table: str, key: str) -> int:
    found = connection.execute(f"SELECT coalesce(max({key}), 0) FROM adaptive_memory.{table}").fetchone()
    return int(found[0])
