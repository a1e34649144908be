"""The time that a query asks about: a named span, the past, the beginning, the present, or (mostly) none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from adaptive_memory_core.error_messages import shown

Lean = Literal["past", "earliest", "present"]
LONGEST_READ = 1_000  # characters of a query that is read; a longer one is pasted, and its dates are not asked about


@dataclass(frozen=True, slots=True)
class Window:
    """The time from `start` up to but not including `end`, in POSIX seconds; None is open.

    A vague time ("three weeks ago") counts half as much `soft_seconds` beyond its ends; 0 if the ends are exact.
    """

    start: float | None = None
    end: float | None = None
    soft_seconds: float = field(default=0.0, compare=False)

    def __contains__(self, moment: float) -> bool:
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)


@dataclass(frozen=True, slots=True)
class Sign:
    """A phrase about time, with the window that it names or the direction in which it leans. `comes_again` marks a day
    or month without a year ("on Monday", "9 May"): in a question about the past it is the latest, in a text any."""

    phrase: str
    window: Window | None = None
    lean: Lean | None = None
    comes_again: bool = False


@dataclass(frozen=True, slots=True)
class Intent:
    """The time that a question asks about. `windows` are the times it names. `lean` is its direction if it names none:
    the "past", the "earliest" or the "present". `phrases` are the words for it."""

    windows: tuple[Window, ...] = ()
    lean: Lean | None = None
    phrases: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.windows) or self.lean is not None


Language = Callable[[str, float], Iterable[Sign]]  # from a text and its time (POSIX seconds) to the signs in it
NO_INTENT = Intent()


class TimeHint(NamedTuple):
    """The condition under which a language with this `hint` can find a time in a text. The text in lower case must
    match `some` and, if there is a `code`, must not be in another language."""

    code: str | None
    some: re.Pattern[str]


def understand(text: str, languages: Iterable[Language], *, now: float) -> Intent:
    """The time that a question asks about, by all languages together.

    A named time counts for more than a lean: "what did we originally plan in May" asks about May. Leans that
    contradict each other ("what do I do now that I used to hate") cancel each other.

    >>> then = Sign("then", lean="past")
    >>> understand("what did I do then?", [lambda text, now: [then] if "then" in text else []], now=0.0).lean
    'past'
    >>> bool(understand("what now?", [lambda text, now: [then, Sign("now", lean="present")]], now=0.0))
    False
    """
    return intent_of(without_repeats([signs(text, language, now=now) for language in languages]))


def signs(text: str, language: Language, *, now: float) -> list[Sign]:
    """The signs that one language finds in a question."""
    found = list(language(text, now)) if len(text) <= LONGEST_READ else []
    for one in found:
        if not isinstance(one, Sign):
            raise TypeError(f"a language returned {shown(one)} instead of a Sign")
    return found


def without_repeats(found: Iterable[Iterable[Sign]]) -> list[Sign]:
    """The signs of several languages in order, without those that overlap a sign of an earlier language.

    >>> german, english = Sign("7.5.2023", Window(1.0, 2.0)), Sign("7.5.2023", Window(5.0, 6.0))
    >>> without_repeats([[german], [english]]) == [german]
    True
    """
    kept: list[Sign] = []
    for own in found:
        before = tuple(kept)
        kept += [one for one in own if not any(_overlap(one.phrase, other.phrase) for other in before)]
    return kept


def _overlap(one: str, other: str) -> bool:
    return one in other or other in one


def intent_of(found: Iterable[Sign]) -> Intent:
    """The time that a question asks about, by the signs of all languages."""
    every = list(found)
    windows = tuple(dict.fromkeys(sign.window for sign in every if sign.window is not None))
    if windows:
        return Intent(windows, None, _phrases(every, windows=True))
    leans = {sign.lean for sign in every} - {None}
    if not leans or ("present" in leans and len(leans) > 1):
        return NO_INTENT
    return Intent((), "earliest" if "earliest" in leans else leans.pop(), _phrases(every, windows=False))


def _phrases(signs: Iterable[Sign], *, windows: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sign.phrase for sign in signs if (sign.window is not None) == windows))


_LETTERS = str.maketrans("\u0130\u0131\u017f\u212a", "IisK")  # matched by ASCII letters if case is ignored


def in_ascii_letters(text: str) -> str:
    """The text with such letters replaced by the ASCII letters that they match.

    >>> in_ascii_letters("la\u017ft wee\u212a")
    'last weeK'
    """
    return text if text.isascii() else text.translate(_LETTERS)


def some_in(lower: str, words: Iterable[str]) -> bool:
    """Whether a text in lower case contains one of the words.

    >>> some_in("three weeks ago", ("day", "week")), some_in("tea", ("day", "week"))
    (True, False)
    """
    for one in words:  # noqa: SIM110 - faster than `any` with a generator
        if one in lower:
            return True
    return False


def split_words(line: str) -> tuple[str, ...]:
    """
    >>> split_words("day week")
    ('day', 'week')
    """
    return tuple(line.split())
