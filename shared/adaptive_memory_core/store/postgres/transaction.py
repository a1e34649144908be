"""How does a transaction of the ledger begin and end at the server? With one message each: a round trip is what costs.

Whoever looks later whether somebody else has written asks two numbers: the collection's, and a user's own, which is all
that a recall changes. So what others' recalls change needs not be read again for every user.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from psycopg import Connection

from adaptive_memory_core.store.postgres.dialect import SCHEMA
from adaptive_memory_core.store.postgres.outcome import WHO, Turn

LOCK_SECONDS = 30  # that a writer waits for those before it, where the call does not say
IDLE_SECONDS = 20  # in a transaction, after which the server ends it: whoever began it is gone, and others wait
_BEGIN = (
    f"BEGIN; SET LOCAL lock_timeout = '{{}}ms'; "  # noqa: S608 - our own names, and numbers
    f"SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'; "
    f"SELECT version FROM {SCHEMA}.collections WHERE collection_key = {{}} FOR NO KEY UPDATE; "
    f"SELECT counted FROM {SCHEMA}.users WHERE user_key = {{}}; {WHO}"
)
_LONG_GONE = f"DELETE FROM {SCHEMA}.writers WHERE collection_key = {{}} AND kept_at < now() - interval '1 day'; "  # noqa: S608
_MARK = (
    f"INSERT INTO {SCHEMA}.writers (writer, collection_key, kept) VALUES ('{{}}', {{}}, {{}}) "  # noqa: S608 - our own
    "ON CONFLICT (writer) DO UPDATE SET kept = excluded.kept, kept_at = now(); "
)
_WROTE = f"UPDATE {SCHEMA}.collections SET version = version + 1 WHERE collection_key = {{}}; "  # noqa: S608
_RECALLED = f"UPDATE {SCHEMA}.users SET counted = counted + {{}} WHERE user_key = {{}}; "  # noqa: S608


class Begun(NamedTuple):
    """The versions of the collection and of the user, if there are these; the transaction's number, and whose it is."""

    version: int | None
    of_user: int | None
    number: str
    backend: int


def begin(connection: Connection[Any], collection: int, user: int, *, lock_seconds: float) -> Begun:
    """Once nobody else writes the collection."""
    cursor = connection.execute(_BEGIN.format(max(1, round(1_000 * lock_seconds)), collection, user))
    rows: list[Any] = [cursor.fetchone() if cursor.description else None]
    while cursor.nextset():
        rows.append(cursor.fetchone() if cursor.description else None)
    version, of_user, (number, backend) = rows[-3:]
    return Begun(_number(version), _number(of_user), number, backend)


def _number(row: Any) -> int | None:
    return None if row is None else int(row[0])


def keep(
    connection: Connection[Any], turn: Turn, collection: int, rest: str, *, wrote: bool, recalled: Mapping[int, int]
) -> None:
    """With the `rest` of what it does, and the mark of its writer. It `wrote` more than a recall does, or counted so
    many recalls of these users, or both."""
    first = _LONG_GONE.format(collection) if turn.mark == 1 else ""
    mark = _MARK.format(turn.writer, collection, turn.mark)
    others = _WROTE.format(collection) if wrote else ""
    own = "".join(_RECALLED.format(count, user) for user, count in sorted(recalled.items()))
    connection.execute(f"{rest}{first}{mark}{others}{own}COMMIT")
