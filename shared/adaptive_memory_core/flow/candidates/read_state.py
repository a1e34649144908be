"""What read state do the candidates have? Asked once; a state belongs to what was said, not to an id.

Other programs write a record over with other words, or delete a document's records and write new ones under new ids.
What says something else by now begins anew, and what says what another record said before takes over its state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.drive import Flow, ask, attempt
from adaptive_memory_core.flow.calls.patience import waiting_at_most
from adaptive_memory_core.flow.candidates.moved_texts import moved_texts
from adaptive_memory_core.flow.ports import Found, KnownStates, Moves, Ports
from adaptive_memory_core.records import NEVER_READ, ReadState, Scope
from adaptive_memory_core.text_identity import said

BY = "collection"  # in the audit trail: another program wrote


def known_states(
    ports: Ports, scope: Scope, found: Sequence[Found], *, now: float | None, turn: str | None = None
) -> Flow[KnownStates]:
    """What the ledger knows of what the records say, under whatever id; `now=None` looks and writes nothing."""
    known = yield from ask(ports.ledger.states.known, scope, [one.stored_id for one in found], turn)
    before = known.said
    other = [one for one in found if one.stored_id in before and before[one.stored_id] != said(one.text)]
    if not known.new and not other:
        return known
    return (yield from _as_texts_moved(ports, scope, found, known, other, now=now, turn=turn))


def _as_texts_moved(
    ports: Ports,
    scope: Scope,
    found: Sequence[Found],
    known: KnownStates,
    other: Sequence[Found],
    *,
    now: float | None,
    turn: str | None,
) -> Flow[KnownStates]:
    """The states of those whose texts moved, settled in the ledger unless this only looks, or the ledger refuses."""
    unmet = [one for one in other if one.stored_id not in known.states]
    new = [*(one for one in found if one.stored_id in known.new), *unmet]
    other = [one for one in other if one.stored_id in known.states]
    moves = yield from moved_texts(ports, scope, new, other, known)
    if now is None:
        yield from ask(ports.ledger.inheritance.settle, scope, Moves(settled=moves.settled), by=BY, now=0.0)
        return (yield from _looked_at(ports, scope, known, other, moves))
    settle, within = ports.ledger.inheritance.settle, ports.count_seconds
    outcome = yield from attempt(LedgerError, waiting_at_most, within, settle, scope, moves, by=BY, now=now)
    if outcome.error is not None:
        return (yield from _looked_at(ports, scope, known, other, moves))
    if moves.none:
        return known
    ports.write_back.wake()
    after = yield from ask(ports.ledger.states.known, scope, [one.stored_id for one in found], turn)
    stale = [one for one in other if after.said.get(one.stored_id) not in (None, said(one.text))]
    return after._replace(states={**after.states, **_fresh(after, stale)})


def _looked_at(
    ports: Ports, scope: Scope, known: KnownStates, other: Sequence[Found], moves: Moves
) -> Flow[KnownStates]:
    """The states as they would be settled."""
    if moves.none and not other:
        return known
    changed = [one for one in other if known.said[one.stored_id] is not None]
    states = {**known.states, **_fresh(known, changed)}
    if moves.heirs:
        before = yield from ask(ports.ledger.inheritance.states_of, scope, list(moves.heirs))
        states.update({moves.heirs[old]: state for old, state in before.items()})
    return known._replace(states=states)


def _fresh(known: KnownStates, found: Sequence[Found]) -> dict[str, ReadState]:
    """The states of records that nobody has read yet as they are now."""
    begun = replace(NEVER_READ, fresh_step=known.timeline.step, settled_step=known.timeline.step)
    return {one.stored_id: begun for one in found}
