"""How is what verdicts have made of the weights exported and imported? By user, within the bounds of the policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.learn.lead_weights import NOTHING_LEARNED, LeadWeights
from adaptive_memory_core.learn.lead_weights import moved as within
from adaptive_memory_core.learn.usefulness_weight import moved
from adaptive_memory_core.policy.usefulness import Usefulness
from adaptive_memory_core.records import Scope
from adaptive_memory_core.shown_in_errors import shown

MOST_OCTAVES, MOST_VERDICTS = 1e3, 2**62  # of a state that is read; the policy's bounds are far narrower


def exported_weights(ports: Ports, scope: Scope) -> Flow[dict[str, Any]]:
    """How far usefulness has led or misled, and by how many octaves channels and signals count more, as plain JSON."""
    known = yield from ask(ports.ledger.states.known, scope, [])
    learned = known.lead_weights
    weights = {"octaves": dict(learned.octaves), "verdicts": learned.verdicts}
    return {"balance": known.balance, **({} if learned == NOTHING_LEARNED else {"weights": weights})}


def check_weights(given: object) -> None:
    """Refuse a state whose weights are none."""
    _balance(given)
    _learned(given)


def restore_weights(ports: Ports, scope: Scope, given: object, useful: Usefulness) -> Flow[None]:
    """Let the weights count as they did elsewhere, where no verdict has moved them here."""
    balance, learned = moved(_balance(given), 0.0, useful), within(_learned(given), {}, 0, useful)
    known = yield from ask(ports.ledger.states.known, scope, [])
    if balance != 0.0 and known.balance == 0.0:
        yield from ask(ports.ledger.verdicts.set_balance, scope, balance)
    if learned != NOTHING_LEARNED and known.lead_weights == NOTHING_LEARNED:
        yield from ask(ports.ledger.verdicts.set_lead_weights, scope, learned)


def _balance(given: object) -> float:
    """How far usefulness had led or misled: 0 in a state from before that was kept."""
    balance = given.get("balance", 0.0) if isinstance(given, Mapping) else 0.0
    if not _is_number(balance):
        raise InvalidInputError(
            f"The state's 'balance' is {shown(balance)}. It is a finite number of octaves, 0 for none. Export the "
            "state anew, or leave 'balance' out."
        )
    return _bounded(balance)


def _learned(given: object) -> LeadWeights:
    """What the weights count more: nothing in a state from before that was kept."""
    weights = given.get("weights") if isinstance(given, Mapping) else None
    if weights is None:
        return NOTHING_LEARNED
    octaves: Any = weights.get("octaves") if isinstance(weights, Mapping) else None
    verdicts: Any = weights.get("verdicts") if isinstance(weights, Mapping) else None
    usable = isinstance(octaves, Mapping) and all(isinstance(one, str) and _is_number(octaves[one]) for one in octaves)
    if not usable or not _is_number(verdicts) or verdicts < 0:
        raise InvalidInputError(
            f"The state's 'weights' are {shown(weights)}. They have 'octaves', a number by name, and 'verdicts', how "
            "many they come from. Export the state anew, or leave 'weights' out."
        )
    return LeadWeights({name: _bounded(one) for name, one in octaves.items()}, int(min(verdicts, MOST_VERDICTS)))


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and -math.inf < value < math.inf


def _bounded(octaves: float) -> float:
    """
    >>> _bounded(10**400), _bounded(0.5)
    (1000.0, 0.5)
    """
    return float(min(MOST_OCTAVES, max(-MOST_OCTAVES, octaves)))  # an int may be too large for a float
