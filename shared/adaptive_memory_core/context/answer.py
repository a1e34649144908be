"""What does a caller get back from a recall? A sequence of hits that can explain and render itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timezone, tzinfo
from typing import Any, Literal, overload

from adaptive_memory_core.context.ages import date
from adaptive_memory_core.context.believed import believed
from adaptive_memory_core.context.brief import Summarise
from adaptive_memory_core.context.explain import explain, short
from adaptive_memory_core.context.outline import NO_OUTLINE, Outline
from adaptive_memory_core.context.render import render
from adaptive_memory_core.context.token_estimate import Count, estimated_tokens
from adaptive_memory_core.cue.time.intent import NO_INTENT, Intent
from adaptive_memory_core.fields import DEFAULT_FIELDS, Fields
from adaptive_memory_core.frozen import quickly_made
from adaptive_memory_core.let_others_run import under_way
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, Dropped, Neighbour, Scope, Scored
from adaptive_memory_core.score.usefulness import NO_USE, Use

_SIDES = {-1: "before", 1: "after"}


@quickly_made
@dataclass(frozen=True, slots=True)
class Recall(Sequence[Scored]):
    """The hits of one recall, best first, and everything there is to know about how they came about.

    `step` is the user's recall counter after this recall, or None where the recall changed nothing. `trace` holds
    notes on what went differently: a read that could not be recorded, a channel that was left out. `beside` is what was
    said right before and after the hits, where the policy asks for it: shown with them, and no hits.
    `unrelated` is the share of unrelated questions that find something as good here; None where that is not known, or
    not asked for. `because` says of hits, by id, in words why sources named them: an earlier
    question that they answered, the names and sentences by which the graph came to them. `outline` says which episode
    and theme they are part of, where the policy's shape asks for it. `propensities` holds, by id, the chance with which
    hits and others were to be returned, where the policy has places drawn by lot (`explore`).
    """

    id: str
    scope: Scope
    cue: Cue
    k: int
    now: float
    policy: Policy
    kept: tuple[Scored, ...]
    dropped: Sequence[Dropped] = ()
    step: int | None = None
    trace: tuple[str, ...] = field(default=())
    intent: Intent = NO_INTENT
    beside: tuple[Neighbour, ...] = ()
    fields: Fields = field(default=DEFAULT_FIELDS, repr=False)
    unrelated: float | None = None
    use: Use = NO_USE
    because: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)  # why hits were found, by id
    outline: Outline = field(default=NO_OUTLINE, repr=False)
    propensities: Mapping[str, float] = field(default_factory=dict, repr=False)

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
        notes = (
            *_time(self.intent),
            *believed([*self.kept, *(one.scored for one in self.dropped if one.scored is not None)], self.policy),
            *_use(self.use),
            *_because(self.because),
            *_around(self.beside),
            *_drawn(self.kept, self.propensities),
            *_chance(self.unrelated),
            *self.trace,
        )
        return explain(f"recall {self.id} for {self.scope}: {found}", self.kept, self.dropped, notes)

    @overload
    def render(
        self,
        max_tokens: int | None = ...,
        style: Literal["text", "xml", "markdown"] = ...,
        *,
        count: Count = ...,
        summarise: Summarise | None = ...,
        ids: bool = ...,
        zone: tzinfo = ...,
        resolve: bool = ...,
    ) -> str: ...
    @overload
    def render(
        self,
        max_tokens: int | None = ...,
        *,
        style: Literal["messages"],
        count: Count = ...,
        summarise: Summarise | None = ...,
        ids: bool = ...,
        zone: tzinfo = ...,
        resolve: bool = ...,
    ) -> list[dict[str, str]]: ...
    def render(
        self,
        max_tokens: int | None = None,
        style: str = "text",
        *,
        count: Count = estimated_tokens,
        summarise: Summarise | None = None,
        ids: bool = False,
        zone: tzinfo = timezone.utc,
        resolve: bool = True,
    ) -> str | list[dict[str, str]]:
        """The hits for a prompt, best first: evidence with kind, date, age, provenance and how sure it is.

        Hits of one conversation stand together as they were said, and where the policy asks for `intact` units and
        there is room for 400 tokens, with what was said beside them. `max_tokens` is the budget, counted by `count`
        (omitted: an estimate). What does not fit in full is summed up in one last entry, by
        `summarise(texts, max_tokens)` or else in extracts; what not even that can name is counted. `style` is "text",
        "xml", "markdown" or "messages": a list with one message of the user, for memories are evidence and belong in
        no system message. No memory's words can end the block or pass for another entry. `resolve` adds to
        "yesterday" in a memory the day it meant; days are those of `zone`.
        """
        options: dict[str, Any] = {"ids": ids, "zone": zone, "resolve": resolve, "count": count, "summarise": summarise}
        options |= {"beside": self.beside, "outline": self.outline, "longest": self.policy.shown.longest}
        options["merge"] = self.policy.shaping.joining(self.policy.shown.merge)
        options["headings"] = self.policy.shaping.headings
        options |= {"cue": self.cue.own_words, "fields": self.fields}
        with under_way():
            shown = self.kept if max_tokens is None else (*self.kept, *self.outline.more)
        text = render(shown, max_tokens=max_tokens, style=style, now=self.now, **options)
        if style != "messages":
            return text
        return [{"role": "user", "content": text}] if text else []


def _use(use: Use) -> list[str]:
    """How far this user's verdicts have moved the weight of usefulness."""
    moved = {name: one for name, one in use.leads.items() if abs(one - 1.0) >= 0.005}
    leads = ", ".join(f"{short(name)} {one:.2f}" for name, one in sorted(moved.items()))
    said = (
        [f"times what the policy says, channels and signals count {leads}: so this user's verdicts have it"]
        if moved
        else []
    )
    if use.gain == 1.0:
        return said
    return [
        *said,
        f"having been of use counts {use.gain:.2f} times as much as by default: so this user's verdicts have it",
    ]


def _because(because: Mapping[str, Sequence[str]]) -> list[str]:
    """Why records are among the hits, where a source says more than a number."""
    return [f"{short(one)} {reason}" for one, reasons in because.items() for reason in reasons]


def _around(beside: tuple[Neighbour, ...]) -> list[str]:
    """What is shown though nobody looked for it."""
    return [f"{short(one.record.id)} was said right {_SIDES[one.offset]} {short(one.of)}" for one in beside]


def _time(intent: Intent) -> list[str]:
    """What was understood of the time asked about."""
    if not intent:
        return []
    said = ", ".join(repr(short(phrase)) for phrase in intent.phrases)
    meant = [" to ".join("..." if end is None else date(end) for end in (one.start, one.end)) for one in intent.windows]
    return [f"asked about time: {said}, taken for {' and '.join(meant) or f'the {intent.lean}'}"]


def _drawn(kept: Sequence[Scored], propensities: Mapping[str, float]) -> list[str]:
    """Which hits were drawn by lot."""
    chances = [(one.id, propensities.get(one.id, 1.0)) for one in kept]
    return [f"{short(one)} was drawn by lot, with a chance of {chance:.2f}" for one, chance in chances if chance < 1.0]


def _chance(unrelated: float | None) -> list[str]:
    return [] if unrelated is None else [f"{100 * unrelated:.1f} % of unrelated questions find something as good here"]
