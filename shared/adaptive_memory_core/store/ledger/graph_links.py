"""Of which users is the graph made by itself? What was found of how their records name each other."""

from __future__ import annotations

from adaptive_memory_core.flow.ports.graph import Links
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.context import LedgerContext

# the numbers of rows are scattered, since those of several users may take turns
_SAMPLE = "SELECT stored_id FROM words WHERE user_key = ? AND (row * 40503) % 65536 < ? LIMIT ?"


class LedgerGraphLinks:
    """A row a user. Users whose records were never looked through have none."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def of(self, scope: Scope) -> Links | None:
        """What was found of a user's records last."""
        query = "SELECT records, links, wanted, made FROM graph_links WHERE user_key = ?"
        with self._shared.reading() as sql:
            row = sql.execute(query, (self._shared.known_user(sql, scope),)).fetchone()
        return None if row is None else Links(int(row[0]), float(row[1]), bool(row[2]), bool(row[3]))

    def keep(self, scope: Scope, links: Links) -> None:
        """In the place of what was known."""
        query = (
            "INSERT INTO graph_links (user_key, records, links, wanted, made) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (user_key) DO UPDATE SET records = excluded.records, links = excluded.links, "
            "wanted = excluded.wanted, made = excluded.made"
        )
        with self._shared.writing() as sql:
            row = (links.records, links.links, int(links.wanted), int(links.made))
            sql.execute(query, (self._shared.user_key(sql, scope), *row))

    def anybody(self) -> bool:
        """Whether the graph of some user was wanted."""
        query = (
            "SELECT 1 FROM graph_links l JOIN users u ON u.user_key = l.user_key "
            "WHERE u.collection_key = ? AND l.wanted = 1 LIMIT 1"
        )
        with self._shared.reading() as sql:
            return sql.execute(query, (self._shared.collection_key,)).fetchone() is not None

    def sample(self, scope: Scope, most: int) -> tuple[int, list[str]]:
        """How many records a user has words of, and about so many of their ids, scattered over all."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            if not user:
                return 0, []
            count = int(sql.execute("SELECT count(*) FROM words WHERE user_key = ?", (user,)).fetchone()[0])
            share = 65_536 if count <= most else max(1, 65_536 * most // count)
            found = [row[0] for row in sql.execute(_SAMPLE, (user, share, 2 * most)).fetchall()]
        return count, found
