"""In which languages are questions of a time understood? One class each; `AdaptiveMemory(languages=...)` takes any."""

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
    """All of them, with days of this zone: what a memory has where nothing else is said. English comes last, because
    it takes 3/4/2021 for a day in March, and where another language has told of it that holds.

    >>> [type(one).__name__ for one in all_languages()]
    ['German', 'French', 'Spanish', 'Chinese', 'English']
    """
    return German(zone), French(zone), Spanish(zone), Chinese(zone), English(zone)
