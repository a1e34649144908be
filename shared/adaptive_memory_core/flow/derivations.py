"""Which records were derived from which? Those of a scope, and whatever is of them, however far down."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.record_metadata import record_of
from adaptive_memory_core.records import Record, Scope
from adaptive_memory_core.score.gates import CHANGED, FORGOTTEN, SUPERSEDED


@dataclass(frozen=True, slots=True)
class Derivations:
    """The derived records of a scope, by their ids in the collection; `of` names those of each source.

    >>> made = derivations({"#1": Record("b", derived_from=("a",)), "#2": Record("c", derived_from=("b", "x"))})
    >>> made.below({"a": 7.0}), made.without(["x"])
    ({'#1': 7.0, '#2': 7.0}, {'#2': ('b',)})
    """

    records: Mapping[str, Record]
    of: Mapping[str, Sequence[str]]

    def below(self, ended: Mapping[str, float], but: Container[str] = ()) -> dict[str, float]:
        """All that was derived from these, straight or not, each with the earliest time at which one of them ends, and
        after what it is of; `but` are the ids of those that do not end with them."""
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
        """What is left of the sources of those that were derived straight from what is gone."""
        sources = set(gone)
        named = {stored_id for source in sources for stored_id in self.of.get(source, ())}
        return {one: tuple(x for x in self.records[one].derived_from if x not in sources) for one in sorted(named)}

    def valid_again(self, reached: Iterable[str], still_ended: Mapping[str, Record]) -> list[str]:
        """Those that nothing keeps stale any longer: no source of theirs that has ended, and none that is of one."""
        ended, again = dict(still_ended), list[str]()
        waiting = [one for one in reached if self.records[one].derived_stale == SUPERSEDED]
        while ready := [one for one in waiting if not ended_for(self.records[one], ended)]:
            again += ready
            waiting = [one for one in waiting if one not in ready]
            for one in ready:
                ended.pop(self.records[one].id, None)
        return again


def ended_for(record: Record, ended: Mapping[str, Record]) -> list[Record]:
    """The sources of a record that have ended, but for those that it replaced itself.

    >>> ended = {"a": Record("a", superseded_by="b"), "x": Record("x", derived_stale="superseded")}
    >>> [[one.id for one in ended_for(Record(id, derived_from=("a", "x")), ended)] for id in ("b", "c")]
    [['x'], ['a', 'x']]
    """
    own = (record.id, record.supersedes)
    sources = [ended[one] for one in record.derived_from if one in ended]
    return [one for one in sources if one.superseded_by is None or one.superseded_by not in own]


def derivations(records: Mapping[str, Record]) -> Derivations:
    """Those of these records."""
    of: dict[str, list[str]] = {}
    for stored_id, record in records.items():
        for source in record.derived_from:
            of.setdefault(source, []).append(stored_id)
    return Derivations(records, of)


def derivations_in(ports: Ports, scope: Scope) -> Derivations:
    """Those of a scope, asked for at once; nearly always there is none."""
    ids = ports.records.flagged(scope, "derived")
    rows = ports.records.rows(ids) if ids else []
    return derivations({row[0]: record_of(scope, *row, ports.fields) for row in rows})


def sources_ended(
    ports: Ports, scope: Scope, ended: Mapping[str, float], why: str, but: Container[str] = ()
) -> tuple[str, ...]:
    """End what was derived from these, each at its time, and what was derived from that; gives the ids of those. What
    is gone is not named any longer. `but` are the ids of those that are of what came in its place."""
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
    """What is to be merged into the metadata of what ends with its source. What cannot be undone stays the reason."""
    for_good = record.derived_stale in (FORGOTTEN, CHANGED)
    ends = at if record.valid_until is None else min(at, record.valid_until)
    return {fields.derived_stale: record.derived_stale if for_good else why, fields.valid_until: float(ends)}
