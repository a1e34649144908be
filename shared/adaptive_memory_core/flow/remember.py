"""Storing records and the messages of conversations.

Observing the same messages again changes nothing, so an interrupted call can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.arguments import distinct
from adaptive_memory_core.arguments.new_records import distinct_messages
from adaptive_memory_core.arguments.values import in_turn
from adaptive_memory_core.channels.turns import turn_of
from adaptive_memory_core.context.themes import Themes, themes_of
from adaptive_memory_core.errors import AdaptiveMemoryError, PartialWriteError, StoreError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.one_transaction import export_soon, in_one_transaction
from adaptive_memory_core.flow.count_reading import wrote
from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.hierarchy import ConversationMessage
from adaptive_memory_core.flow.ports.ledger_values import Moves, Rewritten, never_read
from adaptive_memory_core.flow.ports.records import Stored, Vector, seen_of
from adaptive_memory_core.flow.supersede import born_stale, check_superseded, supersede
from adaptive_memory_core.hierarchy.nodes import NOTHING, Hierarchy
from adaptive_memory_core.identity import record_id, scoped_id, text_digest
from adaptive_memory_core.records import MESSAGE_KIND, NEVER_READ, Metadata, NewRecord, Record, Scope, Seen
from adaptive_memory_core.score.ranking import CHANGED
from adaptive_memory_core.sources.read_state import sources_ended
from adaptive_memory_core.sources.request import embedded_texts


def remember(
    ports: Ports, scope: Scope, given: Sequence[NewRecord], *, now: float, new_id: Callable[[], str]
) -> list[str]:
    """Write records, overwriting existing ids. A record keeps its reads if its text stays the same; with another text
    it starts again."""
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


@in_one_transaction
def _write(
    ports: Ports,
    scope: Scope,
    batch: Sequence[Record],
    vectors: Sequence[Vector],
    chosen: Sequence[str],
    *,
    now: float,
) -> None:
    """Add new records, overwrite existing ones, and end superseded ones, in one transaction."""
    batch = born_stale(ports, scope, batch, now=now)
    taken = ports.records.taken(chosen) if chosen else set()
    known = look_up(ports, scope, chosen, now=now)
    new = [index for index, record in enumerate(batch) if record.id not in known]
    old = [index for index, record in enumerate(batch) if record.id in known]
    revised = [_revision(batch[index], known[batch[index].id]) for index in old]
    rewritten = _restarted(revised, known)
    if new:
        own = vectors if not old else [vectors[index] for index in new]
        _add(ports, scope, [batch[index] for index in new], own, taken, look_again=bool(rewritten), now=now)
    if old:
        own = [vectors[index] for index in old]
        ports.records.revise(scope, revised, own)
        unmet = {one: changed.now for one, changed in rewritten.items()}
        ports.ledger.inheritance.settle(scope, Moves(rewritten=rewritten, unmet=unmet), by="remember", now=now)
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
    """Register and write new records."""
    fresh = {record.id: never_read(seen_of(record)) if look_again else seen_of(record) for record in new}
    ids = _enrol(ports, scope, fresh, taken, now=now)
    added = [Stored(record, stored_id) for record, stored_id in zip(new, ids, strict=True)]
    ports.records.add(scope, added, vectors)
    wrote(ports, scope, added, vectors)


def _enrol(ports: Ports, scope: Scope, new: Mapping[str, Seen], taken: set[str], *, now: float) -> list[str]:
    """Register new records; return the ids to store them under: their own, or a scoped id if another user has it."""
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
    """The new version of a record, with the old metadata, and with the old reads if the text is the same."""
    reads = before.record.read if text_digest(record.text) == text_digest(before.record.text) else NEVER_READ
    return Stored(replace(record, read=reads, stored=before.record.stored), before.stored_id)


def _restarted(revised: Sequence[Stored], known: Mapping[str, Stored]) -> dict[str, Rewritten]:
    """The records whose text changes, by id in the collection."""
    before = {one.stored_id: text_digest(known[one.record.id].record.text) for one in revised}
    seen_now = {one.stored_id: one.seen for one in revised}
    return {
        one: Rewritten(before[one], never_read(now)) for one, now in seen_now.items() if before[one] != now.text_digest
    }


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


def entry_of(one: Stored, fields: Fields) -> ConversationMessage:
    """The record as a message for the hierarchy; a record without a time is placed at the beginning."""
    return message_to_queue(
        one.stored_id, one.record.text, one.record.metadata or one.record.stored, fields, at=one.record.created_at
    )


def message_to_queue(
    stored_id: str, text: str, metadata: Metadata | None, fields: Fields, *, at: float | None
) -> ConversationMessage:
    """
    >>> message_to_queue("m1", "Hi!", {"speaker": "Ana", "session": 3}, Fields(), at=50.0)[:5]
    ('m1', '3', 50.0, 50.0, 'Ana')
    """
    turn, time = turn_of(text, metadata, fields, created_at=at), 0.0 if at is None else at
    place = time if turn.place is None else turn.place
    return ConversationMessage(stored_id, turn.session or "", place, time, turn.speaker, text_digest(text))


BATCH = 500  # messages that are written together, and after which progress is reported
Progress = Callable[[int, int], object]


def observe(
    ports: Ports,
    scope: Scope,
    given: Sequence[NewRecord],
    *,
    now: float,
    new_id: Callable[[], str],
    progress: Progress | None = None,
) -> list[str]:
    """Write the messages that are new or have changed; return the ids of all, in order."""
    ports.hierarchy.watch(scope)
    messages = distinct_messages(given)
    for start in range(0, len(messages), BATCH):
        batch = [(one, in_turn(now, place)) for place, one in enumerate(messages[start : start + BATCH], start)]
        _observe(ports, scope, batch, now=now, new_id=new_id)
        if progress is not None:
            progress(min(start + BATCH, len(messages)), len(messages))
    return [one.id or "" for one in given]


def _observe(
    ports: Ports, scope: Scope, batch: Sequence[tuple[NewRecord, float]], *, now: float, new_id: Callable[[], str]
) -> None:
    """Write a batch of messages, each with the time to use if it has none."""
    known = look_up(ports, scope, [one.id for one, _ in batch if one.id is not None], now=None)
    new = [
        one if one.created_at is not None else replace(one, created_at=time)
        for one, time in batch
        if one.id is None or not _is_there(one, known.get(one.id))
    ]
    if new:
        remember(ports, scope, new, now=now, new_id=new_id)
    written = {one.id for one in new}
    others = [one.id for one in new if one.id is not None and one.kind != MESSAGE_KIND]  # not queued by remember
    known = {one: found for one, found in known.items() if one not in written} | look_up(ports, scope, others, now=None)
    old = {one.stored_id: one for one in known.values()}
    if old:
        heard = ports.hierarchy.known(scope, list(old))
        missed = [entry_of(one, ports.fields) for stored_id, one in old.items() if stored_id not in heard]
        ports.hierarchy.missed(scope, missed)


def _is_there(message: NewRecord, known: Stored | None) -> bool:
    """Whether the record already contains exactly this message."""
    if known is None:
        return False
    record = known.record
    compared = ("created_at", "valid_from", "valid_until", "supersedes")
    same = all(getattr(message, one) in (None, getattr(record, one)) for one in compared)
    same = same and (record.text, record.kind) == (message.text, message.kind)
    return same and dict(record.metadata) == dict(message.metadata)


def hierarchy(ports: Ports, scope: Scope, *, settle: bool, progress: Progress | None) -> Hierarchy:
    """The whole hierarchy with the user's ids; empty if nothing was observed."""
    found = _grown(ports, scope, settle=settle, progress=progress)
    return found.with_ids(lambda stored_id: record_id(scope, stored_id))


def _grown(ports: Ports, scope: Scope, *, settle: bool, progress: Progress | None) -> Hierarchy:
    if settle:
        ports.hierarchy.settle(scope, progress)
    found = ports.hierarchy.view(scope)
    return NOTHING if found is None else found


def themes(ports: Ports, scope: Scope, *, now: float, settle: bool, progress: Progress | None) -> Themes:
    """The themes of the hierarchy; empty if nothing was observed."""
    found = _grown(ports, scope, settle=settle, progress=progress)
    over = ports.search.passing(scope, {ports.fields.valid_until: {"$lte": now}}) if found.themes else frozenset()
    return themes_of(scope, found, over)
