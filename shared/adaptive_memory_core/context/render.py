"""What does the model read? Hits as evidence, within a budget, such that none is silently left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timezone, tzinfo
from typing import Any

from adaptive_memory_core.context.brief import Summarise, extract, summarised
from adaptive_memory_core.context.entries import Entry, entries
from adaptive_memory_core.context.styles import HEADER, STYLES, Style, block
from adaptive_memory_core.context.tokens import Count, estimated_tokens
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.records import Scored

__all__ = ["HEADER", "estimated_tokens", "line", "render"]
FOR_BRIEF = 4  # the share of a budget, one in so many, that is kept for what does not fit in full; guess
LEAST_SUMMARY = 12  # tokens below which nobody is asked for a summary; guess


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
) -> str:
    """The hits best first as one block of text; what does not fit in full is summed up in a last entry.

    `ids` shows each one's id as well, for a model that shall refer to it. `now` gives ages. Where not even a count of
    the hits fits, nothing is rendered.

    >>> render([])
    ''
    """
    checked(max_tokens, style, count, summarise)
    form = STYLES[style]
    shown = entries(hits, now=now, zone=zone, resolve=resolve)
    if not shown:
        return ""
    lines = [form.entry(one, ids=ids) for one in shown]
    whole = block(form, lines)
    if max_tokens is None or count(whole) <= max_tokens:
        return whole
    return _fitting(form, shown, lines, max_tokens, count, summarise)


def line(hit: Scored, *, ids: bool = False, now: float | None = None) -> str:
    """One memory on one line: what kind, when, how sure, and its words."""
    return STYLES["text"].entry(entries([hit], now=now)[0], ids=ids)


def checked(max_tokens: Any, style: Any, count: Any, summarise: Any) -> None:
    if max_tokens is not None and (type(max_tokens) is not int or max_tokens < 1):
        raise InvalidInputError(
            f"max_tokens is {max_tokens!r}. Give a whole number of at least 1, or None for no limit."
        )
    if not isinstance(style, str) or style not in STYLES:
        raise InvalidInputError(f"style is {style!r}. Give one of: {', '.join(STYLES)}.")
    if not callable(count) or (summarise is not None and not callable(summarise)):
        raise InvalidInputError(
            f"count is {count!r}, summarise is {summarise!r}. Give functions: from a text to its number of tokens, and "
            "from texts and a number of tokens to a text; summarise may be None."
        )


def _fitting(
    form: Style, shown: Sequence[Entry], lines: Sequence[str], room: int, count: Count, summarise: Summarise | None
) -> str:
    """As many as fit in full, best first, and the rest in brief, or at least counted."""
    full = _in_full(form, lines, room, count)
    while True:
        rest = [one.in_brief for number, one in enumerate(shown) if number not in full]
        kept = [lines[number] for number in full]
        for more in _rest(form, kept, rest, room, count, summarise):
            if count(text := block(form, [*kept, *more])) <= room:
                return text
        if not full:
            return ""
        full = full[:-1]


def _in_full(form: Style, lines: Sequence[str], room: int, count: Count) -> list[int]:
    """The numbers of those that are shown in full. The best one may take all the room but for a count of the rest; one
    that is too long does not keep the next ones out."""
    left = room - count(block(form, [form.missing(len(lines))]))
    full: list[int] = []
    for number, one in enumerate(lines):
        cost = count(one + "\n")
        if cost <= (left if number == 0 else left - room // FOR_BRIEF):
            full.append(number)
            left -= cost
        if left <= 0:
            break
    return full


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
