"""How does the ledger's SQL read in PostgreSQL? The same statements, with its own marks, names and functions."""

from __future__ import annotations

import re
from functools import lru_cache

from adaptive_memory_core.store.numbered_scripts import numbered_scripts

SCHEMA = "adaptive_memory"
_HINT = re.compile(r" (NOT )?INDEXED( BY \w+)?")
_NAMED = re.compile(r"(?<![:\w]):([a-z_]+)")
_BLOB = re.compile(r"x'([0-9a-f]*)'")
_NO_JSON = "CASE WHEN CAST(? AS text) IS NULL THEN 0 "  # lines of the log were never JSON there
_WORDS = (
    (re.compile(r"\bCROSS JOIN (?=\w+( \w+)? (ON|USING)\b)"), "JOIN "),  # which in SQLite is an order to go by
    (re.compile(r" IS \?"), " IS NOT DISTINCT FROM ?"),
    (re.compile(r"CAST\((.+?) AS BLOB\)"), r"CAST(\1 AS bytea)"),
    (re.compile(r"\bgroup_concat\("), "string_agg("),
    (re.compile(r"\bchar\("), "chr("),
    (re.compile(re.escape("CASE typeof(candidates) WHEN 'text' THEN instr(candidates, ?) ")), _NO_JSON),
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
    """The ledger's tables, as the migrations make them."""
    made = re.findall(rf"CREATE TABLE {SCHEMA}\.(\w+) \(", "\n".join(migrations()))
    return tuple(sorted(dict.fromkeys(made), key=len, reverse=True))


@lru_cache(maxsize=1)
def migrations() -> tuple[str, ...]:
    """The steps from each version of the schema to the next."""
    return numbered_scripts(__package__)
