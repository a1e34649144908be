"""The ledger's tables in PostgreSQL, and roles that row-level security restricts to one user's rows."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import Any

from adaptive_memory_core.errors import ScopeError
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.state_rows import owner_name

SCHEMA = "adaptive_memory"


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
    """The ledger's name of the one user whose rows the role sees; None if it sees more."""
    if sql.connection.execute(_IS_ON).fetchone()[0] is None:
        return None
    row = sql.connection.execute(_OWN).fetchone()
    return None if row is None else str(row[0])


def refuse_others(only: str | None, scope: Scope) -> None:
    """Raise an error if the role sees one user's rows only and the scope is not that user's.

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
        "with the application's role, or with one that has that scope (docs/guides/deployment.md#row-level-security)."
    )


def row_level_security() -> str:
    """The SQL that enables row-level security."""
    return (resources.files(__package__) / "row_level_security.sql").read_text(encoding="utf-8")
