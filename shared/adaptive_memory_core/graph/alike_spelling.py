"""May two names be the same, written otherwise? What their spelling says, beside how alike their vectors are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from adaptive_memory_core.channels.words.words_of_text import STOP_WORDS
from adaptive_memory_core.graph.names import INSIDE, words_of

FEWEST_LETTERS = 5  # of a name that may be another one; of shorter ones a letter tells too much; guess
ALIKE_SPELLING = 0.7  # share of letters in common from which two words may be the same; guess
ALIKE_ALONE = 0.8  # of two names of one word each, which nothing else tells apart; guess
_ROMAN = re.compile(r"m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
_ORDINAL = re.compile(  # in English, German and French; what is shorter and English stands below
    r"\w+(?:teen|ie)th|(?:hundred|thousand)th|\w*zehn(?:te[mnrs]?)?|\w+(?:zig|[sß]ig)ste[mnrs]?"
    r"|(?:ers|zwei|drit|vier|fünf|sechs|siebt?|ach|neun)te[mnrs]?|\w+i[eè]mes?"
)
_COMPASS = re.compile(r"north|nord|south|s[uü]d|east|ost|west")
_TELL_APART = frozenset(
    """
    north south east west northern southern eastern western upper lower inner outer greater lesser old new
    king queen prince princess duke duchess count countess baron baroness emperor empress lord lady sir dame
    mr mrs ms miss man woman men women male female boy girl boys girls father mother son daughter brother sister
    junior senior jr sr elder younger first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter morning evening
    """.split()  # noqa: SIM905 - a list of them would be longer than this file
)


def may_be_one(one: str, other: str) -> bool:
    """Whether nothing in the spelling of two names tells them apart: numbers, numerals, single letters, dates and such
    words as "north" are the same in both, and each other word has one in the other name that is written nearly so.

    >>> may_be_one("jon smith", "john smith"), may_be_one("universidad de salamanca", "university of salamanca")
    (True, True)
    >>> may_be_one("louis xiv", "louis xv"), may_be_one("j smith", "john smith"), may_be_one("apollo 11", "apollo 12")
    (False, False, False)
    >>> may_be_one("thirteenth amendment", "fourteenth amendment"), may_be_one("northampton", "southampton")
    (False, False)
    >>> may_be_one("melbourne", "university of melbourne"), may_be_one("prince albert", "princess albert")
    (False, False)
    """
    if min(len(one), len(other)) < FEWEST_LETTERS or one == other:
        return False
    own, its = (_words(name) for name in sorted((one, other)))  # likeness of words is not the same both ways
    if Counter(filter(_tells, own)) != Counter(filter(_tells, its)):
        return False
    left, right = _without(own, its), _without(its, own)
    least = ALIKE_ALONE if len(own) == len(its) == 1 else ALIKE_SPELLING
    return bool(left) and len(left) == len(right) and _paired(left, right, least)


def _words(name: str) -> list[str]:
    return [word.plain for word in words_of(name) if word.plain not in STOP_WORDS | INSIDE or len(word.plain) == 1]


def _tells(word: str) -> bool:
    """Whether another word in its place would make it another name.

    >>> _tells("1914"), _tells("xiv"), _tells("b"), _tells("east"), _tells("smith")
    (True, True, True, True, False)
    """
    if any(one.isdigit() for one in word) or _ORDINAL.fullmatch(word):
        return True
    return word.isascii() and (len(word) == 1 or word in _TELL_APART or _ROMAN.fullmatch(word) is not None)


def _without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """What the others do not have."""
    return list((Counter(words) - Counter(others)).elements())


def _paired(left: Sequence[str], right: Sequence[str], least: float) -> bool:
    """Whether each has another that is written nearly so, none of them twice."""
    free = list(right)
    for word in left:
        best = max(free, key=lambda other: _spelled_alike(word, other))
        if _spelled_alike(word, best) < least:
            return False
        free.remove(best)
    return True


def _spelled_alike(one: str, other: str) -> float:
    """
    >>> round(_spelled_alike("jon", "john"), 2), round(_spelled_alike("new", "nueva"), 2)
    (0.86, 0.5)
    >>> _spelled_alike("westbahnhof", "ostbahnhof")     # other ends of a town
    0.0
    """
    ends = _COMPASS.match(one), _COMPASS.match(other)
    if ends[0] and ends[1] and ends[0][0] != ends[1][0]:
        return 0.0
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
