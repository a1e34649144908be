"""How many of which unit is meant? "three weeks", "a few", "half an hour", in English."""

from __future__ import annotations

import re

NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
NUMBERS |= {"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "a dozen": 12}
VAGUE = {"couple": (1.5, 3.0), "few": (2.0, 5.0), "several": (3.0, 8.0)}  # of units: from, to; guesses
UNIT_DAYS = {
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "night": 1.0,
    "week": 7.0,
    "fortnight": 14.0,
    "month": 30.44,
    "quarter": 91.3,
    "year": 365.25,
    "decade": 3652.5,
}
_WORDS = "|".join(sorted(NUMBERS, key=len, reverse=True))
COUNT = rf"(?P<count>\d{{1,3}}|(?:a )?(?:couple(?: of)?|few)|half an?|several|{_WORDS})"
UNIT = r"(?P<unit>minute|hour|day|night|week|fortnight|month|year|decade)s?"


def counted(match: re.Match[str]) -> tuple[float, float]:
    """How many, at least and at most.

    >>> counted(re.match(COUNT, "a few"))
    (2.0, 5.0)
    """
    word = match["count"].lower()
    for vague, range_ in VAGUE.items():
        if vague in word:
            return range_
    number = 0.5 if word.startswith("half") else float(word) if word.isdigit() else float(NUMBERS[word])
    return number, number
