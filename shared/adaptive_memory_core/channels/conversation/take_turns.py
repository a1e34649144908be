"""Which names that texts begin with are speakers? Those that take turns; a title stands in a row, or here and there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

ENOUGH = 4  # texts that begin with a name and a colon until that may be a speaker
OTHERS = 3  # texts of others after which a speaker in a group speaks again; guess
ANSWERED = 0.25  # share of a speaker's texts that somebody else's follows, and then soon the speaker's again; guess


def take_turns(names: Sequence[str]) -> set[str]:
    """Of the names that texts begin with, in the order of the texts, those that are answered and speak again.

    >>> sorted(take_turns(["ana", "ben"] * 4))
    ['ana', 'ben']
    >>> take_turns(["rome"] * 4 + ["oslo"] * 4), take_turns(["note"] * 9)     # pages in pieces, and a heading
    (set(), set())
    """
    often = Counter(names)
    there = [name for name in names if often[name] >= ENOUGH]
    again = Counter(
        name
        for place, name in enumerate(there)
        if name not in there[place + 1 : place + 2] and name in there[place + 2 : place + 2 + OTHERS]
    )
    return {name for name, times in again.items() if times > 1 and times >= ANSWERED * often[name]}
