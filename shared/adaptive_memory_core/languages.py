"""Languages in which questions about time are understood, one class each, for `AdaptiveMemory(languages=...)`."""

from __future__ import annotations

from datetime import timezone, tzinfo

from adaptive_memory_core.cue.time.chinese import Chinese
from adaptive_memory_core.cue.time.english import English
from adaptive_memory_core.cue.time.french import French
from adaptive_memory_core.cue.time.german import German
from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.cue.time.spanish import Spanish

__all__ = ["Chinese", "English", "French", "German", "Spanish", "all_languages"]


def all_languages(zone: tzinfo = timezone.utc) -> tuple[Language, ...]:
    """All languages, with dates in this zone: the default of a memory. English comes last, because it reads 3/4/2021 as
    a day in March; the first language that reads a date wins.

    >>> [type(one).__name__ for one in all_languages()]
    ['German', 'French', 'Spanish', 'Chinese', 'English']
    """
    return German(zone), French(zone), Spanish(zone), Chinese(zone), English(zone)
