"""Which records does the ledger know that the collection does not hold? All, where its directory was deleted."""

from __future__ import annotations

from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger

_KNOWN = """
SELECT coalesce(sum(collections.uuid = ?), 0), coalesce(sum(collections.uuid != ?), 0)
FROM records JOIN collections USING (collection_key) WHERE collections.name = ? OR collections.uuid = ?
"""


def gone(ledger: SQLiteLedger, uuid: str, name: str) -> str | None:
    """What there was before, for a collection that is empty now; None where nothing was."""
    with ledger.file.reading() as sql:
        own, earlier = sql.execute(_KNOWN, (uuid, uuid, name, uuid)).fetchone()
    if earlier:
        return (
            f"The collection {name!r} is new and empty, and the ledger {ledger.file.path!r} knows {earlier} records of "
            "an earlier one of that name, which is gone"
        )
    if own:
        return f"The collection {name!r} is empty, and the ledger {ledger.file.path!r} knows {own} records of it"
    return None
