"""The spans of time that dates mean: from local midnight to local midnight, relative to a given day."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
EARLIEST, LATEST = 1000, 9000  # supported years


class Span(NamedTuple):
    """The time from `start` up to but not including `end`; None is open. `soft` is how far vague ends extend."""

    start: datetime | None
    end: datetime | None
    soft: timedelta = timedelta(0)


def day(year: int, month: int, number: int, like: datetime) -> Span | None:
    """One day in the zone of `like`; None if the calendar has no such day.

    >>> day(2023, 2, 30, datetime(2023, 1, 1)) is None
    True
    """
    if not EARLIEST <= year <= LATEST:
        return None
    try:
        start = datetime(year, month, number, tzinfo=like.tzinfo)
    except ValueError:
        return None
    return Span(start, start + timedelta(days=1))


def months(year: int, month: int, like: datetime, count: int = 1) -> Span:
    """The span of `count` months from the first day of a month, whose number may be below 1 or above 12.

    >>> months(2020, 0, datetime(2020, 5, 5)).start.isoformat()
    '2019-12-01T00:00:00'
    """
    first, last = year * 12 + month - 1, year * 12 + month - 1 + count
    start, end = (datetime(one // 12, one % 12 + 1, 1, tzinfo=like.tzinfo) for one in (first, last))
    return Span(start, end)


def season_of_year(name: str, year: int, like: datetime) -> list[Span]:
    """The three months of a season, with soft ends. For winter, both the one that ends and the one that begins in the
    year."""
    years = (year - 1, year) if name == "winter" else (year,)
    return [blurred(months(one, SEASONS[name], like, 3), like) for one in years]


def latest_season(name: str, today: datetime, *, over: bool = False) -> Span:
    """The latest such season that has begun, or with `over` that has ended."""
    spans = [blurred(months(today.year - back, SEASONS[name], today, 3), today) for back in range(3)]
    return next(span for span in spans if _begun(span, today, over=over))


def latest_month(month: int, today: datetime, *, over: bool = False) -> Span:
    """The latest such month that has begun, or with `over` that has ended.

    >>> latest_month(5, datetime(2024, 4, 30)).start.isoformat()
    '2023-05-01T00:00:00'
    """
    spans = [months(today.year - back, month, today) for back in range(3)]
    return next(span for span in spans if _begun(span, today, over=over))


def latest_day(month: int, number: int, today: datetime) -> Span | None:
    """The latest such day that has begun; for 29 February that may be years ago."""
    spans = (day(today.year - back, month, number, today) for back in range(9))
    return next((span for span in spans if span is not None and _begun(span, today)), None)


def midnight(moment: datetime, days: int = 0) -> datetime:
    """The midnight before the moment, moved by `days`."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=days)


def stretch(today: datetime, first: float | None, last: float | None) -> list[Span]:
    """The span from `first` to `last` days from today, negative for the past, None for open. The ends are soft, because
    people don't count exactly. Empty outside the supported years, e.g. for "999 decades ago".

    >>> stretch(datetime(2023, 5, 12), -2, -1)[0].end.isoformat(), stretch(datetime(2023, 5, 12), -4e6, -3.9e6)
    ('2023-05-11T00:00:00', [])
    """
    start, end = (None if days is None else moved(today, days) for days in (first, last))
    gone = (start is None) != (first is None) or (end is None) != (last is None)
    return [] if gone else [blurred(Span(start, end), today)]


def blurred(span: Span, today: datetime) -> Span:
    """The span with ends softened by half its length; an open end counts as today.

    >>> blurred(Span(datetime(2023, 5, 2), None), datetime(2023, 5, 12)).soft.days
    5
    """
    return span._replace(soft=abs((span.end or today) - (span.start or today)) / 2)


def moved(moment: datetime, days: float) -> datetime | None:
    """The moment moved by `days`; None outside the supported years."""
    try:
        there = moment + timedelta(days=days)
    except OverflowError:
        return None
    return there if EARLIEST <= there.year <= LATEST else None


def latest_weekday(name: str, today: datetime) -> Span:
    """The latest such weekday before today.

    >>> latest_weekday("friday", datetime(2023, 5, 12)).start.isoformat()       # itself a Friday
    '2023-05-05T00:00:00'
    """
    back = (today.weekday() - WEEKDAYS.index(name)) % 7 or 7
    return Span(midnight(today, -back), midnight(today, 1 - back))


def current(unit: str, today: datetime, back: int = 0) -> Span:
    """The current week, weekend, month, quarter, year or decade, or the one `back` units earlier.

    >>> [str(one.date()) for one in current("week", datetime(2023, 5, 12), back=1)[:2]]
    ['2023-05-01', '2023-05-08']
    """
    if unit in ("week", "weekend"):
        monday = midnight(today, -today.weekday() - 7 * back)
        return Span(monday + timedelta(days=5 * (unit == "weekend")), monday + timedelta(days=7))
    if unit == "month":
        return months(today.year, today.month - back, today)
    if unit == "quarter":
        return months(today.year, (today.month - 1) // 3 * 3 + 1 - 3 * back, today, 3)
    if unit == "year":
        return months(today.year - back, 1, today, 12)
    return months(today.year // 10 * 10 - 10 * back, 1, today, 120)


def month_number(name: str) -> int:
    return MONTHS.index(name.lower()[:3]) + 1


def _begun(span: Span, today: datetime, *, over: bool = False) -> bool:
    edge = span.end if over else span.start
    return edge is not None and edge <= today
