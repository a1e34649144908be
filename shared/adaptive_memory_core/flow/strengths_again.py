"""How strong would past candidates have been under another decay? The reads of then, gone through again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.learn.decay import PacedSpan, Timeline, met, read, strength
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit, ReadState, Seen
from adaptive_memory_core.reports import LoggedRecall

Strengths = Mapping[str, Mapping[str, float]]  # by recall and record; 1 for those not named


class StrengthsAgain:
    """The strengths under each policy, worked out once for all that have the same decay.

    A record begins where the log first names it, at full strength, and is read where a recall returned it.
    """

    def __init__(self, lines: Sequence[LoggedRecall], wanted: frozenset[str]) -> None:
        self._lines, self._wanted = lines, wanted
        self._known: dict[object, Strengths] = {}

    def under(self, policy: Policy, recall_id: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The candidates of that recall, as strong as they would have been."""
        strengths = {} if policy.pace.still else self._of(policy).get(recall_id, {})
        if all(hit.record.read.strength == strengths.get(hit.record.id, 1.0) for hit in hits):
            return hits
        return [_with_strength(hit, strengths.get(hit.record.id, 1.0)) for hit in hits]

    def _of(self, policy: Policy) -> Strengths:
        key = (policy.decay, policy.refresh_floor_seconds)
        if key not in self._known:
            self._known[key] = strengths_again(self._lines, policy, self._wanted)
        return self._known[key]


def strengths_again(lines: Sequence[LoggedRecall], policy: Policy, wanted: frozenset[str]) -> Strengths:
    """What is left of each candidate in the wanted ones of these recalls, which are in their order.

    >>> from adaptive_memory_core.reports import LoggedCandidate
    >>> def line(step): return LoggedRecall(
    ...     f"r{step}", step, 100.0 * step, "tea", 1, "p", (LoggedCandidate("a", 0.5, {}, {}, "beyond k"),))
    >>> arm = Policy().replace(decay={"rate": 0.5, "grace": 1})
    >>> strengths_again([line(1), line(2), line(3), line(4)], arm, frozenset(["r4"]))
    {'r4': {'a': 0.25}}
    """
    states: dict[str, ReadState] = {}
    found: dict[str, dict[str, float]] = {}
    pace = policy.pace
    for line in lines:
        timeline = Timeline(line.step - 1, (PacedSpan(0, -math.inf, pace),))
        for one in line.candidates:
            if one.id not in states:
                states[one.id] = met(timeline, ReadState(), now=line.at)
        if line.id in wanted:
            left = {one.id: strength(states[one.id], None, timeline, now=line.at) for one in line.candidates}
            found[line.id] = {name: value for name, value in left.items() if value < 1.0}
        for one in line.kept:
            states[one.id] = read(Seen(states[one.id], None), policy=policy, timeline=timeline, now=line.at)
    return found


def _with_strength(hit: Hit, left: float) -> Hit:
    read_then = replace(hit.record.read, strength=left)
    return replace(hit, record=replace(hit.record, read=read_then))
