"""Times as a model is shown them: a date and an age; "yesterday" or "gestern" in a text gets the day it meant."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone, tzinfo

from adaptive_memory_core.channels.words.words_of_cue import likeliest
from adaptive_memory_core.channels.words.words_of_text import UNSPACED
from adaptive_memory_core.cue.time.calendar import Span, months
from adaptive_memory_core.cue.time.chinese import Chinese
from adaptive_memory_core.cue.time.english import local
from adaptive_memory_core.cue.time.english_phrases import find
from adaptive_memory_core.cue.time.french import French
from adaptive_memory_core.cue.time.german import German
from adaptive_memory_core.cue.time.intent import Language, Window
from adaptive_memory_core.cue.time.spanish import Spanish

MOST_RESOLVED = 2_000  # characters of a text in which dates are looked for, more than most prompts show of it; guess
_UNITS = ((86_400.0 * 365.25, 2, "year"), (86_400.0 * 30.44, 2, "month"), (604_800.0, 2, "week"), (86_400.0, 1, "day"))
_SMALL = ((3_600.0, 1, "hour"), (60.0, 1, "minute"))


def date(posix: float, zone: tzinfo = timezone.utc) -> str:
    """The day, or the plain number where no calendar reaches.

    >>> date(0.0), date(1e300)
    ('1970-01-01', 'at 1e+300')
    """
    moment = local(posix, zone)
    return f"at {posix:g}" if moment is None else moment.date().isoformat()


def age(then: float, *, now: float) -> str:
    """How long ago, in the largest unit of which there are at least two (days and less: one).

    >>> [age(0.0, now=days * 86_400.0) for days in (0, 1, 9, 21, 150, 800)]
    ['just now', '1 day ago', '9 days ago', '3 weeks ago', '4 months ago', '2 years ago']
    >>> age(7200.0, now=0.0)
    'in 2 hours'
    """
    apart = abs(now - then)
    if not math.isfinite(apart):
        return "at a time unknown"
    for size, least, unit in (*_UNITS, *_SMALL):
        if apart >= least * size:
            count = int(apart // size)
            said = f"{count:,} {unit}{'' if count == 1 else 's'}"
            return f"{said} ago" if now >= then else f"in {said}"
    return "just now"


def resolved(text: str, said_at: float | None, zone: tzinfo = timezone.utc) -> str:
    """The text with the dates that its words meant on the day it was written; a long text's first part only.

    >>> resolved("I saw her yesterday, and last year", 1683849600.0)       # 12 May 2023
    'I saw her yesterday (2023-05-11), and last year (2022)'
    >>> resolved("Gestern sah ich sie, und letztes Jahr.", 1683849600.0)
    'Gestern (2023-05-11) sah ich sie, und letztes Jahr (2022).'
    """
    today = None if said_at is None else local(said_at, zone)
    if today is None:
        return text
    read = text[:MOST_RESOLVED].replace("\u2019", "'")
    found = [(dated.end, dated.spans[0]) for dated in find(read, today, ahead=True) if dated.relative]
    shown, before = [], 0
    for end, span in found or relative_times(read, today.timestamp(), zone):
        if end > before and (meant := _named(span)):
            shown.append(f"{text[before:end]} ({meant})")
            before = end
    return "".join([*shown, text[before:]])


def _named(span: Span) -> str | None:
    """A span in as few words as it needs; None where it is shorter than a day, or has no beginning."""
    start, end = span.start, span.end
    if start is None or end is None:
        return None if start is None else f"since {start.date()}"
    if any((start.hour, start.minute, start.second, end.hour, end.minute, end.second)):
        return _about(start, end)
    if start.day == 1 and span in (months(start.year, start.month, start), months(start.year, 1, start, 12)):
        return f"{start:%Y-%m}" if end - start < timedelta(days=32) else str(start.year)
    last = end - timedelta(days=1)
    return str(start.date()) if last <= start else f"{start.date()} to {last.date()}"


def _about(start: datetime, end: datetime) -> str | None:
    """Where the words were not exact, neither is the date."""
    length, middle = end - start, start + (end - start) / 2
    if length <= timedelta(days=1):
        return None if length < timedelta(hours=12) else str(start.date())
    if length <= timedelta(days=15):
        return f"about {middle.date()}"
    return f"about {middle:%Y-%m}" if length <= timedelta(days=200) else f"about {middle.year}"


BEGINNING = 300  # characters of a text that tell its language; guess
LATER = 86_400.0 * 800  # seconds after which a phrase that hangs on the day of the text means another time


def relative_times(text: str, said_at: float, zone: tzinfo) -> Iterator[tuple[int, Span]]:
    """Where each phrase that hangs on the day of the text ends, and what it means. The name of a day or month without
    its year does not say which one is meant: a plan and a report name it alike.

    >>> from datetime import timezone
    >>> text, day = "Das war vor drei Wochen, nicht am 3. Mai 2021.", 1683849600.0
    >>> [(text[:end], str(span[0].date())) for end, span in relative_times(text, day, timezone.utc)]
    [('Das war vor drei Wochen', '2023-04-17')]
    """
    language = _language_of(text, zone)
    if language is not None:
        yield from sorted(_found(text, said_at, zone, language))


def _language_of(text: str, zone: tzinfo) -> Language | None:
    """That of the text's beginning, where it is one of these."""
    start = text[:BEGINNING]
    if not start.isascii() and UNSPACED.search(start):
        return Chinese(zone)
    spaced: dict[str, Callable[[tzinfo], Language]] = {"de": German, "fr": French, "es": Spanish}
    told = likeliest(start, list(spaced))
    return spaced[told](zone) if told in spaced else None


def _found(text: str, said_at: float, zone: tzinfo, language: Language) -> Iterator[tuple[int, Span]]:
    signs = [one for one in language(text, said_at) if not one.comes_again]
    meant = [(sign.phrase, sign.window) for sign in signs if sign.window is not None]
    fixed = {(sign.phrase, sign.window) for sign in language(text, said_at + LATER)} if meant else set()
    for phrase, window in meant:
        span = _span(window, zone)
        if (phrase, window) not in fixed and phrase in text and span is not None:
            yield text.index(phrase) + len(phrase), span


def _span(window: Window, zone: tzinfo) -> Span | None:
    if window.start is None or window.end is None:
        return None
    start, end = local(window.start, zone), local(window.end, zone)
    return None if start is None or end is None else Span(start, end)
