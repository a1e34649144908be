"""Which records say something else than what their reads are of? Found among all, and begun anew if wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adaptive_memory_core.flow.ports import Ledger, Moves, Rewritten, anew
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import NEVER_READ, Metadata, Scope, Seen
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.chroma.rows import PAGE
from adaptive_memory_core.stored_owner import owner_of
from adaptive_memory_core.text_identity import said

NAMED = 10  # ids in a finding
Row = tuple[str, str | None, Metadata | None]


def rewritten_records(store: ChromaRecords, ledger: Ledger, *, repair: bool, now: float) -> list[Finding]:
    """A finding that names them; with `repair` each begins anew."""
    names: list[str] = []
    for scope, changed in _rewritten(store, ledger):
        names += [f"{record_id(scope, one)!r} of {scope}" for one in changed]
        if repair:
            ledger.inheritance.settle(scope, Moves(anew=changed), by="check", now=now)
    if not names:
        return []
    records = "1 record was" if len(names) == 1 else f"{len(names)} records were"
    what = f"{records} written over with other words since the reads that are known: {', '.join(names[:NAMED])}."
    remedy = "The next recall that comes upon one lets it begin anew; check(repair=True) does it for all now."
    return [Finding("records", what, remedy, repair)]


def _rewritten(store: ChromaRecords, ledger: Ledger) -> Iterator[tuple[Scope, dict[str, Rewritten]]]:
    """Page by page, for each scope."""
    ids = store.ids()
    for start in range(0, len(ids), PAGE):
        owners: dict[Scope, list[Row]] = {}
        for row in store.rows(ids[start : start + PAGE]):
            scope = owner_of(row[2], store.fields)
            if scope is not None:
                owners.setdefault(scope, []).append(row)
        for scope, rows in owners.items():
            if changed := _of_scope(store, ledger, scope, rows):
                yield scope, changed


def _of_scope(store: ChromaRecords, ledger: Ledger, scope: Scope, rows: Sequence[Row]) -> dict[str, Rewritten]:
    """Those whose words are others, where anything was learned of them."""
    known = ledger.states.known(scope, [row[0] for row in rows])
    met = {one: words for one, words in known.said.items() if one in known.states and words}
    changed = [row for row in rows if row[0] in met and said(row[1]) not in (None, met[row[0]])]
    return {row[0]: Rewritten(met[row[0]], anew(Seen(NEVER_READ, _kind(store, row)))) for row in changed}


def _kind(store: ChromaRecords, row: Row) -> str | None:
    kind = (row[2] or {}).get(store.fields.kind)
    return kind if isinstance(kind, str) else None
