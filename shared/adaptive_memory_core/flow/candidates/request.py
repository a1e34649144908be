"""What does one recall ask for? Its checked arguments, and the time that the cue asks about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adaptive_memory_core.cue.time.intent import NO_INTENT, Intent
from adaptive_memory_core.fields import DEFAULT_FIELDS, Fields
from adaptive_memory_core.flow.calls.foreign_calls import Theirs
from adaptive_memory_core.flow.ports import Where
from adaptive_memory_core.flow.ports.judges import JudgePort
from adaptive_memory_core.frozen import quickly_made
from adaptive_memory_core.learn.verdicts import StateHistory
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, Record, Scope

LATER_TOO = 4  # times as many candidates as of an earlier day, since later ones are refused; guess
Refuse = Callable[[Record], str | None]  # why the caller will not have a record, or None


@quickly_made
@dataclass(frozen=True, slots=True)
class Request:
    """One call of recall, checked."""

    id: str
    scope: Scope
    cue: Cue
    k: int
    now: float
    where: Where | None
    policy: Policy
    regime: Regime
    reinforce: bool
    turn: str | None = None
    intent: Intent = NO_INTENT
    refuse: Refuse | None = None
    notes: tuple[str, ...] = ()
    fields: Fields = DEFAULT_FIELDS
    reranker: Theirs | None = None
    same_fact: Theirs | None = None
    reader: Theirs | None = None
    judge: JudgePort | None = None
    draws: bool = False  # whether places may be drawn by lot, where the policy says so
    looks_back: bool = False  # whether the caller named a `now` that lies in the past
    as_of: float | None = None  # the day that is asked as of, where that lies in the past
    past: StateHistory | None = None  # what is known of the reads up to that day
    words_alone: bool = True  # whether words may answer alone if the embedder fails

    @property
    def candidates(self) -> int:
        """How many records each source is asked for."""
        most = max(self.policy.recall_k, self.k)
        return most if self.as_of is None else LATER_TOO * most
