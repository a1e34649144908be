"""How do semantics and their themes become rows, and rows what attaching begins with? In the caller's transaction."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np

from adaptive_memory_core.flow.ports.hierarchy_values import Edition, Growth, Standing, Written
from adaptive_memory_core.hierarchy.nodes import Neighbours, Placed, ThemeKey

NEAR = np.dtype([("key", "<i8"), ("similarity", "<f4")])
_SEMANTICS = (
    "SELECT semantic, vector, theme, moved, text, shown, at, near FROM hierarchy_semantics WHERE user_key = ? AND {}"
)
_THEME = (
    "INSERT INTO hierarchy_themes (theme, user_key, name, named, revision, grown) VALUES (?, ?, ?, ?, 0, ?) "
    "ON CONFLICT (theme) DO UPDATE SET name = excluded.name, named = excluded.named, "
    "revision = hierarchy_themes.revision + 1"
)


def unattached(sql: sqlite3.Connection, user: int, most: int) -> list[Written]:
    """Semantics that are in no theme yet, in the order in which they came."""
    query = _SEMANTICS.format("theme IS NULL ORDER BY semantic LIMIT ?")
    return [_written(row) for row in sql.execute(query, (user, most)).fetchall()]


def standing(sql: sqlite3.Connection, user: int) -> Standing:
    """All semantics that are in themes."""
    rows = sql.execute(_SEMANTICS.format("theme IS NOT NULL ORDER BY semantic"), (user,)).fetchall()
    grown = sql.execute("SELECT theme, grown FROM hierarchy_themes WHERE user_key = ?", (user,)).fetchall()
    return Standing(edition(sql, user), [_written(row) for row in rows], dict(grown))


def edition(sql: sqlite3.Connection, user: int) -> Edition:
    """What a copy of the themes has to be of."""
    row = sql.execute("SELECT removals, attached FROM hierarchy_users WHERE user_key = ?", (user,)).fetchone()
    return Edition(*(row or (0, 0)))


def grow(sql: sqlite3.Connection, user: int, growth: Growth) -> None:
    """What attaching has changed."""
    sql.execute("UPDATE hierarchy_users SET attached = ? WHERE user_key = ?", (growth.attached, user))
    sql.executemany("DELETE FROM hierarchy_themes WHERE theme = ?", [(one,) for one in growth.gone])
    sql.executemany(
        _THEME, [(one, user, name, int(growth.named), growth.grown[one]) for one, name in growth.names.items()]
    )
    sql.executemany(
        "UPDATE hierarchy_themes SET grown = ? WHERE theme = ? AND grown != ?",
        [(count, one, count) for one, count in growth.grown.items()],
    )
    sql.executemany(
        "UPDATE hierarchy_semantics SET theme = ?, moved = ? WHERE semantic = ?",
        [(theme, int(moved), one) for one, (theme, moved) in growth.places.items()],
    )
    sql.executemany(
        "UPDATE hierarchy_semantics SET replaces = ? WHERE semantic = ?",
        [(old, one) for one, old in growth.replaces.items()],
    )
    for table, key, near in (("semantics", "semantic", growth.near_semantics), ("themes", "theme", growth.near_themes)):
        update = f"UPDATE hierarchy_{table} SET near = ? WHERE {key} = ?"  # noqa: S608 - our own names
        sql.executemany(update, [(packed(found), one) for one, found in near.items()])


def unnamed(sql: sqlite3.Connection, user: int, most: int) -> list[tuple[ThemeKey, int, list[str]]]:
    """Themes that are to be named, with their revision and texts."""
    query = "SELECT theme, revision FROM hierarchy_themes WHERE user_key = ? AND named = 0 LIMIT ?"
    texts = "SELECT shown FROM hierarchy_semantics WHERE theme = ? ORDER BY semantic"
    return [
        (theme, revision, [row[0] for row in sql.execute(texts, (theme,)).fetchall()])
        for theme, revision in sql.execute(query, (user, most)).fetchall()
    ]


def packed(neighbours: Neighbours) -> bytes:
    """Neighbours as a blob.

    >>> neighbours_in(packed(((7, 0.5), (3, 0.25))))
    ((7, 0.5), (3, 0.25))
    """
    return np.array(list(neighbours), dtype=NEAR).tobytes()


def neighbours_in(blob: bytes) -> Neighbours:
    return tuple(np.frombuffer(blob, dtype=NEAR).tolist())


def numbers(blob: bytes) -> Any:
    """A vector as it is compared."""
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)


def _written(row: tuple[Any, ...]) -> Written:
    semantic, vector, theme, moved, text, shown, at, near = row
    return Written(Placed(semantic, numbers(vector), theme, moved == 1, neighbours_in(near)), text, shown, at)
