"""Which policy would serve several users better? Their questions together, and what each user's own ask for besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.tune import Evidence, Tuner, Tuning
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.verbs.blocking_and_async import Moment, User, blocking
from adaptive_memory_core.verbs.tuning import evidence_of

NOBODY = 'There is nobody to tune for. Give pairs by user: {"ana": [("which tea?", ["id of a record"]), ...]}.'
_evidence = blocking(evidence_of)


def tuned_together(
    users: Mapping[Any, tuple[User, Any]],
    policy: Policy,
    tuner: Tuner,
    *,
    each: bool,
    k: int,
    since: Moment | None,
    until: Moment | None,
) -> Tuning:
    """One policy for all of them; with `each`, also what every user's own questions ask for from there on, drawn back
    to it the more, the fewer they are."""
    parts = {
        name: _evidence(user, pairs, policy, k=k, since=since, until=until) for name, (user, pairs) in users.items()
    }
    common = Evidence.joined(list(parts.values())).tuned(policy, tuner)
    if not each:
        return common
    return replace(common, users={name: one.tuned(common.policy, tuner) for name, one in parts.items()})


def by_user(pairs: object, user: object) -> Mapping[Any, Any]:
    """The pairs of each user, or an error that says what to give."""
    if user is not None:
        raise InvalidInputError(
            f"Both pairs and user={shown(user)} are given. The pairs name their users. Leave user out."
        )
    if not isinstance(pairs, Mapping) or not pairs:
        raise InvalidInputError(f"The pairs are {shown(pairs)}. {NOBODY}")
    return pairs


def each_apart(each: object, pairs: object, user: object) -> bool:
    """Whether every user is tuned apart as well: only where each has a name that the caller gave."""
    apart = check.flag(each, "each")
    if apart and pairs is None and user is None:
        raise InvalidInputError("each=True stands for users that are named. Give user=[...], or pairs by user.")
    return apart
