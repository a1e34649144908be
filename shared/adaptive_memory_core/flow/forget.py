"""How is a record forgotten? Its links first, then its text, then every trace of it; with a receipt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from adaptive_memory_core import identity
from adaptive_memory_core.errors import LedgerError, ScopeError
from adaptive_memory_core.flow.calls.drive import Flow, ask, attempt
from adaptive_memory_core.flow.derived_records import sources_ended, sources_hold_again
from adaptive_memory_core.flow.hand_over import hand_over
from adaptive_memory_core.flow.look_up import not_found
from adaptive_memory_core.flow.one_writer import one_writer
from adaptive_memory_core.flow.ports import Erased, Found, Ports
from adaptive_memory_core.flow.steps.tell_indexes import erase, revising
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Receipt
from adaptive_memory_core.score.gates import FORGOTTEN
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.stored_metadata import hits_of
from adaptive_memory_core.stored_owner import SHARED, belongs


def forget(ports: Ports, scope: Scope, record_id: str, *, replaced: bool = False, now: float) -> Flow[Receipt]:
    """Remove a record and its traces. Called again after a failure or a crash half-way, it removes what is left. Where
    it was `replaced`, the record that says the same takes over what was learned."""
    if scope.over is not None:
        yield from _refuse_everyones(ports, scope, record_id)
    forgetting = _forget(ports, scope.own, record_id, replaced=replaced, now=now)
    return (yield from one_writer(ports, scope.own, [record_id], forgetting))


def _refuse_everyones(ports: Ports, scope: Scope, record_id: str) -> Flow[None]:
    """A reader cannot take from others what is everyone's."""
    found = yield from ask(ports.records.fetch, scope, [record_id])
    if any(belongs(one.metadata, SHARED, ports.fields) for one in found.values()):
        raise ScopeError(
            f"Record {shown(record_id)} is everyone's, so {scope.own} cannot forget it. What was learned of it for "
            f"this user goes with forget_learned({shown(record_id)}), the record with "
            f"for_everyone().forget({shown(record_id)})."
        )


def forget_learned(ports: Ports, scope: Scope, record_id: str | None) -> Flow[int]:
    """Remove what a user has made of one of everyone's records, or of all; gives of how many there was something."""
    if scope.over is None:
        raise ScopeError(
            f"forget_learned() is for a user who reads everyone's records, and this is {scope}. Call it on "
            'memory.for_user(..., over="everyone"). An own record goes with forget(id).'
        )
    places = None if record_id is None else [record_id, scoped_id(Scope(None), record_id)]
    return (yield from ask(ports.ledger.removal.forget_learned, scope, places))


def _forget(ports: Ports, scope: Scope, record_id: str, *, replaced: bool, now: float) -> Flow[Receipt]:
    if replaced:
        yield from hand_over(ports, scope, record_id, now=now)
    places = [one for one in (record_id, scoped_id(scope, record_id)) if identity.record_id(scope, one) == record_id]
    found = yield from ask(ports.search.stored, scope, places)
    reckoned = yield from ask(ports.ledger.removal.reckoned, scope, record_id)
    derived = (yield from sources_ended(ports, scope, {record_id: now}, FORGOTTEN)) if found else ()
    yield from _remove(ports, scope, record_id, found)
    there = {one.stored_id for one in found}
    receipt = Receipt(record_id, bool(found), False, 0, 0, derived=derived)
    for place in sorted(places, key=lambda one: one not in there):
        erasing = partial(erase, ports, scope, record_id, place, existed=place in there, now=now, reckoned=reckoned)
        receipt = yield from _erase(receipt, erasing)
    if not found and not receipt.ledger and not receipt.log_entries:
        raise not_found(scope, [record_id])
    return receipt


def _remove(ports: Ports, scope: Scope, record_id: str, found: Sequence[Found]) -> Flow[None]:
    """Out of the collection. The links to it go first: they cannot be told any more once it is gone. The indexes let go
    of it before: whatever comes in between, they never know more than is there, and so they see what they lack."""
    for hit in hits_of(scope, found, {}, ports.fields):
        begins = hit.record.created_at if hit.record.valid_from is None else hit.record.valid_from
        yield from ask(ports.records.unlink, scope, record_id, begins)
        replaced = [] if hit.record.supersedes is None else [hit.record.supersedes]
        yield from sources_hold_again(ports, scope, replaced, ended=begins)
    if found:
        yield from ask(revising, ports, scope, [one.stored_id for one in found])
        yield from ask(ports.records.remove, scope, [one.stored_id for one in found])


def _erase(receipt: Receipt, erasing: Callable[[], Erased]) -> Flow[Receipt]:
    """Out of the ledger and the indexes, where the record stood or may have stood."""
    outcome = yield from attempt(LedgerError, erasing)
    erased = outcome.value
    if erased is None:
        raise LedgerError(
            f"Record {shown(receipt.id)} is gone from the collection, but not its traces in the ledger: "
            f"{outcome.error} Call forget again once the ledger can be written."
        ) from outcome.error
    return replace(
        receipt,
        ledger=receipt.ledger or erased.state,
        log_entries=receipt.log_entries + erased.log_entries,
        verdicts=receipt.verdicts + erased.verdicts,
    )
