"""Which words of a text are names? Those with a capital within a sentence; days and months tell when."""

from __future__ import annotations

from adaptive_memory_core.channels.words.words_of_text import words

EDGES = " .,;:!?\"'`()[]{}\u2019\u201c\u201d\u2026\u3002\uff0c\uff1f\uff01\u3001"
CALENDAR = frozenset(
    words(
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays"
        " Saturdays Sundays January February March April May June July August September October November December"
    )
)


def names_in(text: str) -> frozenset[str]:
    """What has a capital, not at the beginning of a sentence."""
    found: list[str] = []
    start = True
    for one in text.split():
        word = one.strip(EDGES)
        if word[:1].isupper() and not start:
            found += words(word)
        start = one[-1] in ".!?:"
    return frozenset(found)
