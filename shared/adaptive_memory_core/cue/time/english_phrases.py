"""English phrases that name a time: all patterns, the most reliable first, and the spans that a text names."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from itertools import islice
from typing import NamedTuple

from adaptive_memory_core.cue.time import calendar
from adaptive_memory_core.cue.time.calendar import MONTHS, SEASONS, WEEKDAYS, Span
from adaptive_memory_core.cue.time.english_dates import (
    ANY_MONTH,
    DATE,
    DAYS,
    END,
    FULL_YEAR,
    LAST_YEAR,
    LEAD_DAY,
    LEAD_MONTH,
    LEAD_SEASON,
    LEAD_SHORT_DECADE,
    LEAD_YEAR,
    MONTH,
    NTH,
    ORDINAL,
    OWNED,
    PART_BEFORE,
    SEASON,
    SHORT_YEAR,
    WORD,
    YEAR,
    around,
    before,
    date_range,
    decade,
    iso_day,
    iso_month,
    last_before,
    named_day,
    named_month,
    named_season,
    named_weekday,
    numeric_day,
    part_of_year,
    plain_year,
    preceded_by,
    two_months,
    winter_of_two_years,
    worded_day,
)
from adaptive_memory_core.cue.time.english_relative import (
    COUNT,
    PERIOD,
    RELATIVE,
    UNIT,
    UNIT_DAYS,
    Resolve,
    counted,
    rule,
    whole_days,
)
from adaptive_memory_core.cue.time.intent import in_ascii_letters
from adaptive_memory_core.late import late_pattern

MOST_OF_A_KIND = 20  # matches of one pattern that are read; a text with more is a table or an attack; guess


class Dated(NamedTuple):
    """A place in a text that names a time. A `weak` one counts only in a question about the past, and a `relative` one
    depends on the date of the text."""

    begin: int
    end: int
    spans: list[Span]
    weak: bool
    relative: bool


def find_times(text: str, today: datetime, *, day_first: bool = False, ahead: bool = False) -> list[Dated]:
    """The places that name times, in the order of the text. If two overlap, the more reliable kind of date wins.

    With `ahead`, future times are included.

    >>> [str(span.start.date()) for found in find_times("since March 2020 or 2 weeks ago", datetime(2023, 5, 12))
    ...  for span in found.spans]
    ['2020-03-01', '2023-04-24']
    >>> find_times("in 999 decades", datetime(2023, 5, 12), ahead=True)      # outside the supported years
    []
    """
    found: list[Dated] = []
    plain, taken = in_ascii_letters(text), bytearray(len(text))
    there = needs_in(plain.lower())
    if not there and not ahead:
        return found
    for way in (*(AHEAD if ahead else ()), *DATE_PATTERNS[day_first]):
        if way.needs and there.isdisjoint(way.needs):
            continue
        for match in islice(way.pattern.finditer(plain), MOST_OF_A_KIND):
            begin, end = match.span()
            if (way.lead is not None and not preceded_by(match, way.lead)) or taken.find(1, begin, end) >= 0:
                continue
            if spans := way.resolve(match, today):
                found.append(Dated(begin, end, spans, way.weak, way.relative))
                taken[begin:end] = b"\x01" * (end - begin)
    return sorted(found)


PARTS = ("early-", "mid-", "late-")
DIGIT = r"(?<!\w)(?:[qh]\d|\d\d)"  # in `needs`, stands for a number such as "q3" or a year, not "word77"


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


class DatePattern(NamedTuple):
    """One way to name a time. `lead` must come before it if it is given. A `weak` one counts only in a question about
    the past, and a `relative` one depends on the date of the text."""

    pattern: re.Pattern[str]
    resolve: Resolve
    lead: re.Pattern[str] | None = None
    weak: bool = False
    relative: bool = False
    needs: tuple[str, ...] = ()  # a text in lower case must contain one of these, if there are any


def piece(text: str, today: datetime) -> list[Span]:
    """The spans of a single date, such as either end of "between March and May 2020"."""
    for way in DATE_PATTERNS[False][1:]:
        if (match := way.pattern.fullmatch(text.strip())) and (spans := way.resolve(match, today)):
            return spans
    return []


def _way(
    pattern: str,
    resolve: Resolve,
    lead: re.Pattern[str] | None = None,
    *needs: str,
    weak: bool = False,
) -> DatePattern:
    """A pattern between word boundaries. Without `needs`, it needs a month, a season or a digit."""
    named = MONTHS if MONTH in pattern else tuple(SEASONS) if SEASON in pattern else (DIGIT,)
    return DatePattern(late_pattern(rf"(?<![\w-]){pattern}(?![\w-])", re.I), resolve, lead, weak, needs=needs or named)


_TWO: list[DatePattern] = [  # of two words about time that mean something only together
    _way(
        rf"(?P<one>{ANY_MONTH}(?:,? {FULL_YEAR})?)(?: ?[-\u2013] ?| (?:to|until|till|through) )"
        rf"(?P<two>{ANY_MONTH},? (?:{FULL_YEAR}|(?:of )?(?:last|this) year))",
        partial(date_range, piece=piece),
        None,
        *MONTHS,
    ),
    _way(
        rf"(?P<one>{ANY_MONTH}) (?:and|or) (?P<two>{ANY_MONTH},? {FULL_YEAR})",
        partial(two_months, piece=piece),
        None,
        *MONTHS,
    ),
    _way(
        rf"(?:the )?(?P<unit>week|weekend) (?:of|starting|beginning) (?:the |on )?(?P<one>{DATE})",
        partial(around, piece=piece),
        None,
        "week",
    ),
    _way(rf"{COUNT} (?P<unit>day|week|fortnight)s? before {DAYS}", partial(before, piece=piece), None, "before"),
    _way(
        rf"(?:the )?(?:last )?(?P<unit>day|week|weekend|{'|'.join(WEEKDAYS)}) before (?:the )?(?P<anchor>{DATE})",
        partial(last_before, piece=piece),
        None,
        "before",
    ),
    _way(
        rf"winter(?: of)? (?P<year>{FULL_YEAR}) ?[/\u2013-] ?(?:20)?(?P<next>\d\d)", winter_of_two_years, None, "winter"
    ),
    _way(rf"(?P<year>{FULL_YEAR})[ /-]?(?P<part>[qh])(?P<nth>[1-4])", part_of_year),
    _way(rf"{LAST_YEAR},? (?:in |on |during )?(?:the )?{ORDINAL}(?: of)? {MONTH}", named_day),
    _way(rf"{LAST_YEAR},? (?:in |on |during )?(?:the )?{MONTH} {ORDINAL}", named_day),
    _way(rf"{LAST_YEAR},? (?:in |during )?{MONTH}", named_month),
    _way(rf"{LAST_YEAR},? (?:in |during )(?:the )?{SEASON}", named_season),
    _way(rf"{LAST_YEAR},? (?:in |during )?(?P<part>[qh])(?P<nth>[1-4])", part_of_year, None, "year"),
    _way(rf"{WORD}(?: of)? {MONTH}(?:,? {SHORT_YEAR})?", worded_day),
    _way(rf"{MONTH} (?:the )?{WORD}(?:,? {SHORT_YEAR})?", worded_day),
    DatePattern(late_pattern(rf"{PART_BEFORE}{MONTH}(?: of)?,? {SHORT_YEAR}(?![\w-])", re.I), named_month, needs=PARTS),
    DatePattern(late_pattern(rf"{PART_BEFORE}{MONTH}(?![\w-])", re.I), named_month, None, weak=True, needs=PARTS),
    DatePattern(late_pattern(rf"{PART_BEFORE}{YEAR}(?![\w-])", re.I), plain_year, needs=PARTS),
    _way(rf"(?P<m>0?[1-9]|1[0-2])/(?P<year>{FULL_YEAR})", iso_month, LEAD_MONTH),
]
_ANY_ORDER: list[DatePattern] = [
    DatePattern(
        late_pattern(
            rf"\b(?:between|from) (?:the )?{END.format('one')} (?:and|to|until|till|through) (?:the )?"
            r"(?P<two>now|today|\d{1,2}(?:st|nd|rd|th)?(?: of)? [a-z]{3,9}(?:,? (?:19|20)\d\d)?|[a-z]{3,9}"
            r"(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? (?:of )?(?:(?:19|20)\d\d|(?:last|this) year))?"
            r"|\d{4}-\d\d-\d\d|(?:19|20)\d\d)(?![\w-])",
            re.I,
        ),
        partial(date_range, piece=piece),
        needs=("between", "from"),
    ),
    *_TWO,
    _way(r"(?P<year>\d{4})[-/](?P<m>\d{1,2})[-/](?P<d>\d{1,2})", iso_day),
    _way(r"(?P<year>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])", iso_month),
    _way(rf"{ORDINAL}(?: of)? {MONTH}(?:,? {SHORT_YEAR})?", named_day),
    _way(rf"{MONTH} (?:the )?{ORDINAL}(?!:)(?:,? {SHORT_YEAR})?", named_day),
    _way(rf"{MONTH}(?: of)?,? {SHORT_YEAR}", named_month),
    _way(rf"{SEASON}(?: of)?,? {SHORT_YEAR}", named_season),
    _way(rf"(?P<part>[qh])(?P<nth>[1-4])(?: of)?(?:[ /-]|(?=')){SHORT_YEAR}", part_of_year),
    _way(rf"{NTH} (?P<part>quarter|half)(?: of| in)?,? {SHORT_YEAR}", part_of_year, None, "quarter", "half"),
    _way(r"(?P<decade>(?:19|20)\d)0'?s(?P<tens>)", decade),
    _way(r"'?(?P<tens>[5-9])0'?s(?P<decade>)", decade, LEAD_SHORT_DECADE),
    *(DatePattern(one.pattern, one.resolve, None, one.weak, True, one.needs) for one in RELATIVE),
    _way(YEAR, plain_year, LEAD_YEAR),
    _way(r"(?P<part>q)(?P<nth>[1-4])", part_of_year, LEAD_MONTH, weak=True),
    _way(r"(?P<part>q)(?P<nth>[1-4])(?=\W*$)", part_of_year, late_pattern(r"(?:^|,)\W*$"), weak=True),
    _way(rf"{MONTH}(?!'s {OWNED})", named_month, LEAD_MONTH, weak=True),
    _way(
        rf"{SEASON}(?! (?:framework|boot|roll|water|mattress|tires?|tyres?|leaf|cleaning))",
        named_season,
        LEAD_SEASON,
        weak=True,
    ),
    _way(rf"(?P<weekday>{'|'.join(WEEKDAYS)})", named_weekday, LEAD_DAY, "day", weak=True),
]
_NUMERIC = r"(?P<one>\d{1,2})[/.](?P<two>\d{1,2})[/.](?P<year>(?:19|20)\d\d)"
DATE_PATTERNS = {first: [*_ANY_ORDER, _way(_NUMERIC, partial(numeric_day, day_first=first))] for first in (False, True)}
AHEAD = [DatePattern(one.pattern, one.resolve, None, one.weak, True, one.needs) for one in UPCOMING]
_NEEDED = tuple(dict.fromkeys(one for way in (*AHEAD, *DATE_PATTERNS[False]) for one in way.needs if one != DIGIT))
_DIGIT = late_pattern(DIGIT)


def needs_in(lower: str) -> set[str]:
    """The needs of all patterns that a text in lower case contains.

    >>> sorted(needs_in("3 weeks ago")), needs_in("who is ilse?")
    (['ago', 'week'], set())
    """
    found = {one for one in _NEEDED if one in lower}
    return found | {DIGIT} if _DIGIT.search(lower) else found
