"""Which span does one English date mean? A day, month, season, quarter, decade or year."""

from __future__ import annotations

import re
from datetime import datetime

from adaptive_memory_core.cue.time import calendar
from adaptive_memory_core.cue.time.calendar import SEASONS, Span
from adaptive_memory_core.cue.time.english_patterns import LEAD_DAY, LEAD_MONTH, LEAD_SEASON, ORDINALS

LOOK_BACK = 30  # characters before a date that say whether it is one
_OVER = re.compile(r"\b(?:last|past) $", re.IGNORECASE)
_THE_LAST = re.compile(r"\bthe (?:last|past) $", re.IGNORECASE)


def named_year(match: re.Match[str], today: datetime) -> int:
    groups = match.groupdict()
    if groups.get("year"):
        return int(match["year"])
    if groups.get("short"):
        short = int(match["short"])
        return 2000 + short if 2000 + short <= today.year else 1900 + short
    if groups.get("which"):
        return today.year - (match["which"].lower() != "this")
    return 0


def named_day(match: re.Match[str], today: datetime) -> list[Span]:
    number, month, year = int(match["day"]), calendar.month_number(match["month"]), named_year(match, today)
    sure = year or match["th"] or match["month"].lower() not in ("may", "mar", "march")
    if not sure and match["month"][0].islower() and not led(match, LEAD_DAY):
        return []  # "item 3 may fail", "march 5 miles"
    span = calendar.day(year, month, number, today) if year else calendar.latest_day(month, number, today)
    return [span] if span else []


def worded_day(match: re.Match[str], today: datetime) -> list[Span]:
    """ "The fourteenth of March", "March fourteenth", and not "the first may fail"."""
    month, year, number = match["month"], named_year(match, today), ORDINALS.index(match["word"].lower()) + 1
    if not (year or " of " in match[0] or month.lower() not in ("may", "march") or led(match, LEAD_DAY) or number > 3):
        return []
    number_of = calendar.month_number(month)
    span = calendar.day(year, number_of, number, today) if year else calendar.latest_day(number_of, number, today)
    return [span] if span else []


def winter_of_two_years(match: re.Match[str], today: datetime) -> list[Span]:
    """The one that begins in the first of two years."""
    first, second = int(match["year"]), int(match["next"])
    return [calendar.months(first, SEASONS["winter"], today, 3)] if (second - first - 1) % 100 == 0 else []


def iso_day(match: re.Match[str], today: datetime) -> list[Span]:
    span = calendar.day(int(match["year"]), int(match["m"]), int(match["d"]), today)
    return [span] if span else []


def iso_month(match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.months(int(match["year"]), int(match["m"]), today)]


def numeric_day(match: re.Match[str], today: datetime, *, day_first: bool) -> list[Span]:
    """3/4/2021: month first unless told otherwise, or unless there is no such month."""
    number, month = int(match["two"]), int(match["one"])
    if day_first:
        number, month = month, number
    if month > 12:
        number, month = month, number
    span = calendar.day(int(match["year"]), month, number, today) if 1 <= month <= 12 else None
    return [span] if span else []


def named_month(match: re.Match[str], today: datetime) -> list[Span]:
    number, year = calendar.month_number(match["month"]), named_year(match, today)
    if match.groupdict().get("which") and match["month"] in ("may", "march") and not led(match, LEAD_MONTH):
        return []  # "did we march last year"
    over = led(match, _OVER)
    if not year and led(match, _THE_LAST):
        return []  # "the last march we joined"
    return [calendar.months(year, number, today) if year else calendar.latest_month(number, today, over=over)]


def named_season(match: re.Match[str], today: datetime) -> list[Span]:
    name, year = match["season"].lower(), named_year(match, today)
    verb = match["season"] in ("fall", "spring") and match.groupdict().get("which") and " of " not in match[0]
    if verb and not match[0].lower().startswith(("last", "this")) and not led(match, LEAD_SEASON):
        return []  # "did prices fall last year"
    return calendar.season(name, year, today) if year else [calendar.latest_season(name, today)]


def part_of_year(match: re.Match[str], today: datetime) -> list[Span]:
    """Quarters and halves."""
    number = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}.get(match["nth"].lower())
    half = match["part"].lower() in ("h", "half")
    number, size = number or int(match["nth"][0]), 6 if half else 3
    number = min(number, 2) if half else number
    year = named_year(match, today)
    spans = [calendar.months(one, (number - 1) * size + 1, today, size) for one in (year or today.year, today.year - 1)]
    begun = [span for span in spans if year or (span.start is not None and span.start <= today)]
    return begun[:1]


def decade(match: re.Match[str], today: datetime) -> list[Span]:
    first = int(match["decade"]) * 10 if match["decade"] else 1900 + int(match["tens"]) * 10
    return [calendar.months(first, 1, today, 120)]


def named_weekday(match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.latest_weekday(match["weekday"].lower(), today)]


def plain_year(match: re.Match[str], today: datetime) -> list[Span]:
    year = named_year(match, today)
    return [calendar.months(year, 1, today, 12)] if year <= today.year else []


def led(match: re.Match[str], lead: re.Pattern[str]) -> bool:
    """Whether this stands right before it. Only so far is looked back: a text may hold thousands of dates."""
    return lead.search(match.string, max(0, match.start() - LOOK_BACK), match.start()) is not None
