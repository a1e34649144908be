"""What has the collection yet to be told, and what may the ledger let go of? The chores behind the recalls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adaptive_memory_core.records import ReadState, Scope
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.clock_readings import believed_now
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger

DAY = 86_400.0
ERASED_SECONDS = DAY
TURN_SECONDS = 2 * DAY  # until a turn of the same name is another one
TRIM_BATCH = 500


@dataclass(frozen=True, slots=True)
class Due:
    """A state that the collection does not show yet; `version` is what it will show afterwards."""

    record_key: int
    version: int
    stored_id: str
    scope: Scope
    state: ReadState


def due(ledger: SQLiteLedger, limit: int) -> list[Due]:
    """The states that changed since they were last written back, oldest records first."""
    query = (
        f"SELECT record_key, version, stored_id, users.name, {rows.LIST} FROM outbox "  # noqa: S608 - our own names
        "JOIN records USING (record_key) JOIN users USING (user_key) WHERE records.collection_key = ? LIMIT ?"
    )
    with ledger.file.reading() as sql:
        found = sql.execute(query, (ledger.collection_key, limit)).fetchall()
    return [
        Due(record_key, version, stored_id, Scope(name or None), rows.state_of(state))
        for record_key, version, stored_id, name, *state in found
    ]


def settle(ledger: SQLiteLedger, written: Sequence[Due]) -> None:
    """These were written back: those that have not changed since leave the list."""
    with ledger.file.writing() as sql:
        sql.executemany(
            "DELETE FROM outbox WHERE record_key = ? "
            "AND (SELECT version FROM records WHERE records.record_key = outbox.record_key) = ?",
            [(one.record_key, one.version) for one in written],
        )


def waiting(ledger: SQLiteLedger) -> int:
    """How many records of this collection wait to be written back."""
    query = "SELECT count(*) FROM outbox JOIN records USING (record_key) WHERE collection_key = ?"
    with ledger.file.reading() as sql:
        return int(sql.execute(query, (ledger.collection_key,)).fetchone()[0])


def trim(ledger: SQLiteLedger, *, now: float, log_days: float, log_recalls: int) -> int:
    """Let go of recalls beyond the retention, in small transactions; gives how many. What goes by age goes once more
    than one reading of the clock says so (`clock_readings`)."""
    now = believed_now(ledger.file, now=now)
    with ledger.file.reading() as sql:
        users = sql.execute("SELECT user_key, steps - ? FROM users", (log_recalls,)).fetchall()
    gone = _delete(ledger, "at < ?", (now - log_days * DAY,))
    for user, last_step in users:
        if last_step > 0:
            gone += _delete(ledger, "user_key = ? AND step <= ?", (user, last_step))
    with ledger.file.writing() as sql:
        sql.execute("DELETE FROM erased WHERE at < ?", (now - ERASED_SECONDS,))
        sql.execute("DELETE FROM turns WHERE at < ?", (now - TURN_SECONDS,))
    return gone


def _delete(ledger: SQLiteLedger, condition: str, values: tuple[float, ...]) -> int:
    statement = (
        "DELETE FROM recalls WHERE recall_key IN "  # noqa: S608 - the condition is one of ours
        f"(SELECT recall_key FROM recalls WHERE {condition} LIMIT {TRIM_BATCH})"
    )
    gone = 0
    while True:
        with ledger.file.writing() as sql:
            batch = sql.execute(statement, values).rowcount
        gone += batch
        if batch < TRIM_BATCH:
            return gone
