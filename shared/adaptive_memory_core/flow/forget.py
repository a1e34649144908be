"""Removal of records with everything learned about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core import identity
from adaptive_memory_core.error_messages import listed, shown
from adaptive_memory_core.errors import NotFoundError, ScopeError
from adaptive_memory_core.flow.calls.one_transaction import export_soon, in_one_transaction
from adaptive_memory_core.flow.count_reading import erase, retire
from adaptive_memory_core.flow.look_up import look_up, not_found
from adaptive_memory_core.flow.past_recall import PastRecall
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import REWRITTEN
from adaptive_memory_core.flow.ports.records import Stored
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.flow.supersede import sources_hold_again
from adaptive_memory_core.identity import origin, scoped_id, text_digest
from adaptive_memory_core.learn.after_read import added
from adaptive_memory_core.record_metadata import SHARED, belongs, hits_of
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Change, Receipt
from adaptive_memory_core.score.ranking import FORGOTTEN
from adaptive_memory_core.sources.read_state import sources_ended


def hand_over(ports: Ports, scope: Scope, record_id: str, *, now: float) -> None:
    """Add the state of a record that is about to be removed to the record with the same source and text, if any."""
    found = look_up(ports, scope, [record_id], now=now)
    for leaving in found.values():
        twin = _twin(ports, scope, leaving)
        if twin is not None:
            ports.ledger.comparison.merge(scope, twin, leaving.stored_id, added)
            ports.write_back.wake()


def _twin(ports: Ports, scope: Scope, leaving: Stored) -> str | None:
    """The first other existing record with the same source and text, or None."""
    text, mark = leaving.record.text, origin(leaving.record.text, leaving.record.stored)
    if mark is None:
        return None
    named = ports.ledger.inheritance.ancestors(scope, [mark])
    rows = ports.records.rows([one for one in named if one != leaving.stored_id])
    same = (row[0] for row in rows if text_digest(row[1]) == text_digest(text) and belongs(row[2], scope, ports.fields))
    return next(same, None)


MOST_CHANGES = 100_000  # audit entries that are read for the records of one call


def refuse_changed_texts(ports: Ports, scope: Scope, past: PastRecall, found: Mapping[str, Stored]) -> None:
    """Raise an error that names the records whose text has changed since the recall."""
    if past.text_digests:
        texts = {one: stored.record.text for one, stored in found.items()}
        stale = [one for one, text in texts.items() if past.text_digests.get(one) not in (None, text_digest(text))]
    else:
        latest = texts_changed_at(ports, scope, list(found))
        stale = [one for one in found if is_stale(latest.get(one), past.step, past.at)]
    if stale:
        raise NotFoundError(
            f"What recall {past.id} returned as {listed(stale)} is not there any more for {scope}: the "
            "record was written over with other words since, and a verdict belongs to what was said. Judge a recall "
            "that returned the new words."
        )


def texts_changed_at(ports: Ports, scope: Scope, ids: Collection[str]) -> dict[str, Change]:
    """The last change of each record's text, by id; records whose text never changed are left out."""
    places = [place for one in ids for place in (one, *(scoped_id(part, one) for part in scope.parts))]
    if not places:
        return {}
    changes = ports.ledger.audit.changes(scope, places, limit=MOST_CHANGES)
    return {one.id: one for one in reversed(changes) if one.what == REWRITTEN}


def is_stale(change: Change | None, step: int | None, at: float) -> bool:
    """Whether a recall was made before the change; within the same step, times are compared.

    >>> change = Change("a", at=5.0, step=2, what="rewritten", by="remember")
    >>> is_stale(change, 2, 5.0), is_stale(change, 3, 5.0), is_stale(None, 1, 5.0)
    (True, False, False)
    """
    if change is None or step is None:
        return False
    return step < change.step or (step == change.step and at <= change.at)


AT_ONCE = 200  # records per transaction


def forget(ports: Ports, scope: Scope, record_id: str, *, replaced: bool = False, now: float) -> Receipt:
    """Remove a record and its traces. If it was `replaced`, the record with the same source and text takes over its
    state."""
    if scope.over is not None:
        _refuse_everyones(ports, scope, record_id)
    receipt = _forget(ports, scope.own, record_id, replaced=replaced, now=now)
    export_soon(ports)
    return receipt


def _refuse_everyones(ports: Ports, scope: Scope, record_id: str) -> None:
    """Raise an error if the record belongs to everyone: a user cannot remove it for all others."""
    found = ports.records.fetch(scope, [record_id])
    if any(belongs(one.metadata, SHARED, ports.fields) for one in found.values()):
        raise ScopeError(
            f"Record {shown(record_id)} is everyone's, so {scope.own} cannot forget it. What was learned of it for "
            f"this user goes with forget_learned({shown(record_id)}), the record with "
            f"for_everyone().forget({shown(record_id)})."
        )


def forget_learned(ports: Ports, scope: Scope, record_id: str | None) -> int:
    """Remove the state that a user's reads and feedback created for one of everyone's records, or for all of them;
    return the number of records that had such state."""
    if scope.over is None:
        raise ScopeError(
            f"forget_learned() is for a user who reads everyone's records, and this is {scope}. Call it on "
            'memory.for_user(..., over="everyone"). An own record goes with forget(id).'
        )
    places = None if record_id is None else [record_id, scoped_id(Scope(None), record_id)]
    return ports.ledger.removal.forget_learned(scope, places)


def forget_user(ports: Ports, scope: Scope, *, now: float) -> int:
    """Remove all records of a user in batches, then everything learned; return the number of records. Call it again
    after a failure or crash to remove the rest."""
    stored_ids = _stored_ids(ports, scope)
    for start in range(0, len(stored_ids), AT_ONCE):
        _remove_batch(ports, scope, stored_ids[start : start + AT_ONCE], now=now)
    traces = ports.ledger.removal.forget_user(scope)
    if not stored_ids and not traces:
        raise NotFoundError(f"There is nothing of {scope} here. memory.users() lists the users of this memory.")
    ports.ledger.user_files.sweep()
    export_soon(ports)
    return len(stored_ids)


def _stored_ids(ports: Ports, scope: Scope) -> list[str]:
    return [one.stored_id for page in ports.records.pages(scope) for one in page]


@in_one_transaction
def _remove_batch(ports: Ports, scope: Scope, stored_ids: Sequence[str], *, now: float) -> None:
    ports.records.remove(scope, stored_ids)
    retire(ports, scope, stored_ids, by="forget_user", now=now)


@in_one_transaction
def _forget(ports: Ports, scope: Scope, record_id: str, *, replaced: bool, now: float) -> Receipt:
    if replaced:
        hand_over(ports, scope, record_id, now=now)
    places = [one for one in (record_id, scoped_id(scope, record_id)) if identity.record_id(scope, one) == record_id]
    found = ports.search.stored(scope, places)
    reckoned = ports.ledger.removal.reckoned(scope, record_id)
    derived = sources_ended(ports, scope, {record_id: now}, FORGOTTEN) if found else ()
    _remove(ports, scope, record_id, found)
    there = {one.stored_id for one in found}
    receipt = Receipt(record_id, bool(found), False, 0, 0, derived=derived)
    for place in sorted(places, key=lambda one: one not in there):
        erased = erase(ports, scope, record_id, place, existed=place in there, now=now, reckoned=reckoned)
        receipt = replace(
            receipt,
            ledger=receipt.ledger or erased.state,
            log_entries=receipt.log_entries + erased.log_entries,
            verdicts=receipt.verdicts + erased.verdicts,
        )
    if not found and not receipt.ledger and not receipt.log_entries:
        raise not_found(scope, [record_id])
    return receipt


def _remove(ports: Ports, scope: Scope, record_id: str, found: Sequence[Found]) -> None:
    """Remove the record and the links to it."""
    for hit in hits_of(scope, found, {}, ports.fields):
        begins = hit.record.created_at if hit.record.valid_from is None else hit.record.valid_from
        ports.records.unlink(scope, record_id, begins)
        replaced = [] if hit.record.supersedes is None else [hit.record.supersedes]
        sources_hold_again(ports, scope, replaced, ended=begins)
    if found:
        ports.records.remove(scope, [one.stored_id for one in found])
