"""How long does it take to let go of a day of the log? As a whole, and line by line as it would be without a table of
its own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from adaptive_memory_core.store.postgres.postgres_ledger import create_ledger_tables

DAY, FIRST = 86_400.0, 20_000
DELETED = 10_000  # lines that are deleted one batch after the other
LINE_BYTES = 460  # of a line's candidates; measured in a ledger that recalls wrote: avg(length(candidates))
_FILL = (
    "INSERT INTO adaptive_memory.recalls "
    "(recall_id, user_key, step, at, cue, k, policy_hash, candidates) "
    "SELECT gen_random_uuid()::text, 1 + line %% 10000, 1 + line / 10000, %(begins)s + line * 86400.0 / %(lines)s, "
    "'what did we say about the harbour on day ' || line, 5, '0123456789abcdef', %(candidates)s "
    "FROM generate_series(0, %(lines)s - 1) AS line"
)
_BATCH = (
    "DELETE FROM adaptive_memory.recalls_of_any_day WHERE recall_key IN "
    "(SELECT recall_key FROM adaptive_memory.recalls_of_any_day WHERE at < %s LIMIT 500)"
)


def measured_days(address: str, lines: int) -> dict[str, Any]:
    """Of a day with so many lines: bytes a line, seconds to drop it, and to delete it line by line, as far as that is
    known from some of them."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS log")
        connection.execute("CREATE DATABASE log")
    place = address.replace("/memories?", "/log?")
    create_ledger_tables(place)
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("SELECT adaptive_memory.make_log_days(%s, %s)", (FIRST, FIRST))
        _fill(connection, FIRST, lines)
        _fill(connection, FIRST - 10, DELETED)  # a day without a table
        size = connection.execute("SELECT pg_total_relation_size('adaptive_memory.recalls_of_2024_10_04')").fetchone()
        connection.execute("CHECKPOINT")
        _let_go_of_memory(connection)
        with _looking_on(place) as waits:
            dropped = _took(connection, "SELECT adaptive_memory.drop_log_days(%s)", (FIRST + 1) * DAY)
        batches = sum(_took(connection, _BATCH, FIRST * DAY) for _ in range(DELETED // 500))
    return {
        "lines": lines,
        "bytes a line": round(size[0] / lines) if size else 0,
        "dropped in s": round(dropped, 2),
        "others waited s": round(max(waits), 2),
        "line by line s": round(batches * lines / DELETED),
    }


def _let_go_of_memory(connection: Any) -> None:
    """A day is dropped weeks after it was written: its files stand on the disk, and no longer in memory."""
    row = connection.execute("SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = 'log'")
    directory, database = row.fetchone()
    for file in Path(directory, "base", str(database)).iterdir():
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextmanager
def _looking_on(place: str) -> Iterator[list[float]]:
    """How long each look into the log took that another connection had meanwhile: it needs what a recall needs."""
    waits, done = [0.0], threading.Event()

    def look() -> None:
        with psycopg.connect(place, autocommit=True) as connection:
            while not done.is_set():
                waits.append(_took(connection, "SELECT 1 FROM adaptive_memory.recalls WHERE at > %s LIMIT 1", 0.0))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield waits
    finally:
        done.set()
        thread.join()


def _fill(connection: Any, day: int, lines: int) -> None:
    values = {"begins": day * DAY, "lines": lines, "candidates": os.urandom(LINE_BYTES)}
    connection.execute(_FILL, values)


def _took(connection: Any, query: str, before: float) -> float:
    began = time.perf_counter()
    connection.execute(query, (before,))
    return time.perf_counter() - began
