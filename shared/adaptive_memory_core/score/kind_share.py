"""How does the kind of a record change its score? Each kind keeps a share of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.policy.kind_weights import KindWeights, kept_share
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scored

KIND = "kind"  # the name of the part: what the kind takes away, 0 or less


def weighed(scored: Sequence[Scored], policy: Policy) -> Sequence[Scored]:
    """The hits, best first, each with the share of its score that its kind keeps.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> hits = [Scored(Hit(Record(kind, "x", kind=kind), 0.5, ""), 0.5, {"similarity": 0.5}, {})
    ...         for kind in ("reflection", "fact")]
    >>> [(one.id, one.parts) for one in weighed(hits, Policy(kind_weights={"reflection": 0.75}))]
    [('fact', {'similarity': 0.5, 'kind': 0.0}), ('reflection', {'similarity': 0.5, 'kind': -0.125})]
    >>> weighed(hits, Policy()) == hits
    True
    """
    if not policy.kind_weights:
        return scored
    weights: KindWeights = tuple(dict(policy.kind_weights).items())
    return sorted((_weighed(one, weights) for one in scored), key=lambda one: -one.score)  # stable: ties stay


def _weighed(one: Scored, weights: KindWeights) -> Scored:
    share = kept_share(one.record.kind, weights)
    parts = {**one.parts, KIND: one.score * share - one.score}
    return replace(one, score=one.score * share, parts=parts, signals={**one.signals, KIND: share})
