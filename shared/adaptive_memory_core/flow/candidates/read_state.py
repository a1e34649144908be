"""What read state do the candidates have? Asked once; a state belongs to what was said, not to an id.

Other programs write a record over with other words, or delete a document's records and write new ones under new ids.
What says something else by now begins anew, and what says what another record said before takes over its state.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.calls.call_state import waiting_at_most
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.moved_texts import moved_texts
from adaptive_memory_core.flow.derivations import sources_ended
from adaptive_memory_core.flow.ports import Found, KnownStates, Moves, Ports
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import NEVER_READ, ReadState, Scope
from adaptive_memory_core.score.gates import CHANGED
from adaptive_memory_core.text_identity import LOOK_AGAIN, all_said, said

BY = "collection"  # in the audit trail: another program wrote


def known_states(
    ports: Ports,
    scope: Scope,
    found: Sequence[Found],
    *,
    now: float | None,
    turn: str | None = None,
    more: Sequence[str] = (),
) -> KnownStates:
    """What the ledger knows of what the records say, under whatever id, and of `more` ids that may be in the
    collection; `now=None` looks and writes nothing."""
    ids = [*[one.stored_id for one in found], *more]
    known = ports.ledger.states.known(scope, ids, turn)
    before = known.said
    told = zip(found, ids, all_said([one.text for one in found]), strict=False)
    other = [one for one, stored_id, words in told if before.get(stored_id, words) != words]
    if not other and (not known.new or known.new <= set(more)):
        return known
    moved = _as_texts_moved(ports, scope, found, known, other, now=now)
    if moved is None:
        moved = ports.ledger.states.known(scope, ids, turn)
        stale = [one for one in other if moved.said.get(one.stored_id) not in (None, said(one.text))]
        moved = moved._replace(states={**moved.states, **_fresh(moved, stale)})
    return moved


def _as_texts_moved(
    ports: Ports,
    scope: Scope,
    found: Sequence[Found],
    known: KnownStates,
    other: Sequence[Found],
    *,
    now: float | None,
) -> KnownStates | None:
    """The states of those whose texts moved, as they would be settled, where this only looks or the ledger refuses;
    None where they were settled in the ledger."""
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
    """The records whose text another program replaced, and whose earlier text is nowhere else."""
    gone = {one for one, changed in moves.anew.items() if changed.before not in (None, LOOK_AGAIN)}
    return [record_id(scope, one) for one in gone - moves.heirs.keys()]


def _looked_at(ports: Ports, scope: Scope, known: KnownStates, other: Sequence[Found], moves: Moves) -> KnownStates:
    """The states as they would be settled."""
    if moves.none and not other:
        return known
    changed = [one for one in other if known.said[one.stored_id] is not None]
    states = {**known.states, **_fresh(known, changed)}
    if moves.heirs:
        before = ports.ledger.inheritance.states_of(scope, list(moves.heirs))
        states.update({moves.heirs[old]: state for old, state in before.items()})
    return known._replace(states=states)


def _fresh(known: KnownStates, found: Sequence[Found]) -> dict[str, ReadState]:
    """The states of records that nobody has read yet as they are now."""
    begun = replace(NEVER_READ, fresh_step=known.timeline.step, settled_step=known.timeline.step)
    return {one.stored_id: begun for one in found}
