"""What does a caller get back from a recall? A sequence of hits that can explain itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from adaptive_memory_core.context.explain import explain, short
from adaptive_memory_core.context.render import render
from adaptive_memory_core.cue.intent import NO_INTENT, Intent
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.records import Cue, Dropped, Scope, Scored


@dataclass(frozen=True, slots=True)
class Recall(Sequence[Scored]):
    """The hits of one recall, best first, and everything there is to know about how they came about.

    `step` is the user's recall counter after this recall, or None where the recall changed nothing. `trace` holds
    notes on what went differently: a read that could not be recorded, a channel that was left out.
    """

    id: str
    scope: Scope
    cue: Cue
    k: int
    now: float
    policy: Policy
    kept: tuple[Scored, ...]
    dropped: tuple[Dropped, ...] = ()
    step: int | None = None
    trace: tuple[str, ...] = field(default=())
    intent: Intent = NO_INTENT

    @overload
    def __getitem__(self, index: int) -> Scored: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Scored]: ...
    def __getitem__(self, index: int | slice) -> Scored | Sequence[Scored]:
        return self.kept[index]

    def __len__(self) -> int:
        return len(self.kept)

    def __iter__(self) -> Iterator[Scored]:
        return iter(self.kept)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(hit.id for hit in self.kept)

    @property
    def candidates(self) -> int:
        """How many records were looked at."""
        return len(self.kept) + len(self.dropped)

    def explain(self) -> str:
        """A table in plain text: each hit with the parts of its score, then what was dropped and why."""
        found = f"{len(self)} of {self.candidates} candidates for {short(self.cue.text)!r}"
        return explain(f"recall {self.id} for {self.scope}: {found}", self.kept, self.dropped, self.trace)

    def render(self, max_tokens: int | None = None) -> str:
        """The hits as text for a prompt, within a budget of (estimated) tokens."""
        return render(self.kept, max_tokens=max_tokens)
