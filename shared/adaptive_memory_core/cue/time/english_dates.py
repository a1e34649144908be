"""English dates: their regular expressions, and the spans of single dates and of pairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from adaptive_memory_core.cue.time import calendar
from adaptive_memory_core.cue.time.calendar import SEASONS, WEEKDAYS, Span
from adaptive_memory_core.cue.time.english_relative import UNIT_DAYS, counted
from adaptive_memory_core.late import late_pattern

MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
UNITS = (
    r"(?:words?|lines?|steps?|people|users?|dollars?|euros?|pounds?|bucks|usd|eur|km|miles?|met(?:er|re)s?|feet|hours?"
    r"|hrs?|minutes?|seconds?|bytes?|bits?|pixels?|px|calories|kcal|items?|rows?|records?|pieces?|characters?|tokens?"
    r"|points?|kg|grams?|volts?|watts?|copies|attempts?|requests?|iterations?|epochs?|votes?|members?|employees"
    r"|students?|pages?|days?|weeks?|months?|years?|times|degrees?|dpi|rpm|mah|guests|customers|followers|seats)"
)
YEAR = (
    r"(?P<year>(?:1[89]|20)\d\d)(?![\d%]|[.,:/]\d|:\s(?-i:[A-Z])|\s*[+*=<>]|-[a-z]|\s+"
    + UNITS
    + r"\b|\s+by\s+(?:(?:the\s+)?(?-i:[A-Z])"
    r"|(?!the\b|my\b|our\b|his\b|her\b|their\b|an?\b|us\b|me\b|them\b|him\b|you\b)\w+))"
)
LAST_YEAR = r"(?:of )?(?P<which>last|this|the previous) year(?:'s)?"
SHORT_YEAR = rf"(?:{YEAR}|'(?P<short>\d\d)\b|{LAST_YEAR}(?![\w-]))"
SEASON = rf"(?P<season>{'|'.join(SEASONS)})"
ORDINALS = (
    *"first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth".split(),  # noqa: SIM905
    *"fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),  # noqa: SIM905
    *(f"twenty-{one}" for one in "first second third fourth fifth sixth seventh eighth ninth".split()),  # noqa: SIM905
    *("thirtieth", "thirty-first"),
)
ORDINAL = r"(?P<day>\d{1,2})(?P<th>st|nd|rd|th)?"

_IN = (
    r"(?:in|during|throughout|since|until|till|up to|before|after|back in|around"
    r"|last|this past|past|early|mid|late|over)"
)
_PART = r"(?:start|beginning|middle|end|rest|most|half|all|month) of"
LEAD_MONTH = late_pattern(rf"\b(?:{_IN}|{_PART}|in the month of)[ -](?:the )?$", re.IGNORECASE)
LEAD_YEAR = late_pattern(rf"\b(?:{_IN}|{_PART}|by|from|circa|year)[ -](?:the year )?$", re.IGNORECASE)
LEAD_SEASON = late_pattern(
    r"\b(?:in|during|throughout|since|before|after|until|over|back in|early|late) (?:the )?$", re.IGNORECASE
)
LEAD_DAY = late_pattern(r"\b(?:on|since|until|till|before|after|by|from|of|dated|around) (?:the )?$", re.IGNORECASE)
LEAD_SHORT_DECADE = late_pattern(r"\bthe (?:early |mid |late )?$", re.IGNORECASE)
OWNED = (  # nouns after a person's name that is also a month's
    r"(?:house|home|flat|apartment|room|bedroom|kitchen|garden|car|office|life|family|opinion|name|phone|bag|school|class)\b"
)
NTH = r"(?P<nth>first|second|third|fourth|last|[1-4](?:st|nd|rd|th))"
END = r"(?P<{}>(?:(?!\b(?:and|to|until|till|through)\b)[\w',./ ]){{1,24}}?)"
ANY_MONTH = re.sub(r"\?P<month>", "?:", MONTH)
FULL_YEAR = r"(?:19|20)\d\d"
DATE = (
    rf"(?:{FULL_YEAR}-\d\d-\d\d|{ANY_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? {FULL_YEAR})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {ANY_MONTH}(?:,? {FULL_YEAR})?)"
)
DAYS = rf"(?P<anchor>(?:the )?day before yesterday|yesterday|today|last (?:{'|'.join(WEEKDAYS)})|{DATE})"
WORD = rf"(?P<word>{'|'.join(sorted(ORDINALS, key=len, reverse=True))})"
PART_BEFORE = r"(?<=-)(?:(?<=\bearly-)|(?<=\bmid-)|(?<=\blate-))"


LOOK_BACK = 30  # characters before a match that show whether it is a date
_OVER = late_pattern(r"\b(?:last|past) $", re.IGNORECASE)
_THE_LAST = late_pattern(r"\bthe (?:last|past) $", re.IGNORECASE)


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
    if not sure and match["month"][0].islower() and not preceded_by(match, LEAD_DAY):
        return []  # "item 3 may fail", "march 5 miles"
    span = calendar.day(year, month, number, today) if year else calendar.latest_day(month, number, today)
    return [span] if span else []


def worded_day(match: re.Match[str], today: datetime) -> list[Span]:
    """ "The fourteenth of March", "March fourteenth", and not "the first may fail"."""
    month, year, number = match["month"], named_year(match, today), ORDINALS.index(match["word"].lower()) + 1
    if not (
        year
        or " of " in match[0]
        or month.lower() not in ("may", "march")
        or preceded_by(match, LEAD_DAY)
        or number > 3
    ):
        return []
    number_of = calendar.month_number(month)
    span = calendar.day(year, number_of, number, today) if year else calendar.latest_day(number_of, number, today)
    return [span] if span else []


def winter_of_two_years(match: re.Match[str], today: datetime) -> list[Span]:
    """The winter that begins in the first of two successive years."""
    first, second = int(match["year"]), int(match["next"])
    return [calendar.months(first, SEASONS["winter"], today, 3)] if (second - first - 1) % 100 == 0 else []


def iso_day(match: re.Match[str], today: datetime) -> list[Span]:
    span = calendar.day(int(match["year"]), int(match["m"]), int(match["d"]), today)
    return [span] if span else []


def iso_month(match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.months(int(match["year"]), int(match["m"]), today)]


def numeric_day(match: re.Match[str], today: datetime, *, day_first: bool) -> list[Span]:
    """A date such as 3/4/2021: the month first, unless `day_first` is set or there is no such month."""
    number, month = int(match["two"]), int(match["one"])
    if day_first:
        number, month = month, number
    if month > 12:
        number, month = month, number
    span = calendar.day(int(match["year"]), month, number, today) if 1 <= month <= 12 else None
    return [span] if span else []


def named_month(match: re.Match[str], today: datetime) -> list[Span]:
    number, year = calendar.month_number(match["month"]), named_year(match, today)
    if match.groupdict().get("which") and match["month"] in ("may", "march") and not preceded_by(match, LEAD_MONTH):
        return []  # "did we march last year"
    over = preceded_by(match, _OVER)
    if not year and preceded_by(match, _THE_LAST):
        return []  # "the last march we joined"
    return [calendar.months(year, number, today) if year else calendar.latest_month(number, today, over=over)]


def named_season(match: re.Match[str], today: datetime) -> list[Span]:
    name, year = match["season"].lower(), named_year(match, today)
    verb = match["season"] in ("fall", "spring") and match.groupdict().get("which") and " of " not in match[0]
    if verb and not match[0].lower().startswith(("last", "this")) and not preceded_by(match, LEAD_SEASON):
        return []  # "did prices fall last year"
    return calendar.season_of_year(name, year, today) if year else [calendar.latest_season(name, today)]


def part_of_year(match: re.Match[str], today: datetime) -> list[Span]:
    """A quarter or a half of a year; without a year, the latest that has begun."""
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


def preceded_by(match: re.Match[str], lead: re.Pattern[str]) -> bool:
    """Whether `lead` comes right before the match. Only LOOK_BACK characters are searched, which keeps this fast."""
    return lead.search(match.string, max(0, match.start() - LOOK_BACK), match.start()) is not None


DateReader = Callable[[str, datetime], list[Span]]  # from the text of a single date to its spans


def date_range(match: re.Match[str], today: datetime, *, piece: DateReader) -> list[Span]:
    """The span from one date to another. The first may take its month and year from the second."""
    two = re.sub(LAST_YEAR, lambda year: str(named_year(year, today)), match["two"], flags=re.I)
    last = _last(two, today, piece)
    if not last or (end := last[-1].end) is None:
        return []
    for text in _fuller(match["one"], two):
        first = piece(text, end - timedelta(days=1))
        if first and first[0].start is not None and first[0].start < end:
            return [Span(first[0].start, end)]
    return []


def two_months(match: re.Match[str], today: datetime, *, piece: DateReader) -> list[Span]:
    """ "March and June 2025": both months, in that year."""
    year = re.search(r"\d{4}$", match["two"])
    return [span for name in ("one", "two") for span in piece(f"{match[name][:3]} {year[0]}", today)] if year else []


def around(match: re.Match[str], today: datetime, *, piece: DateReader) -> list[Span]:
    """The week or the weekend that contains a day."""
    spans = piece(match["one"], today)
    return [calendar.current(match["unit"].lower(), span.start, 0) for span in spans if span.start is not None]


def before(match: re.Match[str], today: datetime, *, piece: DateReader) -> list[Span]:
    """The day that is a number of days or weeks before another day."""
    low, high = counted(match)
    anchor = re.sub("^the ", "", match["anchor"].lower())
    spans = [Span(calendar.midnight(today), None)] if anchor == "today" else piece(anchor, today)
    if low != high or low < 1 or not spans or spans[0].start is None:
        return []
    size = UNIT_DAYS[match["unit"].lower()]
    start = calendar.midnight(spans[0].start, -int(low * size))
    return [Span(start, calendar.midnight(start, 1), timedelta(days=size / 2 if size > 1.0 else 0.0))]


def last_before(match: re.Match[str], today: datetime, *, piece: DateReader) -> list[Span]:
    """The day, the weekday, the seven days or the weekend before a day ("the Monday before 24 July 2023")."""
    spans, unit = piece(match["anchor"], today), match["unit"].lower()
    if not spans or (start := spans[0].start) is None:
        return []
    if unit == "weekend":
        return [calendar.current(unit, start, 1)]
    if unit in calendar.WEEKDAYS:
        return [calendar.latest_weekday(unit, start)]
    return [Span(calendar.midnight(start, -7 if unit == "week" else -1), start)]


def _last(text: str, today: datetime, piece: DateReader) -> list[Span]:
    if text.strip().lower() in ("now", "today"):
        return [Span(None, calendar.midnight(today, 1))]
    return piece(text, today)


def _fuller(one: str, two: str) -> Iterator[str]:
    """The first date completed from the second, such as "3" from "5 March 2020", and unchanged."""
    year = re.search(r"(?:19|20)\d\d", two)
    if re.fullmatch(ORDINAL, one.strip(), re.IGNORECASE):
        yield re.sub(ORDINAL, one.strip(), two, count=1, flags=re.IGNORECASE)
    elif year and not re.search(r"\d{4}", one):
        yield f"{one.strip()} {year[0]}"
    yield one
