"""What may somebody write about time? Phrases from a seeded grammar, with numbers and letters that nobody expects."""

from __future__ import annotations

import random

_NUMBERS = """0 00 1 3 12 31 99 100 999 9999 20000 999999999 -1 -999 1e9 1.5 ٣ ٩٩٩ ² ½ IV a an one two ten twenty
thirty dozen few couple several half""".split()  # noqa: SIM905
_UNITS = "minute hour day night week weekend fortnight month quarter season year decade century".split()  # noqa: SIM905
_MONTHS = "jan feb march april may june july aug sept october nov december spring summer fall winter".split()  # noqa: SIM905
_DAYS = "monday tuesday friday sunday yesterday today tomorrow christmas halloween now".split()  # noqa: SIM905
_ODD = str.maketrans("iskI", "\u0131\u017f\u212a\u0130")  # letters that a pattern takes for plain ones

PATTERNS = (
    "{n} {u}s ago", "{n} {u}s ago today", "about {n} {u}s back", "more than {n} {u}s ago", "within {n} {u}s ago",
    "in {n} {u}s", "in {n} {u}s' time", "the last {n} {u}s", "past {n} {u}s", "previous {n} {u}s", "{n} {d}s ago",
    "next {u}", "last {u}", "this {u}", "the {u} before last", "{u}s ago", "{n} {u}s before {d}",
    "{n} {u}s before {n} {m}",
    "the {u} of {m} {n}", "{m} {n}, {y}", "{n} {m} {y}", "{m} {y}", "{y}-{n}-{n}", "{y}-{n}", "{n}/{n}/{y}",
    "{n}.{n}.{y}",
    "between {m} {n} and {n} {m} {y}", "from {n} to {n} {m}", "from {y} until {y}", "{m} and {m} {y}", "{m} to {m} {y}",
    "q{n} {y}", "{y} h{n}", "the {n}th quarter of {y}", "the {y}s", "the {n}0s", "'{n}", "since {y}", "early-{m} {y}",
    "winter {y}-{n}", "last year in {m}", "last {d}", "this coming {d}", "day before {d}", "the {n}th of {m}",
    "thirty-first of {m} {y}", "over the {u}", "the other {u}", "this time last {u}", "by the end of {m} {y}",
)  # fmt: skip
_YEARS = ("0", "0000", "0001", "999", "1000", "1800", "1969", "1999", "2023", "2099", "8900", "9999", "10000", "99999")


def phrase(rng: random.Random) -> str:
    """One phrase, at times in odd letters, in capitals, or run together with the next."""
    said = rng.choice(PATTERNS)
    for place, words in (("{n}", _NUMBERS), ("{u}", _UNITS), ("{m}", _MONTHS), ("{d}", _DAYS), ("{y}", _YEARS)):
        while place in said:
            said = said.replace(place, rng.choice(words), 1)
    odd = rng.random()
    if odd < 0.1:
        return said.translate(_ODD)
    return said.upper() if odd < 0.2 else said


def texts(count: int, seed: int = 11) -> list[str]:
    """Sentences of one to three phrases each."""
    rng = random.Random(seed)
    joints = (" ", ", ", " and ", "-", "\n", "  ", " \u2013 ", " to ")
    return [rng.choice(joints).join(phrase(rng) for _ in range(rng.randint(1, 3))) for _ in range(count)]
