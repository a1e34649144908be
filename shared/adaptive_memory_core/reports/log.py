"""What does the log report? Past recalls, and the changes of records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PROPENSITY, PROPENSITY_UNIT = "propensity", 1_000_000  # of what a replay needs: in parts of 1


@dataclass(frozen=True, slots=True)
class LoggedCandidate:
    """One line of the log: a candidate of a past recall. `reason` is None for the ones that were returned.

    `then` is what a replay needs besides: the read state of that moment, as whole numbers (`learn/logged_state.py`).
    """

    id: str
    score: float | None
    parts: Mapping[str, float]
    signals: Mapping[str, float]
    reason: str | None
    then: Mapping[str, int] = field(default_factory=dict, repr=False)

    @property
    def propensity(self) -> float:
        """The chance with which it was to be returned: 1 or 0, unless the policy had places drawn by lot.

        >>> LoggedCandidate("a", 0.5, {}, {}, None).propensity, LoggedCandidate("a", 0.5, {}, {}, "beyond k").propensity
        (1.0, 0.0)
        """
        certain = float(self.reason is None)
        return self.then[PROPENSITY] / PROPENSITY_UNIT if PROPENSITY in self.then else certain


@dataclass(frozen=True, slots=True)
class LoggedRecall:
    """A past recall as the ledger keeps it: enough to explain it and to rank it again under another policy.

    `turn` names the question that it was made for, where the caller named one. `over` is "everyone" where everyone's
    records were read beside the user's own.
    """

    id: str
    step: int
    at: float
    cue: str
    k: int
    policy_hash: str
    candidates: tuple[LoggedCandidate, ...]
    turn: str | None = None
    over: str | None = None

    @property
    def kept(self) -> tuple[LoggedCandidate, ...]:
        return tuple(candidate for candidate in self.candidates if candidate.reason is None)


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the audit trail: what happened to a record's state, at which of the user's recalls, by whom.

    `what` is "remembered", "pinned", "unpinned", "demoted", "helpful", "unhelpful", "pruned" or "judged by a reader".
    `by` is "recall <id>" or the name that the caller gave.
    """

    id: str
    at: float
    step: int
    what: str
    by: str
