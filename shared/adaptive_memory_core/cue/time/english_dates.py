"""Which stretches of time does an English text name? Dates, months, years, "three weeks ago" - and not "it may"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from adaptive_memory_core.cue.time import calendar
from adaptive_memory_core.cue.time.calendar import SEASONS, WEEKDAYS, Span
from adaptive_memory_core.cue.time.english_patterns import (
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
    ORDINALS,
    OWNED,
    PART_BEFORE,
    SEASON,
    SHORT_YEAR,
    WORD,
    YEAR,
)
from adaptive_memory_core.cue.time.english_relative import COUNT, RELATIVE, UNIT_DAYS, UPCOMING, counted


class Dated(NamedTuple):
    """A place in a text that names time. `weak` ones hold only in a question about the past, `relative` ones hang on
    the day of the text itself."""

    begin: int
    end: int
    spans: list[Span]
    weak: bool
    relative: bool


class Way(NamedTuple):
    """One way to name time; `lead` is what must stand before it for it to be a date at all."""

    pattern: re.Pattern[str]
    resolve: Callable[[re.Match[str], datetime], list[Span]]
    lead: re.Pattern[str] | None = None
    weak: bool = False
    relative: bool = False


def find(text: str, today: datetime, *, day_first: bool = False, ahead: bool = False) -> list[Dated]:
    """The places that name time, in the order of the text; where two overlap, the surer kind of date wins.

    With `ahead`, also those that name a time to come.

    >>> [str(span.start.date()) for found in find("since March 2020 or 2 weeks ago", datetime(2023, 5, 12))
    ...  for span in found.spans]
    ['2020-03-01', '2023-04-24']
    """
    found: list[Dated] = []
    for way in [*(AHEAD if ahead else ()), *WAYS[day_first]]:
        for match in way.pattern.finditer(text):
            if way.lead is not None and not way.lead.search(text, max(0, match.start() - 30), match.start()):
                continue
            if any(match.start() < one.end and one.begin < match.end() for one in found):
                continue
            if spans := way.resolve(match, today):
                found.append(Dated(match.start(), match.end(), spans, way.weak, way.relative))
    return sorted(found)


def _piece(text: str, today: datetime) -> list[Span]:
    """What a date by itself means, such as either end of "between March and May 2020"."""
    for way in WAYS[False][1:]:
        if (match := way.pattern.fullmatch(text.strip())) and (spans := way.resolve(match, today)):
            return spans
    return []


def _between(match: re.Match[str], today: datetime) -> list[Span]:
    """From the start of one to the end of the other, which may lend it its month and year."""
    two = re.sub(LAST_YEAR, lambda year: str(_year(year, today)), match["two"], flags=re.I)
    last = _last(two, today)
    if not last or (end := last[-1].end) is None:
        return []
    for text in _fuller(match["one"], two):
        first = _piece(text, end - timedelta(days=1))
        if first and first[0].start is not None and first[0].start < end:
            return [Span(first[0].start, end)]
    return []


def _last(text: str, today: datetime) -> list[Span]:
    if text.strip().lower() in ("now", "today"):
        return [Span(None, calendar.midnight(today, 1))]
    return _piece(text, today)


def _fuller(one: str, two: str) -> Iterator[str]:
    """The first end with what it may take over from the second: "3" of "5 March 2020", "March" of "May 2020"."""
    year = re.search(r"(?:19|20)\d\d", two)
    if re.fullmatch(ORDINAL, one.strip(), re.IGNORECASE):
        yield re.sub(ORDINAL, one.strip(), two, count=1, flags=re.IGNORECASE)
    elif year and not re.search(r"\d{4}", one):
        yield f"{one.strip()} {year[0]}"
    yield one


def _year(match: re.Match[str], today: datetime) -> int:
    groups = match.groupdict()
    if groups.get("year"):
        return int(match["year"])
    if groups.get("short"):
        short = int(match["short"])
        return 2000 + short if 2000 + short <= today.year else 1900 + short
    if groups.get("which"):
        return today.year - (match["which"].lower() != "this")
    return 0


def _day(match: re.Match[str], today: datetime) -> list[Span]:
    number, month, year = int(match["day"]), calendar.month_number(match["month"]), _year(match, today)
    sure = year or match["th"] or match["month"].lower() not in ("may", "mar", "march")
    if not sure and match["month"][0].islower() and not _led(match, LEAD_DAY):
        return []  # "item 3 may fail", "march 5 miles"
    span = calendar.day(year, month, number, today) if year else calendar.latest_day(month, number, today)
    return [span] if span else []


def _led(match: re.Match[str], lead: str) -> bool:
    return re.search(lead, match.string[: match.start()], re.I) is not None


def _worded_day(match: re.Match[str], today: datetime) -> list[Span]:
    """ "The fourteenth of March", "March fourteenth", and not "the first may fail"."""
    month, year, number = match["month"], _year(match, today), ORDINALS.index(match["word"].lower()) + 1
    if not (year or " of " in match[0] or month.lower() not in ("may", "march") or _led(match, LEAD_DAY) or number > 3):
        return []
    number_of = calendar.month_number(month)
    span = calendar.day(year, number_of, number, today) if year else calendar.latest_day(number_of, number, today)
    return [span] if span else []


def _both(match: re.Match[str], today: datetime) -> list[Span]:
    """ "March and June 2025": either, in that year."""
    year = re.search(r"\d{4}$", match["two"])
    return [span for name in ("one", "two") for span in _piece(f"{match[name][:3]} {year[0]}", today)] if year else []


def _around(match: re.Match[str], today: datetime) -> list[Span]:
    """The week or the weekend of a day."""
    spans = _piece(match["one"], today)
    return [calendar.current(match["unit"].lower(), span.start, 0) for span in spans if span.start is not None]


def _before(match: re.Match[str], today: datetime) -> list[Span]:
    """So many days or weeks before another day."""
    low, high = counted(match)
    anchor = re.sub("^the ", "", match["anchor"].lower())
    spans = [Span(calendar.midnight(today), None)] if anchor == "today" else _piece(anchor, today)
    if low != high or low < 1 or not spans or spans[0].start is None:
        return []
    start = calendar.midnight(spans[0].start, -int(low * UNIT_DAYS[match["unit"].lower()]))
    return [Span(start, calendar.midnight(start, 1))]


def _winter(match: re.Match[str], today: datetime) -> list[Span]:
    """The one that begins in the first of two years."""
    first, second = int(match["year"]), int(match["next"])
    return [calendar.months(first, SEASONS["winter"], today, 3)] if (second - first - 1) % 100 == 0 else []


def _iso(match: re.Match[str], today: datetime) -> list[Span]:
    span = calendar.day(int(match["year"]), int(match["m"]), int(match["d"]), today)
    return [span] if span else []


def _iso_month(match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.months(int(match["year"]), int(match["m"]), today)]


def _numeric(match: re.Match[str], today: datetime, *, day_first: bool) -> list[Span]:
    """3/4/2021: month first unless told otherwise, or unless there is no such month."""
    number, month = int(match["two"]), int(match["one"])
    if day_first:
        number, month = month, number
    if month > 12:
        number, month = month, number
    span = calendar.day(int(match["year"]), month, number, today) if 1 <= month <= 12 else None
    return [span] if span else []


def _month(match: re.Match[str], today: datetime) -> list[Span]:
    number, year = calendar.month_number(match["month"]), _year(match, today)
    if match.groupdict().get("which") and match["month"] in ("may", "march") and not _led(match, LEAD_MONTH):
        return []  # "did we march last year"
    over = bool(re.search(r"\b(?:last|past) $", match.string[: match.start()], re.I))
    if not year and over and re.search(r"\bthe (?:last|past) $", match.string[: match.start()], re.I):
        return []  # "the last march we joined"
    return [calendar.months(year, number, today) if year else calendar.latest_month(number, today, over=over)]


def _season(match: re.Match[str], today: datetime) -> list[Span]:
    name, year = match["season"].lower(), _year(match, today)
    verb = match["season"] in ("fall", "spring") and match.groupdict().get("which") and " of " not in match[0]
    if verb and not match[0].lower().startswith(("last", "this")) and not _led(match, LEAD_SEASON):
        return []  # "did prices fall last year"
    return calendar.season(name, year, today) if year else [calendar.latest_season(name, today)]


def _part_of_year(match: re.Match[str], today: datetime) -> list[Span]:
    """Quarters and halves."""
    number = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}.get(match["nth"].lower())
    half = match["part"].lower() in ("h", "half")
    number, size = number or int(match["nth"][0]), 6 if half else 3
    number = min(number, 2) if half else number
    year = _year(match, today)
    spans = [calendar.months(one, (number - 1) * size + 1, today, size) for one in (year or today.year, today.year - 1)]
    begun = [span for span in spans if year or (span.start is not None and span.start <= today)]
    return begun[:1]


def _decade(match: re.Match[str], today: datetime) -> list[Span]:
    first = int(match["decade"]) * 10 if match["decade"] else 1900 + int(match["tens"]) * 10
    return [calendar.months(first, 1, today, 120)]


def _weekday(match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.latest_weekday(match["weekday"].lower(), today)]


def _plain_year(match: re.Match[str], today: datetime) -> list[Span]:
    year = _year(match, today)
    return [calendar.months(year, 1, today, 12)] if year <= today.year else []


def _way(pattern: str, resolve: Callable[..., list[Span]], lead: str | None = None, *, weak: bool = False) -> Way:
    return Way(
        re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.I), resolve, re.compile(lead, re.I) if lead else None, weak
    )


_TWO: list[Way] = [  # of two words about time that mean something only together
    _way(
        rf"(?P<one>{ANY_MONTH}(?:,? {FULL_YEAR})?)(?: ?[-\u2013] ?| (?:to|until|till|through) )"
        rf"(?P<two>{ANY_MONTH},? (?:{FULL_YEAR}|(?:of )?(?:last|this) year))",
        _between,
    ),
    _way(rf"(?P<one>{ANY_MONTH}) (?:and|or) (?P<two>{ANY_MONTH},? {FULL_YEAR})", _both),
    _way(rf"(?:the )?(?P<unit>week|weekend) (?:of|starting|beginning) (?:the |on )?(?P<one>{DATE})", _around),
    _way(rf"{COUNT} (?P<unit>day|week|fortnight)s? before {DAYS}", _before),
    _way(rf"winter(?: of)? (?P<year>{FULL_YEAR}) ?[/\u2013-] ?(?:20)?(?P<next>\d\d)", _winter),
    _way(rf"(?P<year>{FULL_YEAR})[ /-]?(?P<part>[qh])(?P<nth>[1-4])", _part_of_year),
    _way(rf"{LAST_YEAR},? (?:in |on |during )?(?:the )?{ORDINAL}(?: of)? {MONTH}", _day),
    _way(rf"{LAST_YEAR},? (?:in |on |during )?(?:the )?{MONTH} {ORDINAL}", _day),
    _way(rf"{LAST_YEAR},? (?:in |during )?{MONTH}", _month),
    _way(rf"{LAST_YEAR},? (?:in |during )(?:the )?{SEASON}", _season),
    _way(rf"{LAST_YEAR},? (?:in |during )?(?P<part>[qh])(?P<nth>[1-4])", _part_of_year),
    _way(rf"{WORD}(?: of)? {MONTH}(?:,? {SHORT_YEAR})?", _worded_day),
    _way(rf"{MONTH} (?:the )?{WORD}(?:,? {SHORT_YEAR})?", _worded_day),
    Way(re.compile(rf"{PART_BEFORE}{MONTH}(?: of)?,? {SHORT_YEAR}(?![\w-])", re.I), _month),
    Way(re.compile(rf"{PART_BEFORE}{MONTH}(?![\w-])", re.I), _month, None, weak=True),
    Way(re.compile(rf"{PART_BEFORE}{YEAR}(?![\w-])", re.I), _plain_year),
    _way(rf"(?P<m>0?[1-9]|1[0-2])/(?P<year>{FULL_YEAR})", _iso_month, LEAD_MONTH),
]
_ANY_ORDER: list[Way] = [
    Way(
        re.compile(
            rf"\b(?:between|from) (?:the )?{END.format('one')} (?:and|to|until|till|through) (?:the )?"
            r"(?P<two>now|today|\d{1,2}(?:st|nd|rd|th)?(?: of)? [a-z]{3,9}(?:,? (?:19|20)\d\d)?|[a-z]{3,9}"
            r"(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? (?:of )?(?:(?:19|20)\d\d|(?:last|this) year))?"
            r"|\d{4}-\d\d-\d\d|(?:19|20)\d\d)(?![\w-])",
            re.I,
        ),
        _between,
    ),
    *_TWO,
    _way(r"(?P<year>\d{4})[-/](?P<m>\d{1,2})[-/](?P<d>\d{1,2})", _iso),
    _way(r"(?P<year>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])", _iso_month),
    _way(rf"{ORDINAL}(?: of)? {MONTH}(?:,? {SHORT_YEAR})?", _day),
    _way(rf"{MONTH} (?:the )?{ORDINAL}(?!:)(?:,? {SHORT_YEAR})?", _day),
    _way(rf"{MONTH}(?: of)?,? {SHORT_YEAR}", _month),
    _way(rf"{SEASON}(?: of)?,? {SHORT_YEAR}", _season),
    _way(rf"(?P<part>[qh])(?P<nth>[1-4])(?: of)?(?:[ /-]|(?=')){SHORT_YEAR}", _part_of_year),
    _way(rf"{NTH} (?P<part>quarter|half)(?: of| in)?,? {SHORT_YEAR}", _part_of_year),
    _way(r"(?P<decade>(?:19|20)\d)0'?s(?P<tens>)", _decade),
    _way(r"'?(?P<tens>[5-9])0'?s(?P<decade>)", _decade, LEAD_SHORT_DECADE),
    *(Way(pattern, resolve, None, weak, True) for pattern, resolve, weak in RELATIVE),
    _way(YEAR, _plain_year, LEAD_YEAR),
    _way(r"(?P<part>q)(?P<nth>[1-4])", _part_of_year, LEAD_MONTH, weak=True),
    _way(rf"{MONTH}(?!'s {OWNED})", _month, LEAD_MONTH, weak=True),
    _way(
        rf"{SEASON}(?! (?:framework|boot|roll|water|mattress|tires?|tyres?|leaf|cleaning))",
        _season,
        LEAD_SEASON,
        weak=True,
    ),
    _way(rf"(?P<weekday>{'|'.join(WEEKDAYS)})", _weekday, LEAD_DAY, weak=True),
]
_NUMERIC = r"(?P<one>\d{1,2})[/.](?P<two>\d{1,2})[/.](?P<year>(?:19|20)\d\d)"
WAYS = {first: [*_ANY_ORDER, _way(_NUMERIC, partial(_numeric, day_first=first))] for first in (False, True)}
AHEAD = [Way(pattern, resolve, None, weak, True) for pattern, resolve, weak in UPCOMING]
