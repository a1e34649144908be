"""Which policy would serve several users better? Their questions together, and what each user's own ask for besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.evidence import Evidence
from adaptive_memory_core.evaluate.tune import Tuner, Tuning
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.verbs.blocking_and_async import User, blocking
from adaptive_memory_core.verbs.tuning import evidence_of

NOBODY = 'There is nobody to tune for. Give pairs by user: {"ana": [("which tea?", ["id of a record"]), ...]}.'
_evidence = blocking(evidence_of)


def tuned_together(
    users: Mapping[Any, tuple[User, Any]], policy: Policy, tuner: Tuner, *, each: bool, k: int
) -> Tuning:
    """One policy for all of them; with `each`, also what every user's own questions ask for from there on, drawn back
    to it the more, the fewer they are."""
    parts = {name: _evidence(user, pairs, policy, k=k) for name, (user, pairs) in users.items()}
    if not parts:
        raise InvalidInputError(NOBODY)
    common = Evidence.joined(list(parts.values())).tuned(policy, tuner)
    if not each:
        return common
    return replace(common, users={name: one.tuned(common.policy, tuner) for name, one in parts.items()})


def by_user(pairs: object) -> Mapping[Any, Any]:
    """The pairs of each user, or an error that says what to give."""
    if not isinstance(pairs, Mapping) or not pairs:
        raise InvalidInputError(f"The pairs are {pairs!r:.80}. {NOBODY}")
    return pairs
