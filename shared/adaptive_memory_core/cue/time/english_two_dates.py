"""Which span do two English times mean together? "Between March and May", "two days before yesterday"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from adaptive_memory_core.cue.time import calendar
from adaptive_memory_core.cue.time.calendar import Span
from adaptive_memory_core.cue.time.english_counts import UNIT_DAYS, counted
from adaptive_memory_core.cue.time.english_patterns import LAST_YEAR, ORDINAL
from adaptive_memory_core.cue.time.english_single_dates import named_year

Piece = Callable[[str, datetime], list[Span]]  # what a text means that is a date by itself


def between(match: re.Match[str], today: datetime, *, piece: Piece) -> list[Span]:
    """From the start of one to the end of the other, which may lend it its month and year."""
    two = re.sub(LAST_YEAR, lambda year: str(named_year(year, today)), match["two"], flags=re.I)
    last = _last(two, today, piece)
    if not last or (end := last[-1].end) is None:
        return []
    for text in _fuller(match["one"], two):
        first = piece(text, end - timedelta(days=1))
        if first and first[0].start is not None and first[0].start < end:
            return [Span(first[0].start, end)]
    return []


def both(match: re.Match[str], today: datetime, *, piece: Piece) -> list[Span]:
    """ "March and June 2025": either, in that year."""
    year = re.search(r"\d{4}$", match["two"])
    return [span for name in ("one", "two") for span in piece(f"{match[name][:3]} {year[0]}", today)] if year else []


def around(match: re.Match[str], today: datetime, *, piece: Piece) -> list[Span]:
    """The week or the weekend of a day."""
    spans = piece(match["one"], today)
    return [calendar.current(match["unit"].lower(), span.start, 0) for span in spans if span.start is not None]


def before(match: re.Match[str], today: datetime, *, piece: Piece) -> list[Span]:
    """So many days or weeks before another day."""
    low, high = counted(match)
    anchor = re.sub("^the ", "", match["anchor"].lower())
    spans = [Span(calendar.midnight(today), None)] if anchor == "today" else piece(anchor, today)
    if low != high or low < 1 or not spans or spans[0].start is None:
        return []
    size = UNIT_DAYS[match["unit"].lower()]
    start = calendar.midnight(spans[0].start, -int(low * size))
    return [Span(start, calendar.midnight(start, 1), timedelta(days=size / 2 if size > 1.0 else 0.0))]


def last_before(match: re.Match[str], today: datetime, *, piece: Piece) -> list[Span]:
    """The day, the weekday, the seven days or the weekend before a day ("the Monday before 24 July 2023")."""
    spans, unit = piece(match["anchor"], today), match["unit"].lower()
    if not spans or (start := spans[0].start) is None:
        return []
    if unit == "weekend":
        return [calendar.current(unit, start, 1)]
    if unit in calendar.WEEKDAYS:
        return [calendar.latest_weekday(unit, start)]
    return [Span(calendar.midnight(start, -7 if unit == "week" else -1), start)]


def _last(text: str, today: datetime, piece: Piece) -> list[Span]:
    if text.strip().lower() in ("now", "today"):
        return [Span(None, calendar.midnight(today, 1))]
    return piece(text, today)


def _fuller(one: str, two: str) -> Iterator[str]:
    """The first end with what it may take over from the second: "3" of "5 March 2020", "March" of "May 2020"."""
    year = re.search(r"(?:19|20)\d\d", two)
    if re.fullmatch(ORDINAL, one.strip(), re.IGNORECASE):
        yield re.sub(ORDINAL, one.strip(), two, count=1, flags=re.IGNORECASE)
    elif year and not re.search(r"\d{4}", one):
        yield f"{one.strip()} {year[0]}"
    yield one
