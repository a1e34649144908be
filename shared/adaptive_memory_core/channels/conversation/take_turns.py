"""Which names that texts begin with are speakers? Those that take turns; a title stands in a row, or here and there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

ENOUGH = 4  # texts that begin with a name and a colon until that may be a speaker
OTHERS = 3  # texts of others after which a speaker in a group speaks again; guess
ANSWERED = 0.25  # share of a speaker's texts that somebody else's follows, and then soon the speaker's again; guess
NOBODY = -1
Array = Any


def take_turns(names: Sequence[str]) -> set[str]:
    """Of the names that texts begin with, in the order of the texts, those that are answered and speak again.

    >>> sorted(take_turns(["ana", "ben"] * 4))
    ['ana', 'ben']
    >>> take_turns(["rome"] * 4 + ["oslo"] * 4), take_turns(["note"] * 9)     # pages in pieces, and a heading
    (set(), set())
    """
    different = list(dict.fromkeys(names))
    number = {name: place for place, name in enumerate(different)}
    found = numbers_that_take_turns(np.array([number[name] for name in names], dtype=np.int64), len(different))
    return {different[one] for one in found}


def numbers_that_take_turns(names: Array, count: int) -> list[int]:
    """As well, of names that are given by their numbers, which are less than `count`.

    >>> numbers_that_take_turns(np.array([0, 1] * 4), 2)
    [0, 1]
    """
    often = np.bincount(names, minlength=count)
    there = names[often[names] >= ENOUGH] if len(names) else names
    behind = np.concatenate((there, np.full(1 + OTHERS, NOBODY)))
    size = len(there)
    soon = [behind[after : after + size] == there for after in range(2, 2 + OTHERS)]
    again = (behind[1 : 1 + size] != there) & np.any(soon, axis=0)
    times = np.bincount(there[again], minlength=count)
    found: list[int] = np.flatnonzero((times > 1) & (times >= ANSWERED * often)).tolist()
    return found
