"""How are records stored? Checked and embedded first, then written into the ledger, each batch in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.arguments import distinct
from adaptive_memory_core.arguments.values import in_turn
from adaptive_memory_core.errors import AdaptiveMemoryError, PartialWriteError, StoreError
from adaptive_memory_core.flow.calls.kept_whole import export_soon, kept_whole
from adaptive_memory_core.flow.count_reading import wrote
from adaptive_memory_core.flow.derivations import sources_ended
from adaptive_memory_core.flow.derived_records import born_stale
from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.ports import Moves, Ports, Rewritten, Stored, Vector, anew, seen
from adaptive_memory_core.flow.supersede import check_superseded, supersede
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.records import NEVER_READ, NewRecord, Record, Scope, Seen
from adaptive_memory_core.score.gates import CHANGED
from adaptive_memory_core.sources.request import embedded_texts
from adaptive_memory_core.text_identity import said


def remember(
    ports: Ports, scope: Scope, given: Sequence[NewRecord], *, now: float, new_id: Callable[[], str]
) -> list[str]:
    """Write records; an id that the scope already has is written over. It keeps what reads have taught if it says the
    same, and begins anew with other words."""
    named = set(distinct((one.id for one in given if one.id is not None), "id"))
    check_superseded(ports, scope, given, named)
    records = [_record(one, now=in_turn(now, number), new_id=new_id) for number, one in enumerate(given)]
    written: list[str] = []
    for start in range(0, len(records), ports.records.batch_size):
        batch = records[start : start + ports.records.batch_size]
        try:
            vectors = embedded_texts(ports.embedder, [record.text for record in batch])
            chosen = [record.id for record in batch if record.id in named]
            _write(ports, scope, batch, vectors, chosen, now=now)
        except AdaptiveMemoryError as error:
            if not written:
                raise
            raise _partial(error, written, len(records)) from error
        written += [record.id for record in batch]
    ports.floors.wrote(scope)
    export_soon(ports)
    return written


@kept_whole
def _write(
    ports: Ports,
    scope: Scope,
    batch: Sequence[Record],
    vectors: Sequence[Vector],
    chosen: Sequence[str],
    *,
    now: float,
) -> None:
    """What is new is enrolled and added, what exists is written over, what is superseded ends."""
    batch = born_stale(ports, scope, batch, now=now)
    taken = ports.records.taken(chosen) if chosen else set()
    known = look_up(ports, scope, chosen, now=now)
    new = [index for index, record in enumerate(batch) if record.id not in known]
    old = [index for index, record in enumerate(batch) if record.id in known]
    revised = [_revision(batch[index], known[batch[index].id]) for index in old]
    rewritten = _begin_anew(revised, known)
    if new:
        own = vectors if not old else [vectors[index] for index in new]
        _add(ports, scope, [batch[index] for index in new], own, taken, look_again=bool(rewritten), now=now)
    if old:
        own = [vectors[index] for index in old]
        ports.records.revise(scope, revised, own)
        unmet = {one: changed.now for one, changed in rewritten.items()}
        ports.ledger.inheritance.settle(scope, Moves(anew=rewritten, unmet=unmet), by="remember", now=now)
        wrote(ports, scope, revised, own)
        changed = [one.record.id for one in revised if one.stored_id in rewritten]
        sources_ended(ports, scope, dict.fromkeys(changed, now), CHANGED, but=[one.id for one in batch])
    supersede(ports, scope, batch, now=now)


def _add(
    ports: Ports,
    scope: Scope,
    new: Sequence[Record],
    vectors: Sequence[Vector],
    taken: set[str],
    *,
    look_again: bool,
    now: float,
) -> None:
    """New records: enrolled and written."""
    fresh = {record.id: anew(seen(record)) if look_again else seen(record) for record in new}
    ids = _enrol(ports, scope, fresh, taken, now=now)
    added = [Stored(record, stored_id) for record, stored_id in zip(new, ids, strict=True)]
    ports.records.add(scope, added, vectors)
    wrote(ports, scope, added, vectors)


def _enrol(ports: Ports, scope: Scope, new: Mapping[str, Seen], taken: set[str], *, now: float) -> list[str]:
    """Under which ids new records will stand: their own, or a scoped one where somebody else has it."""
    untaken = {one: fresh for one, fresh in new.items() if one not in taken}
    free = ports.ledger.states.enrol(scope, untaken, now=now)
    clashes = {one for one in new if one in taken} | {one for one, ok in zip(untaken, free, strict=True) if not ok}
    if not clashes:
        return list(new)
    places = {scoped_id(scope, one): one for one in sorted(clashes)}
    strangers = ports.records.taken(list(places))
    if strangers:
        names = ", ".join(repr(places[place]) for place in sorted(strangers))
        raise StoreError(f"Another program keeps a record where that of {scope} would stand: {names}. Give another id.")
    ports.ledger.states.enrol(scope, {place: new[one] for place, one in places.items()}, now=now)
    return [scoped_id(scope, one) if one in clashes else one for one in new]


def _revision(record: Record, before: Stored) -> Stored:
    """The new version, with the old one's reads if it says the same, and the metadata that it is written over."""
    reads = before.record.read if said(record.text) == said(before.record.text) else NEVER_READ
    return Stored(replace(record, read=reads, stored=before.record.stored), before.stored_id)


def _begin_anew(revised: Sequence[Stored], known: Mapping[str, Stored]) -> dict[str, Rewritten]:
    """Those that say something else from now on."""
    before = {one.stored_id: said(known[one.record.id].record.text) for one in revised}
    seen_now = {one.stored_id: one.seen for one in revised}
    return {one: Rewritten(before[one], anew(now)) for one, now in seen_now.items() if before[one] != now.said}


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
        derived_from=given.derived_from,
    )


def _partial(error: AdaptiveMemoryError, written: Sequence[str], total: int) -> PartialWriteError:
    return PartialWriteError(
        f"{len(written):,} of {total:,} records are stored, then a batch failed: {error} The stored ones are the first "
        f"{len(written):,}, in order; call again with the rest. Their ids are in `written_ids`.",
        written,
    )
