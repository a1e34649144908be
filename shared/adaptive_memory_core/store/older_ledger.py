"""Is the ledger older than the collection? Then the collection's later reads and larger counts hold."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.learn.decay.strength import Timeline
from adaptive_memory_core.learn.merge_reads import larger
from adaptive_memory_core.records import Metadata, ReadState, Seen
from adaptive_memory_core.store.chroma import own_database
from adaptive_memory_core.store.chroma.calls import told
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.stored_metadata import state_of
from adaptive_memory_core.stored_owner import owner_of

SAME_SECONDS = 0.001  # the collection keeps a time to six places


def catch_up(store: ChromaRecords, ledger: Ledger, directory: Path | None, *, now: float) -> None:
    """Take over what the collection knows of later reads, with a warning."""
    later = read_later(store, ledger, directory)
    if later:
        take_over(store, ledger, later, now=now)
        warnings.warn(
            f"The ledger is older than the collection, which shows later reads of {len(later)} "
            "records. The larger counts and the later reads were taken; what else happened since is not in the ledger.",
            RuntimeWarning,
            stacklevel=4,
        )


def read_later(store: ChromaRecords, ledger: Ledger, directory: Path | None) -> dict[str, Metadata]:
    """Records that the collection shows as read later than any that the ledger knows. A read is in the ledger before
    the collection shows it, so there are none unless the ledger is an older one."""
    latest = ledger.comparison.latest_read()
    if latest is None or ledger.read_only:
        return {}
    bound, known, key = float(latest) + SAME_SECONDS, str(store.collection.id), store.fields.last_read
    found = _asked(store, bound) if directory is None else own_database.above(directory, known, key, bound)
    return store.metadata(ledger.comparison.met(found)) if found else {}


def take_over(store: ChromaRecords, ledger: Ledger, later: Mapping[str, Metadata], *, now: float) -> None:
    """The larger counts and the later reads hold."""
    for stored_id, metadata in later.items():
        owner, kind = owner_of(metadata, store.fields), metadata.get(store.fields.kind)
        if owner is not None:
            shown = state_of(metadata, store.fields)
            seen = Seen(shown, kind if isinstance(kind, str) else None)
            rule = partial(_larger, shown=shown)
            ledger.states.change(owner, stored_id, seen, rule, what="restored", by="collection", now=now)


def _asked(store: ChromaRecords, bound: float) -> list[str]:
    later: Any = {store.fields.last_read: {"$gt": bound}}
    return list(told(lambda: store.collection.get(where=later, include=[]))["ids"])


def _larger(seen: Seen, *, timeline: Timeline, shown: ReadState) -> ReadState:  # noqa: ARG001 - a rule of the ledger's
    return larger(seen.state, shown)
