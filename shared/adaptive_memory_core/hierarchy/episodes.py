"""What is an episode called, and when was it? By what it says most, and by its first and last message."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.hierarchy.nodes import Said
from adaptive_memory_core.hierarchy.semantics import distil
from adaptive_memory_core.hierarchy.theme_names import name_of

LONGEST_TITLE = 80  # characters


def title_of(said: Sequence[Said]) -> str:
    """The terms that come most often and, behind them, the sentence that says most.

    >>> title_of([Said("1", "Ana", "I adopted a puppy.", 0.0), Said("2", "Ben", "A puppy? Sweet puppy!", 1.0)])
    'puppy: Ana adopted a puppy.'
    """
    best = distil(said, 1)
    terms = name_of([one.text for one in said], {}, len(said), most=1) if said else ""
    title = f"{terms}: {best[0].shown}" if best else terms
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1].rstrip()}\u2026"


def span(said: Sequence[Said]) -> tuple[float, float]:
    """When it began and ended, in POSIX seconds.

    >>> span([Said("1", None, "a", 7.0), Said("2", None, "b", 9.0)])
    (7.0, 9.0)
    """
    times = [one.at for one in said]
    return min(times), max(times)
