"""What does not fit together in the rows of the hierarchies?"""

from __future__ import annotations

import sqlite3

_OWN = "user_key IN (SELECT user_key FROM hierarchy_users WHERE collection_key = ?)"
_CHECKS = {
    "{} messages are in an episode that is gone.": (
        f"SELECT count(*) FROM hierarchy_messages m WHERE {_OWN} AND episode IS NOT NULL "  # noqa: S608 - our own words
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_episodes e WHERE e.episode = m.episode AND e.user_key = m.user_key)"
    ),
    "{} episodes have no message.": (
        f"SELECT count(*) FROM hierarchy_episodes e WHERE {_OWN} "  # noqa: S608 - our own words
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_messages m WHERE m.episode = e.episode)"
    ),
    "{} semantics have no message that they are from.": (
        f"SELECT count(*) FROM hierarchy_semantics s WHERE {_OWN} AND NOT EXISTS "  # noqa: S608 - our own words
        "(SELECT 1 FROM hierarchy_sources JOIN hierarchy_messages m USING (message) WHERE semantic = s.semantic "
        "AND m.episode = s.episode)"
    ),
    "{} semantics are in a theme that is gone.": (
        f"SELECT count(*) FROM hierarchy_semantics s WHERE {_OWN} AND theme IS NOT NULL "  # noqa: S608 - our own words
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_themes t WHERE t.theme = s.theme AND t.user_key = s.user_key)"
    ),
    "{} themes are empty.": (
        f"SELECT count(*) FROM hierarchy_themes t WHERE {_OWN} "  # noqa: S608 - our own words
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_semantics s WHERE s.theme = t.theme)"
    ),
    "{} semantics replace one that is gone.": (
        f"SELECT count(*) FROM hierarchy_semantics s WHERE {_OWN} AND replaces IS NOT NULL "  # noqa: S608
        "AND NOT EXISTS (SELECT 1 FROM hierarchy_semantics o WHERE o.semantic = s.replaces)"
    ),
    "{} sources are of a semantic or a message that is gone.": (
        "SELECT count(*) FROM hierarchy_sources WHERE ? IS NOT NULL AND (semantic NOT IN (SELECT semantic FROM "
        "hierarchy_semantics) OR message NOT IN (SELECT message FROM hierarchy_messages))"
    ),
}


def faults(sql: sqlite3.Connection, collection: int) -> list[str]:
    """One line each."""
    counts = {line: sql.execute(query, (collection,)).fetchone()[0] for line, query in _CHECKS.items()}
    return [line.format(count) for line, count in counts.items() if count]
