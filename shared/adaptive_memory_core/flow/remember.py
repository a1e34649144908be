"""How are records stored? Checked and embedded first, then entered in the ledger, then written, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.arguments import distinct
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError, PartialWriteError, StoreError
from adaptive_memory_core.flow.calls.drive import Flow, ask, attempt
from adaptive_memory_core.flow.calls.embed_texts import embedded_texts
from adaptive_memory_core.flow.calls.kept_whole import kept_whole
from adaptive_memory_core.flow.derived_records import born_stale, sources_ended, sources_of
from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.one_writer import one_writer
from adaptive_memory_core.flow.ports import Moves, Ports, Rewritten, Stored, Vector, anew, seen
from adaptive_memory_core.flow.steps.tell_indexes import revising, wrote
from adaptive_memory_core.flow.supersede import check_superseded, supersede
from adaptive_memory_core.flow.take_back import take_back
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.records import NEVER_READ, NewRecord, Record, Scope, Seen
from adaptive_memory_core.score.gates import CHANGED
from adaptive_memory_core.text_identity import said


def remember(
    ports: Ports, scope: Scope, given: Sequence[NewRecord], *, now: float, new_id: Callable[[], str]
) -> Flow[list[str]]:
    """Write records; an id that the scope already has is written over. It keeps what reads have taught if it says the
    same, and begins anew with other words."""
    named = set(distinct((one.id for one in given if one.id is not None), "id"))
    yield from check_superseded(ports, scope, given, named)
    records = [_record(one, now=now, new_id=new_id) for one in given]
    written: list[str] = []
    for start in range(0, len(records), ports.records.batch_size):
        batch = records[start : start + ports.records.batch_size]
        try:
            yield from _write(ports, scope, batch, named, now=now)
        except AdaptiveMemoryError as error:
            if not written:
                raise
            raise _partial(error, written, len(records)) from error
        written += [record.id for record in batch]
    ports.floors.wrote(scope)
    return written


def _write(ports: Ports, scope: Scope, batch: Sequence[Record], named: set[str], *, now: float) -> Flow[None]:
    """One batch: texts are embedded first; then nobody else writes these ids until they are written."""
    vectors = yield from embedded_texts(ports.embedder, [record.text for record in batch])
    chosen = [record.id for record in batch if record.id in named]
    olds = [record.supersedes for record in batch if record.supersedes is not None]
    sources = sources_of(batch)
    writing = _write_alone(ports, scope, batch, vectors, chosen, now=now)
    yield from one_writer(ports, scope, [*chosen, *olds, *sources], writing)


def _write_alone(
    ports: Ports,
    scope: Scope,
    batch: Sequence[Record],
    vectors: Sequence[Vector],
    chosen: Sequence[str],
    *,
    now: float,
) -> Flow[None]:
    """What is new is enrolled and added, what exists is written over, what is superseded ends."""
    batch = yield from born_stale(ports, scope, batch, now=now)
    taken = (yield from ask(ports.records.taken, chosen)) if chosen else set()
    known = yield from look_up(ports, scope, chosen, now=now)  # after `taken`: what came in between is our own
    new = [index for index, record in enumerate(batch) if record.id not in known]
    old = [index for index, record in enumerate(batch) if record.id in known]
    revised = [_revision(batch[index], known[batch[index].id]) for index in old]
    rewritten = _begin_anew(revised, known)
    added: list[Stored] = []
    if new:
        own = vectors if not old else [vectors[index] for index in new]
        adding = [batch[index] for index in new]
        added = yield from _add(ports, scope, adding, own, taken, look_again=bool(rewritten), now=now)
    if old:
        yield from ask(revising, ports, scope, [one.stored_id for one in revised])  # so that a crash here is noticed
        own = [vectors[index] for index in old]
        yield from ask(ports.records.revise, scope, revised, own)
        yield from ask(
            _rewrote, ports, scope, revised, own, rewritten, now=now
        )  # after a crash the next recall sees it
        ports.write_back.wake()
        changed = [one.record.id for one in revised if one.stored_id in rewritten]
        yield from sources_ended(ports, scope, dict.fromkeys(changed, now), CHANGED, but=[one.id for one in batch])
    yield from supersede(ports, scope, batch, added, now=now)


def _add(
    ports: Ports,
    scope: Scope,
    new: Sequence[Record],
    vectors: Sequence[Vector],
    taken: set[str],
    *,
    look_again: bool,
    now: float,
) -> Flow[list[Stored]]:
    """New records: enrolled in the ledger, then written. What could not be written is no longer enrolled either."""
    fresh = {record.id: anew(seen(record)) if look_again else seen(record) for record in new}
    ids = yield from _enrol(ports, scope, fresh, taken, now=now)
    added = [Stored(record, stored_id) for record, stored_id in zip(new, ids, strict=True)]
    try:
        yield from ask(ports.records.add, scope, added, vectors)
    except AdaptiveMemoryError:
        yield from take_back(ports, scope, added, now=now)
        raise
    yield from attempt(LedgerError, wrote, ports, scope, added, vectors)  # else the next recall takes them in
    return added


def _enrol(ports: Ports, scope: Scope, new: Mapping[str, Seen], taken: set[str], *, now: float) -> Flow[list[str]]:
    """Under which ids new records will stand: their own, or a scoped one where somebody else has it."""
    untaken = {one: fresh for one, fresh in new.items() if one not in taken}
    free = yield from ask(ports.ledger.states.enrol, scope, untaken, now=now)
    clashes = {one for one in new if one in taken} | {one for one, ok in zip(untaken, free, strict=True) if not ok}
    if not clashes:
        return list(new)
    try:
        yield from _enrol_scoped(ports, scope, {one: new[one] for one in sorted(clashes)}, now=now)
    except AdaptiveMemoryError:
        yield from attempt(LedgerError, ports.ledger.states.withdraw, scope, [one for one in new if one not in clashes])
        raise
    return [scoped_id(scope, one) if one in clashes else one for one in new]


def _enrol_scoped(ports: Ports, scope: Scope, new: Mapping[str, Seen], *, now: float) -> Flow[None]:
    """Take the scoped places of these ids; where another program's record stands in one, nothing is written."""
    places = {scoped_id(scope, one): one for one in new}
    taken = yield from ask(ports.records.taken, list(places))
    if taken:
        names = ", ".join(repr(places[place]) for place in sorted(taken))
        raise StoreError(f"Another program keeps a record where that of {scope} would stand: {names}. Give another id.")
    yield from ask(ports.ledger.states.enrol, scope, {place: new[one] for place, one in places.items()}, now=now)


def _revision(record: Record, before: Stored) -> Stored:
    """The new version, with the old one's reads if it says the same, and the metadata that it is written over."""
    reads = before.record.read if said(record.text) == said(before.record.text) else NEVER_READ
    return Stored(replace(record, read=reads, stored=before.record.stored), before.stored_id)


def _begin_anew(revised: Sequence[Stored], known: Mapping[str, Stored]) -> dict[str, Rewritten]:
    """Those that say something else from now on."""
    before = {one.stored_id: said(known[one.record.id].record.text) for one in revised}
    seen_now = {one.stored_id: one.seen for one in revised}
    return {one: Rewritten(before[one], anew(now)) for one, now in seen_now.items() if before[one] != now.said}


@kept_whole
def _rewrote(
    ports: Ports,
    scope: Scope,
    revised: Sequence[Stored],
    vectors: Sequence[Vector],
    anew: Mapping[str, Rewritten],
    *,
    now: float,
) -> None:
    """What says something else by now begins anew, and every index is told, in one transaction."""
    ports.ledger.inheritance.settle(
        scope, Moves(anew=anew, unmet={one: changed.now for one, changed in anew.items()}), by="remember", now=now
    )
    wrote(ports, scope, revised, vectors)


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
