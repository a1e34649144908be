"""The answer to a recall: a sequence of results that can explain and render itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timezone, tzinfo
from html import escape
from typing import Any, Literal, overload

from adaptive_memory_core.context.blocks import NO_OUTLINE, Outline
from adaptive_memory_core.context.clean import Count, Summarise, estimated_tokens
from adaptive_memory_core.context.entries import date_of
from adaptive_memory_core.context.reasons import reasons
from adaptive_memory_core.context.render import BLOCK_SHARES, render
from adaptive_memory_core.cue.time.intent import NO_INTENT, Intent
from adaptive_memory_core.fields import DEFAULT_FIELDS, Fields
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, Dropped, Neighbour, Scope, Scored
from adaptive_memory_core.score.signals import NO_USE, Use

MOST_PRINTED, MOST_ROWS = 8, 20  # hits that print() and a notebook show
ROW_WIDTH = 160  # characters of a text in a notebook
_SIDES = {-1: "before", 1: "after"}


@dataclass(frozen=True, slots=True)
class Recall(Sequence[Scored]):
    """The hits of one recall, best first, and all details of how they were found.

    `step` is the user's recall counter after this recall, or None if the recall changed nothing. `trace` contains notes
    on irregularities: a read that could not be recorded, a channel that was left out. `neighbours` are the messages
    right before and after the hits, if the policy asks for them: shown with the hits, but not hits. `unrelated` is the
    share of unrelated questions that find something as good here; None if it was not measured. `because` gives, by id,
    the sources' reasons for a hit in words: an earlier question that it answered, the names and sentences by which the
    graph reached it. `outline` gives the episode and theme of each hit, if the policy's shape asks for it.
    `propensities` gives, by id, the candidates' chances of being returned, if the policy draws places at random
    (`explore`).
    """

    id: str
    scope: Scope
    cue: Cue
    k: int
    now: float
    policy: Policy
    kept: Sequence[Scored]
    dropped: Sequence[Dropped] = ()
    step: int | None = None
    trace: tuple[str, ...] = field(default=())
    intent: Intent = NO_INTENT
    neighbours: tuple[Neighbour, ...] = ()
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

    def __repr__(self) -> str:
        best = f", best {self.kept[0].score:.3f} {short(self.kept[0].text)!r}" if self.kept else ""
        return f"<Recall {short(self.id)} of {_whose(self)}: {_found(self)}{best}>"

    def __str__(self) -> str:
        """The query and the best hits, one line each; at most ten lines."""
        lines = [f"{rank}. {hit.score:.3f}  {short(hit.text)}" for rank, hit in enumerate(self.kept[:MOST_PRINTED], 1)]
        more = [f"... and {len(self) - MOST_PRINTED:,} more"] if len(self) > MOST_PRINTED else []
        return "\n".join([f"{_found(self)}, {_whose(self)}", *lines, *more])

    def _repr_html_(self) -> str:
        """A table for notebooks, with the best hits."""
        head = "".join(f"<th>{name}</th>" for name in ("#", "score", "id", "text"))
        best = enumerate(self.kept[:MOST_ROWS], 1)
        cells = [(str(rank), f"{hit.score:.3f}", short(hit.id), short(hit.text, ROW_WIDTH)) for rank, hit in best]
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        more = f"<p>... and {len(self) - MOST_ROWS:,} more</p>" if len(self) > MOST_ROWS else ""
        title = escape(f"{_found(self)}, {_whose(self)}")
        return f"<p>{title}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"

    def to_dict(self) -> dict[str, Any]:
        """The recall as plain values for `json.dumps`: query, user, hits, dropped candidates and notes."""
        return {
            "id": self.id,
            "query": self.cue.text,
            "user": self.scope.name,
            "k": self.k,
            "now": float(self.now),
            "step": self.step,
            "hits": [hit.to_dict() for hit in self.kept],
            "dropped": [{"id": one.id, "reason": one.reason, "score": _number(one.score)} for one in self.dropped],
            "notes": list(self.trace),
        }

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(hit.id for hit in self.kept)

    @property
    def candidates(self) -> int:
        """The number of records that were candidates."""
        return len(self.kept) + len(self.dropped)

    def explain(self) -> str:
        """Plain text: a table of the hits with the parts of their scores, a sentence per hit with the reasons, then
        the dropped candidates with their reasons."""
        notes = (
            *_time(self.intent),
            *_use(self.use),
            *_because(self.because),
            *_around(self.neighbours),
            *_drawn(self.kept, self.propensities),
            *_chance(self.unrelated),
            *self.trace,
        )
        others = [one.scored.record for one in self.dropped if one.scored is not None]
        why = reasons(self.kept, others, self.cue.own_words, self.fields)
        return explanation_text(
            f"recall {self.id} for {self.scope}: {_found(self)}", self.kept, why, self.dropped, notes
        )

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
        """The hits for a prompt, best first: evidence with kind, date, age, provenance and confidence.

        Hits of one conversation are shown together in conversation order. If the policy asks for `neighbours` and
        there is room for 400 tokens, the turns next to them are shown as well. `max_tokens` is the budget, counted by
        `count` (omitted: an estimate). Hits that do not fit in full are summed up in one last entry, by
        `summarise(texts, max_tokens)` or else in extracts; hits that do not fit there either are counted. `style` is
        "text", "xml", "markdown" or "messages": a list with one user message, because memories are evidence and do not
        belong in a system message. No memory's words can end the block or pass for another entry. `resolve` adds the
        date to words such as "yesterday" in a memory; dates are in `zone`.
        """
        options: dict[str, Any] = {"ids": ids, "zone": zone, "resolve": resolve, "count": count, "summarise": summarise}
        options |= {"neighbours": self.neighbours, "outline": self.outline, "merge": BLOCK_SHARES[self.policy.shape]}
        options |= {"cue": self.cue.own_words, "fields": self.fields}
        shown = self.kept if max_tokens is None else (*self.kept, *self.outline.more)
        text = render(shown, max_tokens=max_tokens, style=style, now=self.now, **options)
        if style != "messages":
            return text
        return [{"role": "user", "content": text}] if text else []


def _found(recall: Recall) -> str:
    return f"{len(recall)} of {recall.candidates} candidates for {short(recall.cue.text)!r}"


def _whose(recall: Recall) -> str:
    return short(str(recall.scope))


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _use(use: Use) -> list[str]:
    """A note on the weight of usefulness, which depends on this user's feedback."""
    if not 0.0 < use.gain < 1.0:
        return []
    return [f"having been helpful recently counts {use.gain:.2f} of its full weight, as far as it has helped so far"]


def _because(because: Mapping[str, Sequence[str]]) -> list[str]:
    """The reasons that sources gave for hits."""
    return [f"{short(one)} {reason}" for one, reasons in because.items() for reason in reasons]


def _around(neighbours: tuple[Neighbour, ...]) -> list[str]:
    """Notes on the neighbours that are shown with hits."""
    return [f"{short(one.record.id)} was said right {_SIDES[one.offset]} {short(one.of)}" for one in neighbours]


def _time(intent: Intent) -> list[str]:
    """A note on how the time in the query was understood."""
    if not intent:
        return []
    phrases = ", ".join(repr(short(phrase)) for phrase in intent.phrases)
    meant = [
        " to ".join("..." if end is None else date_of(end) for end in (one.start, one.end)) for one in intent.windows
    ]
    return [f"asked about time: {phrases}, taken for {' and '.join(meant) or f'the {intent.lean}'}"]


def _drawn(kept: Sequence[Scored], propensities: Mapping[str, float]) -> list[str]:
    """Notes on hits that were drawn by lot."""
    chances = [(one.id, propensities.get(one.id, 1.0)) for one in kept]
    return [f"{short(one)} was drawn by lot, with a chance of {chance:.2f}" for one, chance in chances if chance < 1.0]


def _chance(unrelated: float | None) -> list[str]:
    return [] if unrelated is None else [f"{100 * unrelated:.1f} % of unrelated questions find something as good here"]


TEXT_WIDTH = 60


def explanation_text(
    title: str, kept: Sequence[Scored], reasons: Sequence[str], dropped: Sequence[Dropped], notes: Sequence[str]
) -> str:
    """The hits with their score parts, a sentence per hit, the dropped candidates with their reasons, and the notes.

    >>> print(explanation_text("recall 1", [], [], [Dropped("tax", "expired")], ["a note"]))
    recall 1
    nothing found
    dropped  score  because
    tax             expired
    note: a note
    """
    why = (f"{rank}. {reason}" for rank, reason in enumerate(reasons, start=1))
    return "\n".join([title, *_hits(kept), *why, *_dropped(dropped), *(f"note: {note}" for note in notes)])


def short(text: str, width: int = TEXT_WIDTH) -> str:
    """The text as one printable line of at most `width` characters.

    >>> short("a\\nlong  story", 8)
    'a long …'
    """
    line = "".join(character if character.isprintable() else " " for character in text[: 4 * width])
    line = " ".join(line.split())
    return line if len(line) <= width and len(text) <= 4 * width else line[: width - 1] + "…"


def _hits(kept: Sequence[Scored]) -> Iterable[str]:
    if not kept:
        return ["nothing found"]
    names = list(dict.fromkeys(name for hit in kept for name in hit.parts))
    rows = [["#", "score", *names, "(raw)", "reads", "id", "text"]]
    rows += [_row(rank, hit, names) for rank, hit in enumerate(kept, start=1)]
    return aligned_columns(rows)


def _row(rank: int, hit: Scored, names: Sequence[str]) -> list[str]:
    parts = [f"{hit.parts[name]:.3f}" if name in hit.parts else "" for name in names]
    reads = str(hit.record.read.retrieval_count)
    name = short(hit.id) if hit.shared is None else f"{short(hit.id)} (shared: {short(hit.shared)})"
    if hit.older_than is not None:
        newest = "may be" if hit.older_perhaps else "is"
        name = f"{name} (older: the newest {newest} {short(hit.older_than)})"
    return [str(rank), f"{hit.score:.3f}", *parts, f"({hit.similarity:.3f})", reads, name, short(hit.text)]


def _dropped(dropped: Sequence[Dropped]) -> Iterable[str]:
    if not dropped:
        return []
    rows = [["dropped", "score", "because"]]
    rows += [
        [short(drop.id), "" if drop.score is None else f"{drop.score:.3f}", short(drop.reason)] for drop in dropped
    ]
    return aligned_columns(rows)


def aligned_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines with aligned columns.

    >>> aligned_columns([["a", "b"], ["long", "c"]])
    ['a     b', 'long  c']
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
