"""What read state do the candidates have? Asked once; what is new takes over the state of the same text.

Programs that keep an index up to date delete a document's records and write new ones under new ids. A record that
the ledger has not met takes over the state of one that is gone, if both are of one document and word for word the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.calls.patience import waiting_at_most
from adaptive_memory_core.flow.ports import Found, KnownStates, Ports
from adaptive_memory_core.identity import origin
from adaptive_memory_core.records import Scope


def known_states(
    ports: Ports,
    scope: Scope,
    found: Sequence[Found],
    *,
    keep: bool,
    turn: str | None = None,
    more: Sequence[str] = (),
) -> Flow[KnownStates]:
    """What the ledger knows of the records, or of those they replace, and of `more` ids that may be in the collection;
    `keep=False` looks and writes nothing."""
    ids = [one.stored_id for one in found]
    known = yield from ask(ports.ledger.states.known, scope, [*ids, *more], turn)
    if not known.new or known.new.isdisjoint(ids):
        return known
    origins = {one.stored_id: origin(one.text, one.metadata) for one in found if one.stored_id in known.new}
    heirs = yield from _heirs(ports, scope, {one: digest for one, digest in origins.items() if digest is not None})
    if keep:
        move, settled = ports.ledger.inheritance.move, list(origins)
        yield from ask(waiting_at_most, ports.count_seconds, move, scope, heirs, settled=settled)
    if not heirs:
        return known
    if keep:
        ports.write_back.wake()
        return (yield from ask(ports.ledger.states.known, scope, [*ids, *more], turn))
    before = yield from ask(ports.ledger.states.known, scope, list(heirs))
    return known._replace(states={**known.states, **{heirs[old]: state for old, state in before.states.items()}})


def _heirs(ports: Ports, scope: Scope, new: Mapping[str, bytes]) -> Flow[dict[str, str]]:
    """Which record takes over from which: from each that is gone one takes over, and each takes over from one."""
    if not new:
        return {}
    ancestors = yield from ask(ports.ledger.inheritance.ancestors, scope, list(new.values()))
    if not ancestors:
        return {}
    still_there = yield from ask(ports.records.taken, list(ancestors))
    gone = set(ancestors) - still_there
    waiting: dict[bytes, list[str]] = {}
    for stored_id, digest in new.items():
        waiting.setdefault(digest, []).append(stored_id)
    pairs = ((old, waiting.get(ancestors[old], [])) for old in ancestors if old in gone)
    return {old: heirs.pop(0) for old, heirs in pairs if heirs}
