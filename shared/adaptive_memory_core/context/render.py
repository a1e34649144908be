"""Rendering of results into a prompt: as evidence, within a token budget, with a note on hits that do not fit."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timezone, tzinfo
from typing import Any

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.context.blocks import NO_OUTLINE, Outline, Page, session_blocks
from adaptive_memory_core.context.clean import Count, Summarise, estimated_tokens, extract, heading, summarised
from adaptive_memory_core.context.entries import ShownEntry, common_details, shortened_entry, shown_entries, shown_entry
from adaptive_memory_core.context.styles import STYLES, Style, block
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.fields import DEFAULT_FIELDS, Fields
from adaptive_memory_core.records import Neighbour, Scored

FOR_BRIEF = 16  # 1/16 of a budget is reserved for hits that do not fit in full; benchmarks/units.py
LEAST_SUMMARY = 12  # tokens needed to request a summary; guess
# Share of a block's best score that a result of its session needs to join it, by shape: benchmarks/units.py, and for
# whole episodes docs/research/conversations.md
BLOCK_SHARES = {"flat": 0.85, "episodes": 0.3, "top_down": 0.3}
LONGEST_SHARE = 0.25  # the share of a budget for one result if not all fit; benchmarks/shown_evidence.py
ROOM_FOR_HEADINGS = 1_000  # with fewer tokens, blocks that no reader chose have no headings; they cost 0.02 at 500
ROOM_FOR_NEIGHBOURS = 400  # with fewer tokens, hits are shown without neighbours; measured


def render(
    hits: Iterable[Scored],
    *,
    max_tokens: int | None = None,
    ids: bool = False,
    style: str = "text",
    now: float | None = None,
    zone: tzinfo = timezone.utc,
    count: Count = estimated_tokens,
    summarise: Summarise | None = None,
    resolve: bool = True,
    neighbours: Sequence[Neighbour] = (),
    merge: float = BLOCK_SHARES["flat"],
    longest: float = LONGEST_SHARE,
    cue: str = "",
    fields: Fields = DEFAULT_FIELDS,
    outline: Outline = NO_OUTLINE,
) -> str:
    """The hits as text, best first; hits that do not fit in full are summed up in a last entry.

    `ids` shows the ids as well, for a model that has to refer to them. `now` adds ages. Hits of one session are shown
    together in conversation order, with their `neighbours` if there is room. `outline` gives their episodes, which are
    shown if there is room. If not all hits fit, a long hit is cut to the sentences that answer the `cue`, at most a
    share `longest` of the budget. If not even a count of the hits fits, the result is empty.

    >>> render([])
    ''
    """
    check_rendering(max_tokens, style, count, summarise)
    count = _numbers(count)
    roomy = max_tokens is None or max_tokens >= ROOM_FOR_NEIGHBOURS
    around = neighbours if roomy else ()
    form, whole = STYLES[style], session_blocks(list(hits), around, merge=merge, fields=fields, outline=outline)
    if not whole.units:
        return ""
    shown = [
        shown_entry(one.record, now=now, zone=zone, resolve=resolve, fields=fields, whose=one.whose, older=one.older)
        for one in whole.lines
    ]
    spacious = max_tokens is None or max_tokens >= ROOM_FOR_HEADINGS or outline.judged
    layout = PageLayout(whole, shown, form, ids, count, spacious)
    text = block(form, layout.lines(range(len(shown))))
    if max_tokens is None or count(text) <= max_tokens:
        return text
    asked = words(cue)

    def cut(number: int, room: int) -> ShownEntry:
        record = whole.lines[number].record
        return shortened_entry(shown[number], record, asked, room, count, zone=zone, resolve=resolve)

    return _fitting(shared_out(layout, cut, max_tokens, longest), max_tokens, summarise)


def line(hit: Scored, *, ids: bool = False, now: float | None = None) -> str:
    """One memory on one line: its kind, date, certainty and text."""
    return STYLES["text"].entry(shown_entries([hit], now=now)[0], ids=ids)


def check_rendering(max_tokens: Any, style: Any, count: Any, summarise: Any) -> None:
    if max_tokens is not None and (type(max_tokens) is not int or max_tokens < 1):
        raise InvalidInputError(
            f"max_tokens is {shown(max_tokens)}. Give a whole number of at least 1, or None for no limit."
        )
    if not isinstance(style, str) or style not in STYLES:
        raise InvalidInputError(f"style is {shown(style)}. Give one of: {', '.join(STYLES)}.")
    if not callable(count) or (summarise is not None and not callable(summarise)):
        raise InvalidInputError(
            f"count is {shown(count)}, summarise is {shown(summarise)}. Give functions: from a text to its number of "
            "tokens, and from texts and a number of tokens to a text; summarise may be None."
        )

    if any(map(inspect.iscoroutinefunction, (count, summarise))):
        raise InvalidInputError("count and summarise are called, not awaited. Give functions that are not async.")


def _numbers(count: Count) -> Count:
    """The caller's `count`, which now raises InvalidInputError if its result is not a number of tokens."""

    def counted(text: str) -> int:
        number = count(text)
        if isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < math.inf:
            return number  # a fraction is fine
        raise InvalidInputError(f"count gave {shown(number)}. Give a function from a text to its number of tokens.")

    return count if count is estimated_tokens else counted


def _fitting(layout: PageLayout, room: int, summarise: Summarise | None) -> str:
    """The page with as many hits in full as fit, best first, and the rest in brief or at least counted."""
    full, form, count = _in_full(layout, room), layout.form, layout.count
    while True:
        chosen = {number for unit in full for number in unit}
        left = [own[0] for own in layout.page.units if own[0] not in chosen]
        written = layout.lines(chosen)
        for more in _rest(form, written, [layout.entries[number].in_brief for number in left], room, count, summarise):
            if count(text := block(form, [*written, *more])) <= room:
                return text
        if not full:
            return ""
        full = full[:-1]


def _in_full(layout: PageLayout, room: int) -> list[list[int]]:
    """The units to show in full: hits, best first, and their neighbours if they fit. The best hit may take all the room
    except for a count of the rest. A hit that is too long is skipped, and later hits are still tried."""
    form, count = layout.form, layout.count
    left = room - count(block(form, [form.missing(len(layout.page.units))]))
    chosen: dict[int, list[int]] = {}  # by block
    full: list[list[int]] = []
    for place, unit in enumerate(layout.page.by_worth):
        within = left if not full and place == 0 else left - room // FOR_BRIEF
        for part in (unit, unit[:1]):
            cost, added = _cost(layout, chosen, part)
            if cost <= within:
                left -= cost
                full.append(part)
                for number in added:
                    chosen.setdefault(layout.page.lines[number].block, []).append(number)
                break
        if left <= 0:
            break
    return full


def _cost(layout: PageLayout, chosen: dict[int, list[int]], part: Sequence[int]) -> tuple[int, list[int]]:
    """The cost of the part's lines that are not yet chosen, and their numbers."""
    cost, added = 0, []
    here: dict[int, list[int]] = {}
    for number in part:
        own = layout.page.lines[number].block
        there = here.setdefault(own, list(chosen.get(own, ())[:2]))
        if number not in there and number not in chosen.get(own, ()):
            cost += layout.cost(number, there)
            there.append(number)
            added.append(number)
    return cost, added


def _rest(
    form: Style, written: Sequence[str], rest: Sequence[str], room: int, count: Count, summarise: Summarise | None
) -> Iterable[list[str]]:
    """Ways to mention the rest, best first: the caller's summary, extracts, or just a count."""
    missing = len(rest)
    if not missing:
        yield []
        return
    left = room - count(block(form, [*written, form.brief(missing, ""), form.missing(missing)]))
    if summarise is not None and left >= LEAST_SUMMARY and (summary := summarised(summarise, rest, left, count)):
        yield [form.brief(missing, summary)]
    for share in (1.0, 0.8, 0.6, 0.3):  # escapes and tokenizer boundaries may cost more than estimated
        summary, number = extract(rest, int(left * share), count)
        if number:
            over = [form.missing(missing - number)] if number < missing else []
            yield [form.brief(number, summary), *over]
    yield [form.missing(missing)]


@dataclass(slots=True)
class PageLayout:
    """A page in a style, with cached costs. `entries` are in the order of the page's lines."""

    page: Page
    entries: Sequence[ShownEntry]
    form: Style
    ids: bool
    count: Count
    headings: bool = False  # whether blocks show their topic
    _shared: dict[int, ShownEntry] = field(default_factory=dict)
    _costs: dict[tuple[int, bool], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        members: dict[int, list[ShownEntry]] = {}
        for number, line in enumerate(self.page.lines):
            members.setdefault(line.block, []).append(self.entries[number])
        headings = self.page.headings if self.headings else {}
        self._shared = {
            block: replace(common_details(own), about=heading(headings.get(block, "")) or None)
            for block, own in members.items()
            if len(own) > 1
        }

    def showing(self, entries: Sequence[ShownEntry]) -> PageLayout:
        """The same page with other entries."""
        return PageLayout(self.page, entries, self.form, self.ids, self.count, self.headings)

    def lines(self, chosen: Iterable[int]) -> list[str]:
        """The chosen lines as text: block by block, each in conversation order."""
        blocks: dict[int, list[int]] = {}
        for number in sorted(chosen):
            blocks.setdefault(self.page.lines[number].block, []).append(number)
        return [line for block in sorted(blocks) for line in self._written(block, blocks[block])]

    def cost(self, number: int, shown: Sequence[int]) -> int:
        """The approximate cost of one more line, given the lines of its block that are already shown."""
        if not shown:
            return self._cost(number, alone=True)
        if len(shown) > 1:
            return self._cost(number, alone=False)
        above = self._heading(self.page.lines[number].block)
        first = self._cost(shown[0], alone=False) - self._cost(shown[0], alone=True)
        return sum(self.count(one + "\n") for one in above) + first + self._cost(number, alone=False)

    def _cost(self, number: int, *, alone: bool) -> int:
        known = self._costs.get((number, alone))
        if known is None:
            written = self._alone(number) if alone else self._within(number)
            known = self._costs[number, alone] = self.count(written + "\n")
        return known

    def _written(self, block: int, numbers: Sequence[int]) -> list[str]:
        if len(numbers) == 1:
            return [self._alone(numbers[0])]
        opening, *closing = self._heading(block)
        ordered = sorted(numbers, key=lambda number: self.page.lines[number].order)
        return [opening, *(self._within(number) for number in ordered), *closing]

    def _heading(self, block: int) -> list[str]:
        return [one for one in self.form.around(self._shared[block]) if one]

    def _alone(self, number: int) -> str:
        line, shown = self.page.lines[number], self.entries[number]
        if line.fact and self.headings:  # the heading shows its theme
            shown = replace(shown, about=heading(self.page.headings.get(line.block, "")) or None)
        return self.form.entry(shown, ids=self.ids)

    def _within(self, number: int) -> str:
        line = self.page.lines[number]
        own = self.entries[number].without(self._shared[line.block])
        shown = self.ids and (line.fact or line.rank is not None)
        return self.form.turn(own, ids=shown, found=line.rank is not None)


LEAST_EXCERPT = 100  # tokens that a long hit gets in any budget; guess
Cut = Callable[[int, int], ShownEntry]  # a line's number and a token limit, to an entry that fits


def shared_out(layout: PageLayout, cut: Cut, max_tokens: int, longest: float) -> PageLayout:
    """The layout with its long hits cut. If all hits fit with an even share each, all are shown, and the remaining room
    goes to the best hits, at most a share `longest` of the budget each and then whole. Otherwise each may take
    `longest`, and the last hits are left out."""
    most = max(LEAST_EXCERPT, int(longest * max_tokens))
    hits = [unit[0] for unit in layout.page.units]
    wide = _cut_all(layout, hits, cut, most)
    even = max_tokens // len(hits)
    if not LEAST_EXCERPT <= even < most:
        return wide
    narrow = _cut_all(layout, hits, cut, even)
    left = max_tokens - layout.count(block(layout.form, narrow.lines(range(len(narrow.entries)))))
    if left < 0:
        return wide
    shown = list(narrow.entries)
    for better in (wide.entries, layout.entries):
        for number in hits:
            more = layout.count(better[number].text) - layout.count(shown[number].text)
            if more <= left and better[number] != shown[number]:
                shown[number], left = better[number], left - more
    return layout.showing(shown)


def _cut_all(layout: PageLayout, hits: Sequence[int], cut: Cut, room: int) -> PageLayout:
    shown = list(layout.entries)
    for number in hits:
        shown[number] = cut(number, room)
    return layout.showing(shown)
