"""Tables of patterns for the time that a query names, for languages with few words for time.

A language supplies patterns and the words for months, days, units and numbers. The meaning is the same in all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone, tzinfo
from typing import ClassVar, NamedTuple

from adaptive_memory_core.channels.language_of_text import likeliest
from adaptive_memory_core.cue.time import calendar
from adaptive_memory_core.cue.time.calendar import Span
from adaptive_memory_core.cue.time.english import as_window, local
from adaptive_memory_core.cue.time.english_relative import UNIT_DAYS, Resolve
from adaptive_memory_core.cue.time.intent import Lean, Sign, TimeHint
from adaptive_memory_core.late import late_pattern

LEAD = 24  # characters before a phrase that may contain "since" or "before"
_COME_AGAIN = frozenset(("weekday", "month"))  # groups of a pattern
_VAGUE = {"few": (2.0, 5.0), "several": (3.0, 8.0)}  # ranges for vague number words, as in English


class PhraseRule(NamedTuple):
    """One way to name a time. Rules marked `past` apply only to questions about the past."""

    pattern: re.Pattern[str]
    resolve: Resolve
    past: bool = False

    @property
    def comes_again(self) -> bool:
        """Whether the rule is for a weekday, or for a month or date without a year."""
        return self.past and not _COME_AGAIN.isdisjoint(self.pattern.groupindex)


class Vocabulary(NamedTuple):
    """A language's ways to name times. A text in another language than `code`, or without a match of `some`, mentions
    no time. `bound` finds "since", "before", "until" and "after" next to a phrase, in groups with these names."""

    code: str | None
    some: re.Pattern[str]
    rules: Sequence[PhraseRule]
    leans: Sequence[tuple[Lean, re.Pattern[str]]]
    bound: re.Pattern[str]
    past: re.Pattern[str]
    future: re.Pattern[str]

    @property
    def hint(self) -> TimeHint:
        return TimeHint(self.code, self.some)


@dataclass(frozen=True)
class PhraseLanguage:
    """Questions in the language of a vocabulary; days begin and end in `zone`."""

    vocabulary: ClassVar[Vocabulary]
    hint: ClassVar[TimeHint]
    zone: tzinfo = timezone.utc

    def __call__(self, text: str, now: float) -> Iterable[Sign]:
        return phrases_of_time(text.replace("\u2019", "'"), now, self.zone, self.vocabulary)


def phrases_of_time(text: str, now: float, zone: tzinfo, language: Vocabulary) -> Iterator[Sign]:
    """The signs that a language finds in a text."""
    code = language.code
    if (code is not None and likeliest(text, [code]) != code) or not language.some.search(text):
        return
    today = local(now, zone)
    if today is None:
        return
    taken: list[tuple[int, int]] = []
    past, future = language.past.search(text) is not None, language.future.search(text) is not None
    for rule in language.rules:
        if rule.past and (future or not past):
            continue
        for match in rule.pattern.finditer(text):
            if any(match.start() < end and begin < match.end() for begin, end in taken):
                continue
            taken.append(match.span())
            spans = _bounded(text, match, rule.resolve(match, today), language.bound)
            phrase, again = match[0].strip(), rule.comes_again
            yield from (Sign(phrase, as_window(span), comes_again=again) for span in spans if _begun(span, today))
    yield from _leaning(text, taken, language)


def _leaning(text: str, taken: Sequence[tuple[int, int]], language: Vocabulary) -> Iterator[Sign]:
    for lean, pattern in language.leans:
        for match in pattern.finditer(text):
            if not any(match.start() < end and begin < match.end() for begin, end in taken):
                yield Sign(match[0].strip(), lean=lean)


def _begun(span: Span, today: datetime) -> bool:
    return span.start is None or span.start <= today


def _bounded(text: str, match: re.Match[str], spans: Sequence[Span], bound: re.Pattern[str]) -> list[Span]:
    """The spans, changed by words such as "since" and "before" in front of the phrase or (in some languages) after."""
    found = bound.search(
        text[max(0, match.start() - LEAD) : match.start()] + "\0" + text[match.end() : match.end() + 4]
    )
    side = None if found is None else found.lastgroup
    return [_one_side(span, side) for span in spans]


def _one_side(span: Span, side: str | None) -> Span:
    if side == "since":
        return Span(span.start, None, span.soft)
    if side == "before":
        return Span(None, span.start, span.soft)
    if side == "until":
        return Span(None, span.end, span.soft)
    return Span(span.end, None, span.soft) if side == "after" else span


def pattern(words: str, *, whole: bool = True) -> re.Pattern[str]:
    """Words as a pattern, of `whole` words if the language has spaces."""
    return late_pattern(rf"(?<!\w)(?:{words})(?!\w)" if whole else words, re.IGNORECASE)


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first, so that it matches the longest."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def days_back(first: int, count: int = 1) -> Resolve:
    return lambda _, today: [Span(calendar.midnight(today, -first), calendar.midnight(today, count - first))]


def ago(units: Mapping[str, str], numbers: Mapping[str, float | str]) -> Resolve:
    """A number of units ago, with half a unit on either side; a number of days is one whole day."""

    def resolve(match: re.Match[str], today: datetime) -> list[Span]:
        unit, (low, high) = units[match["unit"].lower()], _counted(match["count"], numbers)
        if unit == "day" and low == high:
            return days_back(int(low))(match, today)
        size, either = UNIT_DAYS[unit], min(0.5, low / 2) * UNIT_DAYS[unit]
        return calendar.stretch(today, -high * size - either, -low * size + either)

    return resolve


def rolling(units: Mapping[str, str], numbers: Mapping[str, float | str]) -> Resolve:
    """The last units up to now, such as "the last three weeks"."""
    return lambda match, today: calendar.stretch(
        today, -_counted(match["count"], numbers)[1] * UNIT_DAYS[units[match["unit"].lower()]], None
    )


def whole_unit(units: Mapping[str, str], back: int) -> Resolve:
    """The current week, month or year, or the one `back` units earlier."""
    return lambda match, today: [calendar.current(units[match["unit"].lower()], today, back)]


def weekday(names: Mapping[str, str]) -> Resolve:
    return lambda match, today: [calendar.latest_weekday(names[match["weekday"].lower()], today)]


def date_in_month(months: Mapping[str, int]) -> Resolve:
    """A day in a month; without a year, the latest."""

    def resolve(match: re.Match[str], today: datetime) -> list[Span]:
        month, number, year = _month(match, months), int(match["day"]), match.groupdict().get("year")
        found = (
            calendar.latest_day(month, number, today) if year is None else calendar.day(int(year), month, number, today)
        )
        return [] if found is None else [found]

    return resolve


def month(months: Mapping[str, int], *, year_back: int | None = None) -> Resolve:
    """A whole month: in a given year, `year_back` years ago, or the latest."""

    def resolve(match: re.Match[str], today: datetime) -> list[Span]:
        number, year = _month(match, months), match.groupdict().get("year")
        if year_back is not None:
            year = str(today.year - year_back)
        return [calendar.latest_month(number, today) if year is None else calendar.months(int(year), number, today)]

    return resolve


def year(match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.months(int(match["year"]), 1, today, 12)]


def season_phrase(names: Mapping[str, str], *, over: bool = False) -> Resolve:
    """A season in a given year, or the latest, with `over` the latest that has ended."""

    def resolve(match: re.Match[str], today: datetime) -> list[Span]:
        name, said = names[match["season"].lower()], match.groupdict().get("year")
        return (
            [calendar.latest_season(name, today, over=over)]
            if said is None
            else calendar.season_of_year(name, int(said), today)
        )

    return resolve


def _month(match: re.Match[str], months: Mapping[str, int]) -> int:
    said = match["month"].lower()
    number = int(said) if said.isdigit() else months[said]
    return number if 1 <= number <= 12 else 1


def _counted(said: str, numbers: Mapping[str, float | str]) -> tuple[float, float]:
    word = said.lower()
    number = float(word) if word.isdigit() else numbers[word]
    return _VAGUE[number] if isinstance(number, str) else (number, number)
