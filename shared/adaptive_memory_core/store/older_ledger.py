"""Does the collection know of reads that the ledger does not? Then this ledger is older, and must not undo them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from adaptive_memory_core.learn.decay.strength import Timeline
from adaptive_memory_core.learn.merged_reads import larger
from adaptive_memory_core.records import Metadata, ReadState, Scope, Seen
from adaptive_memory_core.store.chroma import own_database
from adaptive_memory_core.store.chroma.calls import told
from adaptive_memory_core.store.chroma.metadata import state_of
from adaptive_memory_core.store.chroma.records import ChromaStore
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger

SAME_SECONDS = 0.001  # the collection keeps a time to six places


def catch_up(store: ChromaStore, ledger: SQLiteLedger, directory: Path | None, *, now: float) -> None:
    """Take over what the collection knows of later reads, with a warning."""
    later = read_later(store, ledger, directory)
    if later:
        take_over(store, ledger, later, now=now)
        warnings.warn(
            f"The ledger {ledger.file.path!r} is older than the collection, which shows later reads of {len(later)} "
            "records. The larger counts and the later reads were taken; what else happened since is not in the ledger.",
            RuntimeWarning,
            stacklevel=4,
        )


def read_later(store: ChromaStore, ledger: SQLiteLedger, directory: Path | None) -> dict[str, Metadata]:
    """Records that the collection shows as read later than any that the ledger knows. A read is in the ledger before
    the collection shows it, so there are none unless the ledger is an older one."""
    latest = _latest(ledger)
    if latest is None or ledger.file.read_only:
        return {}
    bound, known, key = float(latest) + SAME_SECONDS, str(store.collection.id), store.fields.last_read
    found = _asked(store, bound) if directory is None else own_database.above(directory, known, key, bound)
    return store.metadata(_with_rows(ledger, found)) if found else {}


def take_over(store: ChromaStore, ledger: SQLiteLedger, later: Mapping[str, Metadata], *, now: float) -> None:
    """The larger counts and the later reads hold."""
    for stored_id, metadata in later.items():
        owner, kind = metadata.get(store.fields.user_id), metadata.get(store.fields.kind)
        if owner is None or (isinstance(owner, str) and owner):
            shown = state_of(metadata, store.fields)
            seen = Seen(shown, kind if isinstance(kind, str) else None)
            rule = partial(_larger, shown=shown)
            ledger.change(Scope(owner), stored_id, seen, rule, what="restored", by="collection", now=now)


def _with_rows(ledger: SQLiteLedger, found: Sequence[str]) -> list[str]:
    """Without a row the collection's own state holds anyway."""
    query = "SELECT 1 FROM records WHERE collection_key = ? AND stored_id = ?"
    with ledger.file.reading() as sql:
        return [one for one in found if sql.execute(query, (ledger.collection_key, one)).fetchone()]


def _latest(ledger: SQLiteLedger) -> float | None:
    query = "SELECT max(last_read) FROM records WHERE collection_key = ?"
    with ledger.file.reading() as sql:
        row = sql.execute(query, (ledger.collection_key,)).fetchone()
    return None if row is None else row[0]


def _asked(store: ChromaStore, bound: float) -> list[str]:
    later: Any = {store.fields.last_read: {"$gt": bound}}
    return list(told(lambda: store.collection.get(where=later, include=[]))["ids"])


def _larger(seen: Seen, *, timeline: Timeline, shown: ReadState) -> ReadState:  # noqa: ARG001 - a rule of the ledger's
    return larger(seen.state, shown)
