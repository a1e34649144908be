"""How does a memory go? Text first, then every trace of it - and a receipt for what was removed."""

from __future__ import annotations

from adaptive_memory_core import identity
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.drive import Flow, ask, attempt
from adaptive_memory_core.flow.look_up import not_found
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Receipt


def forget(ports: Ports, scope: Scope, record_id: str, *, now: float) -> Flow[Receipt]:
    """Remove a record and its traces. Called again after a crash half-way, it removes what is left."""
    found = yield from ask(ports.store.fetch, scope, [record_id])
    if record_id in found:
        record = ports.store.hits(scope, [found[record_id]], {})[0].record
        begins = record.valid_from
        yield from ask(ports.store.remove, scope, [found[record_id].stored_id])
        yield from ask(ports.store.unlink, scope, record_id, record.created_at if begins is None else begins)
    places = [found[record_id].stored_id] if record_id in found else [record_id, scoped_id(scope, record_id)]
    stored_ids = [one for one in places if identity.record_id(scope, one) == record_id]
    state, entries, verdicts = False, 0, 0
    for stored_id in stored_ids:
        outcome = yield from attempt(
            LedgerError, ports.ledger.erase, scope, record_id, stored_id, existed=record_id in found, now=now
        )
        erased = outcome.value
        if erased is None:
            raise LedgerError(
                f"Record {record_id!r} is gone from the collection, but not its traces in the ledger: {outcome.error} "
                "Call forget again once the ledger can be written."
            ) from outcome.error
        state, entries, verdicts = state or erased.state, entries + erased.log_entries, verdicts + erased.verdicts
    if record_id not in found and not state and not entries:
        raise not_found(scope, [record_id])
    return Receipt(record_id, record_id in found, state, entries, verdicts)
