"""How does a memory come in? Checked and embedded first, then enrolled in the ledger, then written - batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.arguments import distinct
from adaptive_memory_core.errors import (
    AdaptiveMemoryError,
    InvalidInputError,
    LedgerError,
    PartialWriteError,
    StoreError,
)
from adaptive_memory_core.flow.calls.drive import Flow, ask, attempt
from adaptive_memory_core.flow.look_up import look_up, not_found
from adaptive_memory_core.flow.ports import Ports, Stored
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.records import NewRecord, Record, Scope


def remember(
    ports: Ports, scope: Scope, given: Sequence[NewRecord], *, now: float, new_id: Callable[[], str]
) -> Flow[list[str]]:
    """Write records; an id that the scope already has is written over and keeps what reads have taught."""
    named = set(distinct((one.id for one in given if one.id is not None), "id"))
    yield from _check_superseded(ports, scope, given, named)
    records = [_record(one, now=now, new_id=new_id) for one in given]
    written: list[str] = []
    for start in range(0, len(records), ports.store.batch_size):
        batch = records[start : start + ports.store.batch_size]
        try:
            yield from _write(ports, scope, batch, named, now=now)
            yield from _supersede(ports, scope, batch, now=now)
        except AdaptiveMemoryError as error:
            if not written:
                raise
            raise _partial(error, written, len(records)) from error
        written += [record.id for record in batch]
    ports.floors.wrote(scope)
    return written


def _write(ports: Ports, scope: Scope, batch: Sequence[Record], named: set[str], *, now: float) -> Flow[None]:
    """One batch: what is new is enrolled and added, what exists is written over."""
    vectors = yield from ask(ports.embedder.embed_documents, [record.text for record in batch])
    known = yield from look_up(ports, scope, [record.id for record in batch if record.id in named])
    new = [index for index, record in enumerate(batch) if record.id not in known]
    old = [index for index, record in enumerate(batch) if record.id in known]
    if new:
        ids = yield from _enrol(ports, scope, {batch[index].id: batch[index].kind for index in new}, named, now=now)
        added = [Stored(batch[index], stored_id) for index, stored_id in zip(new, ids, strict=True)]
        yield from ask(ports.store.add, scope, added, vectors if not old else [vectors[index] for index in new])
        yield from attempt(LedgerError, ports.lexical.put, scope, added)  # else the next recall takes them in
    if old:
        revised = [_revision(batch[index], known[batch[index].id]) for index in old]
        yield from ask(ports.lexical.drop, [one.stored_id for one in revised])  # so that a crash here is noticed
        yield from ask(ports.store.revise, scope, revised, [vectors[index] for index in old])
        yield from attempt(LedgerError, ports.lexical.put, scope, revised)


def _enrol(
    ports: Ports, scope: Scope, new: Mapping[str, str | None], named: set[str], *, now: float
) -> Flow[list[str]]:
    """Under which ids new records will stand: their own, or a scoped one where somebody else has it."""
    chosen = [one for one in new if one in named]
    taken = (yield from ask(ports.store.taken, chosen)) if chosen else set()
    untaken = {one: kind for one, kind in new.items() if one not in taken}
    free = yield from ask(ports.ledger.enrol, scope, untaken, now=now)
    clashes = taken | {one for one, ok in zip(untaken, free, strict=True) if not ok}
    if not clashes:
        return list(new)
    yield from _enrol_scoped(ports, scope, {one: new[one] for one in sorted(clashes)}, now=now)
    return [scoped_id(scope, one) if one in clashes else one for one in new]


def _enrol_scoped(ports: Ports, scope: Scope, new: Mapping[str, str | None], *, now: float) -> Flow[None]:
    """Take the scoped places of these ids; where another program's record stands in one, nothing is written."""
    places = {scoped_id(scope, one): one for one in new}
    taken = yield from ask(ports.store.taken, list(places))
    if taken:
        names = ", ".join(repr(places[place]) for place in sorted(taken))
        raise StoreError(f"Another program keeps a record where that of {scope} would stand: {names}. Give another id.")
    yield from ask(ports.ledger.enrol, scope, {place: new[one] for place, one in places.items()}, now=now)


def _revision(record: Record, before: Stored) -> Stored:
    """The new version with the old one's reads."""
    return Stored(replace(record, read=before.record.read), before.stored_id)


def _record(given: NewRecord, *, now: float, new_id: Callable[[], str]) -> Record:
    return Record(
        id=new_id() if given.id is None else given.id,
        text=given.text,
        kind=given.kind,
        importance=given.importance,
        created_at=now if given.created_at is None else given.created_at,
        valid_from=given.valid_from,
        valid_until=given.valid_until,
        supersedes=given.supersedes,
        metadata=given.metadata,
    )


def _check_superseded(ports: Ports, scope: Scope, given: Sequence[NewRecord], named: set[str]) -> Flow[None]:
    """What is superseded must exist before anything is written."""
    for one in given:
        if one.supersedes is not None and one.supersedes == one.id:
            raise InvalidInputError(f"Record {one.id!r} cannot supersede itself. Give the id of the older record.")
    old = list(dict.fromkeys(one.supersedes for one in given if one.supersedes is not None))
    known = yield from look_up(ports, scope, old)
    missing = [one for one in old if one not in known and one not in named]
    if missing:
        raise not_found(scope, missing)


def _supersede(ports: Ports, scope: Scope, batch: Sequence[Record], *, now: float) -> Flow[None]:
    """The old record ends where the new one begins; it stays in the collection and says what took its place."""
    for record in batch:
        if record.supersedes is None:
            continue
        old = (yield from look_up(ports, scope, [record.supersedes])).get(record.supersedes)
        if old is not None:
            begins = next(one for one in (record.valid_from, record.created_at, now) if one is not None)
            ends = begins if old.record.valid_until is None else min(begins, old.record.valid_until)
            changes = {"superseded_by": record.id, "valid_until": ends}
            yield from ask(ports.store.annotate, scope, old.stored_id, changes)


def _partial(error: AdaptiveMemoryError, written: Sequence[str], total: int) -> PartialWriteError:
    return PartialWriteError(
        f"{len(written):,} of {total:,} records are stored, then a batch failed: {error} The stored ones are the first "
        f"{len(written):,}, in order; call again with the rest. Their ids are in `written_ids`.",
        written,
    )
