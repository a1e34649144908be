"""May a pattern that takes capitals and small letters for the same be in a text? Its words are looked for first."""

from __future__ import annotations

from collections.abc import Iterable

_LETTERS = str.maketrans("\u0130\u0131\u017f\u212a", "IisK")  # four that a pattern of ASCII letters takes for them


def in_ascii_letters(text: str) -> str:
    """The text with the letters that such a pattern takes for ASCII ones as those.

    >>> in_ascii_letters("la\u017ft wee\u212a")
    'last weeK'
    """
    return text if text.isascii() else text.translate(_LETTERS)


def some_in(lower: str, words: Iterable[str]) -> bool:
    """Whether a text in lower case holds one of the words.

    >>> some_in("three weeks ago", ("day", "week")), some_in("tea", ("day", "week"))
    (True, False)
    """
    for one in words:  # noqa: SIM110 - quicker than `any` of a generator
        if one in lower:
            return True
    return False


def words_of(line: str) -> tuple[str, ...]:
    """
    >>> words_of("day week")
    ('day', 'week')
    """
    return tuple(line.split())
