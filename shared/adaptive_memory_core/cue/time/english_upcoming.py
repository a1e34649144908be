"""What does a note say of its own future? "Tomorrow", "next week", "in two days"; a question never means it."""

from __future__ import annotations

import re
from datetime import datetime

from adaptive_memory_core.cue.time import calendar
from adaptive_memory_core.cue.time.calendar import WEEKDAYS, Span
from adaptive_memory_core.cue.time.english_counts import COUNT, UNIT, UNIT_DAYS, counted
from adaptive_memory_core.cue.time.english_relative import PERIOD, rule, whole_days


def _ahead(match: re.Match[str], today: datetime) -> list[Span]:
    low, high = counted(match)
    size = UNIT_DAYS[match["unit"].lower()]
    if size == 1.0 and low == high:
        return whole_days(today, int(low))
    either = min(0.5, low / 2) * size
    return calendar.stretch(today, low * size - either, high * size + either)


def _next(match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.current(match["unit"].lower(), today, -1)]


def _coming_weekday(match: re.Match[str], today: datetime) -> list[Span]:
    """The first such day after today."""
    return whole_days(today, (WEEKDAYS.index(match["weekday"].lower()) - today.weekday() - 1) % 7 + 1)


UPCOMING = [
    rule(r"(?:the )?day after tomorrow", lambda _, today: whole_days(today, 2), "tomorrow"),
    rule(r"tomorrow(?:'s)?", lambda _, today: whole_days(today, 1), "tomorrow"),
    rule(rf"next {PERIOD}", _next, "next"),
    rule(rf"(?:next|this coming) (?P<weekday>{'|'.join(WEEKDAYS)})", _coming_weekday, "next", "coming"),
    rule(r"tonight(?:'s)?", lambda _, today: whole_days(today, 0), "tonight"),
    rule(rf"in {COUNT} {UNIT}(?:' time)?", _ahead, "in "),
]
