"""Tables of patterns for the time that a query names, for languages with few words for time.

A language gives its patterns and the words for months, days, units and numbers; what they mean is the same in all.
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

LEAD = 24  # characters before a phrase that may say "since" or "before"
_COME_AGAIN = frozenset(("weekday", "month"))  # groups of a pattern
_VAGUE = {"few": (2.0, 5.0), "several": (3.0, 8.0)}  # what a language's words for them stand for, as in English


class PhraseRule(NamedTuple):
    """One way to name time; `past` ones hold only in a question about the past, the others in any."""

    pattern: re.Pattern[str]
    resolve: Resolve
    past: bool = False

    @property
    def comes_again(self) -> bool:
        """Whether it is a weekday, month or date that has no year."""
        return self.past and not _COME_AGAIN.isdisjoint(self.pattern.groupindex)


class Vocabulary(NamedTuple):
    """A language's ways to name time. A text in another language than `code`, or without a word of
    `some` in it, says nothing of time; `bound` finds "since",
    "before", "until" and "after" right before a phrase, in groups of these names."""

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
    """The signs that a language sees in a text."""
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
    """What "since", "before" and the like make of it; after the phrase as well, where a language says it there."""
    found = bound.search(
        text[max(0, match.start() - LEAD) : match.start()] + "\0" + text[match.end() : match.end() + 4]
    )
    said = None if found is None else found.lastgroup
    return [_one_side(span, said) for span in spans]


def _one_side(span: Span, said: str | None) -> Span:
    if said == "since":
        return Span(span.start, None, span.soft)
    if said == "before":
        return Span(None, span.start, span.soft)
    if said == "until":
        return Span(None, span.end, span.soft)
    return Span(span.end, None, span.soft) if said == "after" else span


def pattern(words: str, *, whole: bool = True) -> re.Pattern[str]:
    """Words as a pattern; `whole` words only, where a language has spaces."""
    return late_pattern(rf"(?<!\w)(?:{words})(?!\w)" if whole else words, re.IGNORECASE)


def any_of(words: Iterable[str]) -> str:
    """The longest first, so that none hides another."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def days_back(first: int, count: int = 1) -> Resolve:
    return lambda _, today: [Span(calendar.midnight(today, -first), calendar.midnight(today, count - first))]


def ago(units: Mapping[str, str], numbers: Mapping[str, float | str]) -> Resolve:
    """Around so many units ago: half a unit to either side, a whole day where days are counted."""

    def resolve(match: re.Match[str], today: datetime) -> list[Span]:
        unit, (low, high) = units[match["unit"].lower()], _counted(match["count"], numbers)
        if unit == "day" and low == high:
            return days_back(int(low))(match, today)
        size, either = UNIT_DAYS[unit], min(0.5, low / 2) * UNIT_DAYS[unit]
        return calendar.stretch(today, -high * size - either, -low * size + either)

    return resolve


def rolling(units: Mapping[str, str], numbers: Mapping[str, float | str]) -> Resolve:
    """The last so many units, up to now."""
    return lambda match, today: calendar.stretch(
        today, -_counted(match["count"], numbers)[1] * UNIT_DAYS[units[match["unit"].lower()]], None
    )


def whole_unit(units: Mapping[str, str], back: int) -> Resolve:
    """This week, month or year, or the one so many of them back."""
    return lambda match, today: [calendar.current(units[match["unit"].lower()], today, back)]


def weekday(names: Mapping[str, str]) -> Resolve:
    return lambda match, today: [calendar.latest_weekday(names[match["weekday"].lower()], today)]


def date_in_month(months: Mapping[str, int]) -> Resolve:
    """A day of a month, of the latest one where no year is said."""

    def resolve(match: re.Match[str], today: datetime) -> list[Span]:
        month, number, year = _month(match, months), int(match["day"]), match.groupdict().get("year")
        found = (
            calendar.latest_day(month, number, today) if year is None else calendar.day(int(year), month, number, today)
        )
        return [] if found is None else [found]

    return resolve


def month(months: Mapping[str, int], *, year_back: int | None = None) -> Resolve:
    """A whole month: of the year that is said, of one so many years back, or the latest."""

    def resolve(match: re.Match[str], today: datetime) -> list[Span]:
        number, year = _month(match, months), match.groupdict().get("year")
        if year_back is not None:
            year = str(today.year - year_back)
        return [calendar.latest_month(number, today) if year is None else calendar.months(int(year), number, today)]

    return resolve


def year(match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.months(int(match["year"]), 1, today, 12)]


def season_phrase(names: Mapping[str, str], *, over: bool = False) -> Resolve:
    """A season of a year, or the latest one, with `over` the latest that has ended."""

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
