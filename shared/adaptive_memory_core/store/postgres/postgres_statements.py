"""Statements in PostgreSQL's SQL, made from SQLite's.

What needs no answer is put into one message with the statement that comes next: each message costs a round trip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from psycopg import ClientCursor, Connection, Cursor
from psycopg.adapt import Dumper, Loader
from psycopg.types.numeric import Int2Dumper
from psycopg.types.string import StrDumper

from adaptive_memory_core.errors import ScopeError
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.state_rows import owner_name

SCHEMA = "adaptive_memory"
_HINT = re.compile(r" (NOT )?INDEXED( BY \w+)?")
_NAMED = re.compile(r"(?<![:\w]):([a-z_]+)")
_BLOB = re.compile(r"x'([0-9a-f]*)'")
_WORDS = (
    (re.compile(r"\bCROSS JOIN (?=\w+( \w+)? (ON|USING)\b)"), "JOIN "),  # which in SQLite is an order to go by
    (re.compile(r" IS \?"), " IS NOT DISTINCT FROM ?"),
    (re.compile(r"CAST\((.+?) AS BLOB\)"), r"CAST(\1 AS bytea)"),
    (re.compile(r"\bgroup_concat\("), "string_agg("),
    (re.compile(r"\bchar\("), "chr("),
    (re.compile(re.escape("(julianday('now') - 2440587.5) * 86400.0")), f"{SCHEMA}.posix_now()"),
    (re.compile(r"\b(instr|zeroblob)\("), rf"{SCHEMA}.\1("),
)


@lru_cache(maxsize=4_096)
def for_postgres(query: str) -> str:
    """The statement as psycopg takes it.

    >>> for_postgres("SELECT row FROM mirror INDEXED BY mirror_of_user WHERE user_key = ? AND row > :after")
    'SELECT row FROM adaptive_memory.mirror WHERE user_key = %s AND row > %(after)s'
    >>> for_postgres("UPDATE users SET policy = x'' WHERE name LIKE 'a%'")
    "UPDATE adaptive_memory.users SET policy = ''::bytea WHERE name LIKE 'a%%'"
    """
    query = _HINT.sub("", query.replace("%", "%%"))
    for pattern, ours in _WORDS:
        query = pattern.sub(ours, query)
    query = _BLOB.sub(lambda found: f"'{chr(92) + 'x' + found[1] if found[1] else ''}'::bytea", query)
    query = _of_schema().sub(rf"\1 {SCHEMA}.\2", query)
    return _NAMED.sub(r"%(\1)s", query).replace("?", "%s")


@lru_cache(maxsize=1)
def _of_schema() -> re.Pattern[str]:
    return re.compile(rf"\b(FROM|JOIN|INTO|UPDATE)\s+({'|'.join(tables())})\b")


@lru_cache(maxsize=1)
def tables() -> tuple[str, ...]:
    """The ledger's tables, the longest names first."""
    return tuple(sorted(re.findall(rf"CREATE TABLE {SCHEMA}\.(\w+) \(", schema_sql()), key=len, reverse=True))


@lru_cache(maxsize=1)
def schema_sql() -> str:
    """The SQL that creates the ledger's tables."""
    return (resources.files(__package__) / "schema.sql").read_text(encoding="utf-8")


_IS_ON = f"SELECT to_regclass('{SCHEMA}.scopes_of_roles')"
_OWN = (
    f"SELECT users.name FROM {SCHEMA}.scopes_of_roles JOIN {SCHEMA}.users USING (user_key) "  # noqa: S608 - our own words
    "WHERE role = quote_ident(current_user)::regrole"
)


def only_user(sql: Any) -> str | None:
    """The name, as the ledger has it, of the one user that the role sees; None where it sees more."""
    if sql.connection.execute(_IS_ON).fetchone()[0] is None:
        return None
    row = sql.connection.execute(_OWN).fetchone()
    return None if row is None else str(row[0])


def refuse_others(only: str | None, scope: Scope) -> None:
    """
    >>> refuse_others(None, Scope("bob")), refuse_others("ana", Scope("ana"))
    (None, None)
    >>> refuse_others("ana", Scope("bob"))
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.ScopeError: The ledger's role sees the rows of user 'ana' alone, so user 'bob' ...
    """
    if only is None or all(owner_name(part) == only for part in scope.parts):
        return
    raise ScopeError(
        f"The ledger's role sees the rows of {Scope(only or None)} alone, so {scope} cannot be served. Open the memory "
        "with the application's role, or with one that has that scope (docs/scaling.md#row-level-security)."
    )


def row_level_security() -> str:
    """The SQL that switches it on."""
    return (resources.files(__package__) / "row_level_security.sql").read_text(encoding="utf-8")


MOST_WAITING = 1_000_000  # characters that wait to be sent


class PostgresStatements:
    """A connection that is spoken to as SQLite's is."""

    def __init__(self, connection: Connection[Any], *, in_transaction: bool = False) -> None:
        self._connection, self.in_transaction = connection, in_transaction  # one that writes, and may yet be undone
        self._waiting: list[str] = []

    @property
    def connection(self) -> Connection[Any]:
        """All that was said before was sent through it."""
        if self._waiting:
            self._connection.execute(self.rest())
        return self._connection

    def execute(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Cursor[Any]:
        return self.connection.execute(for_postgres(query), values)

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> Cursor[Any]:
        cursor = self.connection.cursor()
        cursor.executemany(for_postgres(query), list(rows))
        return cursor

    def later(self, query: str, values: Sequence[Any]) -> None:
        """Send it before the next statement, or with the end of the transaction."""
        self._waiting.append(ClientCursor(self._connection).mogrify(for_postgres(query), values))
        if not self.in_transaction or sum(map(len, self._waiting)) > MOST_WAITING:
            self._connection.execute(self.rest())

    def rest(self) -> str:
        """What was not sent yet; whoever asks sends it."""
        rest = "".join(f"{one};" for one in self._waiting)
        self._waiting.clear()
        return rest

    def undo_part(self) -> None:
        """Back to where the innermost part of the transaction began."""
        self._waiting.clear()
        if not self._connection.broken:
            self._connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part")


ESCAPE_MARK = "\ufdd0"  # no character, and so in no text; behind it stands what is meant
_ZERO, _ITSELF = f"{ESCAPE_MARK}0", f"{ESCAPE_MARK}1"


def stored_text(text: str) -> str:
    """Text without zeros, which PostgreSQL does not take.

    >>> read_text("".join(stored_text("a\\x00b" + ESCAPE_MARK))) == "a\\x00b" + ESCAPE_MARK
    True
    """
    if "\x00" not in text and ESCAPE_MARK not in text:
        return text
    return text.replace(ESCAPE_MARK, _ITSELF).replace("\x00", _ZERO)


def read_text(text: str) -> str:
    """What `stored_text` was given."""
    return text if ESCAPE_MARK not in text else text.replace(_ZERO, "\x00").replace(_ITSELF, ESCAPE_MARK)


class _Bool(Int2Dumper):
    def dump(self, obj: Any) -> Any:
        return super().dump(int(obj))


class _Text(StrDumper):
    def dump(self, obj: str) -> Any:
        return super().dump(stored_text(obj))


class _ReadText(Loader):
    def load(self, data: Any) -> str:
        return read_text(bytes(data).decode())


class _Sum(Loader):
    """The sum of integers is a decimal number there."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdigit() else float(text)


def adapt(connection: Connection[Any]) -> None:
    """Let the connection take and give values as SQLite does."""
    for kind, dumper in _DUMPERS:
        connection.adapters.register_dumper(kind, dumper)
    connection.adapters.register_loader("text", _ReadText)
    connection.adapters.register_loader("numeric", _Sum)


_DUMPERS: tuple[tuple[type, type[Dumper]], ...] = ((bool, _Bool), (str, _Text))
