"""How are hits written into a prompt? As evidence, within a budget of tokens, none left out silently."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from datetime import timezone, tzinfo
from typing import Any

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.context.blocks import page
from adaptive_memory_core.context.brief import Summarise, extract, summarised
from adaptive_memory_core.context.entries import Entry, entries, entry, shortened
from adaptive_memory_core.context.layout import Layout
from adaptive_memory_core.context.outline import NO_OUTLINE, Outline
from adaptive_memory_core.context.shares_of_budget import shared_out
from adaptive_memory_core.context.styles import HEADER, STYLES, Style, block
from adaptive_memory_core.context.token_estimate import Count, estimated_tokens
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.fields import DEFAULT_FIELDS, Fields
from adaptive_memory_core.policy.shown import Shown
from adaptive_memory_core.records import Neighbour, Scored
from adaptive_memory_core.shown_in_errors import shown

__all__ = ["HEADER", "estimated_tokens", "line", "render"]
FOR_BRIEF = 16  # the share of a budget, one in so many, kept for what does not fit in full; benchmarks/units.py
LEAST_SUMMARY = 12  # tokens below which nobody is asked for a summary; guess
ROOM_FOR_HEADINGS = 1_000  # tokens below which blocks do not say what they are about; they cost .02 at 500
ROOM_FOR_NEIGHBOURS = 400  # tokens below which hits are shown without what stands beside them; measured


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
    beside: Sequence[Neighbour] = (),
    merge: float = Shown().merge,
    longest: float = Shown().longest,
    cue: str = "",
    fields: Fields = DEFAULT_FIELDS,
    outline: Outline = NO_OUTLINE,
    headings: bool = False,
) -> str:
    """The hits best first as one block of text; what does not fit in full is summed up in a last entry.

    `ids` shows each one's id as well, for a model that shall refer to it. `now` gives ages. Hits of one session stand
    together in the order they were said in, with those `beside` them where there is room; `outline` says of which
    episodes they are, and with `headings` the page says it too. Where not all fit, a long one
    is cut to the sentences that answer the `cue`, at most a share `longest` of the budget. Where not even a count of
    the hits fits, nothing is rendered.

    >>> render([])
    ''
    """
    checked(max_tokens, style, count, summarise)
    count = _numbers(count)
    roomy = max_tokens is None or max_tokens >= ROOM_FOR_NEIGHBOURS
    around = beside if roomy else ()
    form, whole = STYLES[style], page(list(hits), around, merge=merge, fields=fields, outline=outline)
    if not whole.units:
        return ""
    shown = [
        entry(one.record, now=now, zone=zone, resolve=resolve, fields=fields, whose=one.whose, older=one.older)
        for one in whole.lines
    ]
    layout = Layout(
        whole, shown, form, ids, count, headings and (max_tokens is None or max_tokens >= ROOM_FOR_HEADINGS)
    )
    text = block(form, layout.lines(range(len(shown))))
    if max_tokens is None or count(text) <= max_tokens:
        return text
    asked = words(cue)

    def cut(number: int, room: int) -> Entry:
        record = whole.lines[number].record
        return shortened(shown[number], record, asked, room, count, zone=zone, resolve=resolve)

    return _fitting(shared_out(layout, cut, max_tokens, longest), max_tokens, summarise)


def line(hit: Scored, *, ids: bool = False, now: float | None = None) -> str:
    """One memory on one line: what kind, when, how sure, and its words."""
    return STYLES["text"].entry(entries([hit], now=now)[0], ids=ids)


def checked(max_tokens: Any, style: Any, count: Any, summarise: Any) -> None:
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
    """The caller's count, or an error where it gives no number of tokens."""

    def counted(text: str) -> int:
        number = count(text)
        if isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < math.inf:
            return number  # a fraction is compared just as well
        raise InvalidInputError(f"count gave {shown(number)}. Give a function from a text to its number of tokens.")

    return count if count is estimated_tokens else counted


def _fitting(layout: Layout, room: int, summarise: Summarise | None) -> str:
    """As many as fit in full, best first, and the rest in brief, or at least counted."""
    full, form, count = _in_full(layout, room), layout.form, layout.count
    while True:
        chosen = {number for unit in full for number in unit}
        left = [own[0] for own in layout.page.units if own[0] not in chosen]
        kept = layout.lines(chosen)
        for more in _rest(form, kept, [layout.entries[number].in_brief for number in left], room, count, summarise):
            if count(text := block(form, [*kept, *more])) <= room:
                return text
        if not full:
            return ""
        full = full[:-1]


def _in_full(layout: Layout, room: int) -> list[list[int]]:
    """The units that are shown in full: hits, best first, and their neighbours where they fit. The best one may take
    all the room but for a count of the rest; one that is too long does not keep the next ones out."""
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


def _cost(layout: Layout, chosen: dict[int, list[int]], part: Sequence[int]) -> tuple[int, list[int]]:
    """What the lines cost that are not there yet, and which these are."""
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
    form: Style, kept: Sequence[str], rest: Sequence[str], room: int, count: Count, summarise: Summarise | None
) -> Iterable[list[str]]:
    """Ways to say the rest, best first: summed up by somebody else, in extracts, as a number."""
    missing = len(rest)
    if not missing:
        yield []
        return
    left = room - count(block(form, [*kept, form.brief(missing, ""), form.missing(missing)]))
    if summarise is not None and left >= LEAST_SUMMARY and (said := summarised(summarise, rest, left, count)):
        yield [form.brief(missing, said)]
    for share in (1.0, 0.8, 0.6, 0.3):  # escapes and a tokenizer's joints may cost more than was reckoned
        said, number = extract(rest, int(left * share), count)
        if number:
            over = [form.missing(missing - number)] if number < missing else []
            yield [form.brief(number, said), *over]
    yield [form.missing(missing)]
