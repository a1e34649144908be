"""Which of a user's records say something? Mirror rows page by page, by what their metadata mention, and the latest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from adaptive_memory_core.flow.ports.ledger_values import MirrorPage
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.mirror_rows import NOBODY, read_metadata

_PAGE = (
    "SELECT row, stored_id, text, metadata FROM mirror INDEXED BY mirror_of_user "
    "WHERE user_key = ? AND row > ? ORDER BY row LIMIT ?"
)
_LATEST = "SELECT stored_id FROM mirror WHERE collection_key = ? ORDER BY row DESC LIMIT ?"
Row = tuple[str, str | None, Metadata | None]


class LedgerMirrorPages:
    """What is asked of the mirror besides records by their ids."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def page(self, scope: Scope, after: int, limit: int) -> MirrorPage:
        """The scope's records behind that row, in the order of writing, and the row of the last one."""
        with self._shared.reading() as sql:
            found = sql.execute(_PAGE, (self._shared.known_user(sql, scope), after, limit)).fetchall()
        return MirrorPage(found[-1][0] if found else after, list(_rows(found)))

    def count(self, scope: Scope) -> int:
        """How many records the scope has."""
        query = "SELECT count(*) FROM mirror INDEXED BY mirror_of_user WHERE user_key = ?"
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            return 0 if user == NOBODY else int(sql.execute(query, (user,)).fetchone()[0])

    def mentioning(self, scope: Scope, fragments: Sequence[str]) -> list[Row]:
        """Those of the scope's records in whose metadata, as JSON, one of these stands somewhere."""
        either = " OR ".join("instr(metadata, ?) > 0" for _ in fragments)
        query = (
            "SELECT row, stored_id, text, metadata FROM mirror INDEXED BY mirror_of_user "  # noqa: S608 - our own words
            f"WHERE user_key = ? AND ({either}) ORDER BY row"
        )
        with self._shared.reading() as sql:
            found = sql.execute(query, (self._shared.known_user(sql, scope), *fragments)).fetchall()
        return list(_rows(found))

    def latest(self, most: int) -> list[str]:
        """The records that were written last, whoever they belong to, the last one at the end."""
        with self._shared.reading() as sql:
            found = sql.execute(_LATEST, (self._shared.collection_key, most)).fetchall()
        return [row[0] for row in reversed(found)]


def _rows(found: Iterable[tuple[int, str, str | None, str | None]]) -> Iterator[Row]:
    return ((stored_id, text, read_metadata(metadata)) for _, stored_id, text, metadata in found)
