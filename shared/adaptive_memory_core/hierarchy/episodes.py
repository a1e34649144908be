"""The title and narrative of an episode, made by rule from what was said, and when it was."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.context.times import date
from adaptive_memory_core.hierarchy.nodes import Said
from adaptive_memory_core.hierarchy.semantics import distil, spoken
from adaptive_memory_core.hierarchy.theme_names import name_of

LONGEST_TITLE = 80  # characters
LONGEST_NARRATIVE = 1_500  # characters


def title_of(said: Sequence[Said]) -> str:
    """The terms that come most often and, behind them, the sentence that says most.

    >>> title_of([Said("1", "Ana", "I adopted a puppy.", 0.0), Said("2", "Ben", "A puppy? Sweet puppy!", 1.0)])
    'puppy: Ana adopted a puppy.'
    """
    best = distil(said, 1)
    terms = name_of([one.text for one in spoken(said)], {}, len(said), most=1) if said else ""
    title = f"{terms}: {best[0].shown}" if best else terms
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1].rstrip()}\u2026"


def narrative_of(said: Sequence[Said], sentences: int) -> str:
    """The day, and the sentences that say most in the order in which they were said: an extract, nothing is added.
    Of small talk, in which no sentence stands by itself, all that was said.

    >>> narrative_of([Said("1", "Ana", "Wow! I adopted a puppy in May.", 0.0), Said("2", "Ben", "Great!", 60.0)], 5)
    '1970-01-01: Ana adopted a puppy in May.'
    >>> narrative_of([Said("1", "Ana", "Hi!", 0.0), Said("2", "Ben", "Hello!", 60.0)], 5)
    '1970-01-01: Ana: Hi! Ben: Hello!'
    """
    told = [one.shown for one in distil(said, sentences)]
    told = told or [f"{one.speaker}: {one.text}" if one.speaker else one.text for one in spoken(said)]
    text = f"{date(said[0].at)}: {' '.join(told)}" if said else ""
    return text if len(text) <= LONGEST_NARRATIVE else f"{text[: LONGEST_NARRATIVE - 1].rstrip()}\u2026"


def span(said: Sequence[Said]) -> tuple[float, float]:
    """When it began and ended, in POSIX seconds.

    >>> span([Said("1", None, "a", 7.0), Said("2", None, "b", 9.0)])
    (7.0, 9.0)
    """
    times = [one.at for one in said]
    return min(times), max(times)
