"""The read state of the candidates. It belongs to a text and not to an id, so it follows texts that moved.

Other programs overwrite a record with another text, or delete a document's records and write new ones under new ids. A
record whose text has changed starts again, and a record with the former text of another one takes over its state.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.calls.running_calls import waiting_at_most
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import KnownStates, Moves, Rewritten, never_read
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.identity import LOOK_AGAIN, origin, record_id, text_digest
from adaptive_memory_core.record_metadata import SHARED, belongs, record_of
from adaptive_memory_core.records import NEVER_READ, Metadata, ReadState, Record, Scope, Seen
from adaptive_memory_core.score.ranking import CHANGED, FORGOTTEN, SUPERSEDED


@dataclass(frozen=True, slots=True)
class Derivations:
    """The derived records of a scope, by their ids in the collection; `of` lists the derived records of each source.

    >>> made = derivations({"#1": Record("b", derived_from=("a",)), "#2": Record("c", derived_from=("b", "x"))})
    >>> made.below({"a": 7.0}), made.without(["x"])
    ({'#1': 7.0, '#2': 7.0}, {'#2': ('b',)})
    """

    records: Mapping[str, Record]
    of: Mapping[str, Sequence[str]]

    def below(self, ended: Mapping[str, float], but: Container[str] = ()) -> dict[str, float]:
        """All records derived from these, directly or indirectly, each with the earliest time at which a source ends,
        sources first. `but` are the ids of records that do not end with their sources."""
        reached: dict[str, float] = {}
        pending = list(ended.items())
        while pending:
            source, at = pending.pop()
            for stored_id in self.of.get(source, ()):
                own = self.records[stored_id].id
                if own not in but and at < reached.get(stored_id, math.inf):
                    reached[stored_id] = at
                    pending.append((own, at))
        return reached

    def without(self, gone: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The remaining sources of the records that were derived directly from removed ones."""
        sources = set(gone)
        named = {stored_id for source in sources for stored_id in self.of.get(source, ())}
        return {one: tuple(x for x in self.records[one].derived_from if x not in sources) for one in sorted(named)}

    def valid_again(self, reached: Iterable[str], still_ended: Mapping[str, Record]) -> list[str]:
        """The records that are no longer stale, because none of their direct or indirect sources has ended."""
        ended, again = dict(still_ended), list[str]()
        waiting = [one for one in reached if self.records[one].derived_stale == SUPERSEDED]
        while ready := [one for one in waiting if not ended_for(self.records[one], ended)]:
            again += ready
            waiting = [one for one in waiting if one not in ready]
            for one in ready:
                ended.pop(self.records[one].id, None)
        return again


def ended_for(record: Record, ended: Mapping[str, Record]) -> list[Record]:
    """The sources of a record that have ended, except those that it superseded itself.

    >>> ended = {"a": Record("a", superseded_by="b"), "x": Record("x", derived_stale="superseded")}
    >>> [[one.id for one in ended_for(Record(id, derived_from=("a", "x")), ended)] for id in ("b", "c")]
    [['x'], ['a', 'x']]
    """
    own = (record.id, record.supersedes)
    sources = [ended[one] for one in record.derived_from if one in ended]
    return [one for one in sources if one.superseded_by is None or one.superseded_by not in own]


def derivations(records: Mapping[str, Record]) -> Derivations:
    """The derivations among these records."""
    of: dict[str, list[str]] = {}
    for stored_id, record in records.items():
        for source in record.derived_from:
            of.setdefault(source, []).append(stored_id)
    return Derivations(records, of)


def derivations_in(ports: Ports, scope: Scope) -> Derivations:
    """The derivations of a scope; nearly always there are none."""
    ids = ports.records.flagged(scope, "derived")
    rows = ports.records.rows(ids) if ids else []
    return derivations({row[0]: record_of(scope, *row, ports.fields) for row in rows})


def sources_ended(
    ports: Ports, scope: Scope, ended: Mapping[str, float], why: str, but: Container[str] = ()
) -> tuple[str, ...]:
    """End all records derived from these sources, directly or indirectly, and return their ids. Forgotten sources are
    removed from the lists of sources. `but` are the ids of records that do not end, because they come from the new
    version."""
    if not ended:
        return ()
    made = derivations_in(ports, scope)
    reached = made.below(ended, but)
    changes = {one: _ending(made.records[one], at, why, ports.fields) for one, at in reached.items()}
    if why == FORGOTTEN:
        for one, left in made.without(ended).items():
            changes[one][ports.fields.derived_from] = list(left) or None
    if changes:
        ports.records.update_metadata(changes)
    return tuple(made.records[one].id for one in reached)


def _ending(record: Record, at: float, why: str, fields: Fields) -> dict[str, Any]:
    """The metadata to merge into a record that ends with its source. A reason that cannot be undone is kept."""
    for_good = record.derived_stale in (FORGOTTEN, CHANGED)
    ends = at if record.valid_until is None else min(at, record.valid_until)
    return {fields.derived_stale: record.derived_stale if for_good else why, fields.valid_until: float(ends)}


Row = tuple[str | None, Metadata | None]


def moved_texts(ports: Ports, scope: Scope, new: Sequence[Found], other: Sequence[Found], known: KnownStates) -> Moves:
    """The moves of read states for `new` records and for records with an `other` text than in the ledger."""
    undigested = [one for one in other if known.text_digests[one.stored_id] is None]
    changed = [one for one in other if known.text_digests[one.stored_id] is not None and one.text is not None]
    waiting = _by_origin([*new, *changed])
    ancestors = {}
    if waiting:
        ancestors = ports.ledger.inheritance.ancestors(scope, list(waiting))
    there: dict[str, Row] = {}
    asked = list(dict.fromkeys([*ancestors, *(one.stored_id for one in changed)]))
    versions: Mapping[str, int] = {}
    if asked:  # after the ledger: its records were in the collection before
        versions = ports.ledger.mirror.versions(asked).rows
        rows = ports.records.rows(asked)
        there = {row[0]: row[1:] for row in rows if belongs(row[2], scope, ports.fields)}
    rewritten = {
        one.stored_id: Rewritten(known.text_digests[one.stored_id], _seen(ports, scope, *there[one.stored_id]))
        for one in changed
        if one.stored_id in there and text_digest(there[one.stored_id][0]) == text_digest(one.text)
    }
    left = _left(ports, scope, ancestors, waiting, there, rewritten)
    heirs, twins = _heirs(ancestors, waiting, left, present_ids=set(there))
    late = {one.stored_id for one in changed} - rewritten.keys()
    return Moves(
        rewritten={**rewritten, **{one: changed for one, changed in left.items() if changed is not None}},
        heirs={old: one for old, one in heirs.items() if one not in late},
        undigested={
            one.stored_id: _seen(ports, scope, one.text, one.metadata) for one in undigested if one.text is not None
        },
        settled={one.stored_id: text_digest(one.text) for one in new if one.stored_id not in {*heirs.values(), *twins}},
        twins=list(twins),
        versions=versions,
    )


def _by_origin(arrived: Sequence[Found]) -> dict[bytes, list[Found]]:
    """The new records by the digest of their text and source, under which the ledger may have them."""
    waiting: dict[bytes, list[Found]] = {}
    for one in arrived:
        if (mark := origin(one.text, one.metadata)) is not None:
            waiting.setdefault(mark, []).append(one)
    return waiting


def _left(
    ports: Ports,
    scope: Scope,
    ancestors: Mapping[str, bytes],
    waiting: Mapping[bytes, Sequence[Found]],
    there: Mapping[str, Row],
    rewritten: Mapping[str, Rewritten],
) -> dict[str, Rewritten | None]:
    """The ancestors whose text is gone: deleted (None) or overwritten."""
    left: dict[str, Rewritten | None] = {one: None for one in ancestors if one not in there}
    over = [one for one in ancestors if one in there and one not in rewritten]
    over = [one for one in over if text_digest(there[one][0]) != text_digest(waiting[ancestors[one]][0].text)]
    if over:
        known = ports.ledger.states.known(scope, over)
        left.update(
            {one: Rewritten(known.text_digests.get(one), never_read(_seen(ports, scope, *there[one]))) for one in over}
        )
    return {**left, **{one: rewritten[one] for one in ancestors if one in rewritten}}


def _heirs(
    ancestors: Mapping[str, bytes],
    waiting: Mapping[bytes, Sequence[Found]],
    left: Mapping[str, object],
    *,
    present_ids: set[str],
) -> tuple[dict[str, str], set[str]]:
    """The heir of each record whose text is gone, one to one; and the records whose twin still exists."""
    heirs: dict[str, str] = {}
    twins: set[str] = set()
    for old, mark in ancestors.items():
        free = [one.stored_id for one in waiting[mark] if one.stored_id not in heirs.values() and one.stored_id != old]
        if old in left and free:
            heirs[old] = free[0]
        elif old in present_ids:
            twins.update(free)
    return heirs, twins - set(heirs.values())


def _seen(ports: Ports, scope: Scope, text: str | None, metadata: Metadata | None) -> Seen:
    """A record that was never read."""
    kind = (metadata or {}).get(ports.fields.kind)
    shared = scope.over is not None and belongs(metadata, SHARED, ports.fields)
    return Seen(NEVER_READ, kind if isinstance(kind, str) else None, origin(text, metadata), shared, text_digest(text))


BY = "collection"  # in the audit trail: another program wrote


def moved_states(
    ports: Ports,
    scope: Scope,
    found: Sequence[Found],
    known: KnownStates,
    other: Sequence[Found],
    *,
    now: float | None,
    turn: str | None,
) -> KnownStates:
    """The states for the texts of the records, of which `other` ones have another text than in the ledger. The moves of
    states are settled in the ledger; `now=None` writes nothing."""
    moved = _as_texts_moved(ports, scope, found, known, other, now=now)
    if moved is not None:
        return moved
    moved = ports.ledger.states.known(scope, [one.stored_id for one in found], turn)
    stale = [one for one in other if moved.text_digests.get(one.stored_id) not in (None, text_digest(one.text))]
    return moved._replace(states={**moved.states, **_fresh(moved, stale)})


def _as_texts_moved(
    ports: Ports,
    scope: Scope,
    found: Sequence[Found],
    known: KnownStates,
    other: Sequence[Found],
    *,
    now: float | None,
) -> KnownStates | None:
    """Settle the moves in the ledger and return None; if this call is read-only or the ledger fails, return the states
    that would result."""
    unmet = [one for one in other if one.stored_id not in known.states]
    new = [*(one for one in found if one.stored_id in known.new), *unmet]
    other = [one for one in other if one.stored_id in known.states]
    moves = moved_texts(ports, scope, new, other, known)
    settle, within = ports.ledger.inheritance.settle, ports.count_seconds
    if now is None:
        settle(scope, Moves(settled=moves.settled), by=BY, now=0.0)
        return _looked_at(ports, scope, known, other, moves)
    outcome = tried(LedgerError, waiting_at_most, within, settle, scope, moves, by=BY, now=now)
    if outcome.error is not None:
        return _looked_at(ports, scope, known, other, moves)
    if moves.none:
        return known
    ports.write_back.wake()
    with suppress(AdaptiveMemoryError):  # of the collection: the recall goes on
        sources_ended(ports, scope, dict.fromkeys(_replaced(scope, moves), now), CHANGED)
    return None


def _replaced(scope: Scope, moves: Moves) -> list[str]:
    """The records whose text another program replaced and whose earlier text is not in another record."""
    gone = {one for one, changed in moves.rewritten.items() if changed.before not in (None, LOOK_AGAIN)}
    return [record_id(scope, one) for one in gone - moves.heirs.keys()]


def _looked_at(ports: Ports, scope: Scope, known: KnownStates, other: Sequence[Found], moves: Moves) -> KnownStates:
    """The states that settling the moves would give."""
    if moves.none and not other:
        return known
    changed = [one for one in other if known.text_digests[one.stored_id] is not None]
    states = {**known.states, **_fresh(known, changed)}
    if moves.heirs:
        before = ports.ledger.inheritance.states_of(scope, list(moves.heirs))
        states.update({moves.heirs[old]: state for old, state in before.items()})
    return known._replace(states=states)


def _fresh(known: KnownStates, found: Sequence[Found]) -> dict[str, ReadState]:
    """Initial states for records whose text has changed."""
    begun = replace(NEVER_READ, fresh_step=known.timeline.step, settled_step=known.timeline.step)
    return {one.stored_id: begun for one in found}
