"""What is shown of the hits that do not fit into the budget? One last entry with their summaries or a count."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.context.token_estimate import Count

Summarise = Callable[[Sequence[str], int], str]  # texts and the most tokens for all of them together, to one text
LEAST = 8  # tokens that one memory needs to say anything at all
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")
_END = "…"


def extract(texts: Sequence[str], room: int, count: Count) -> tuple[str, int]:
    """The start of each text, in equal shares of the room, and how many of them, best first, came to words.

    >>> extract(["Ann has a cat. It is old.", "Bob has a dog."], 20, lambda text: len(text.split()))
    ('Ann has a cat. | Bob has a dog.', 2)
    """
    shown = min(len(texts), max(0, room) // LEAST)
    while shown:
        share = room // shown - 1
        said = " | ".join(clipped(_SENTENCE.split(text, 1)[0], share, count) for text in texts[:shown])
        if count(said) <= room:
            return said, shown
        shown -= 1
    return "", 0


def summarised(summarise: Summarise, texts: Sequence[str], room: int, count: Count) -> str:
    """What somebody else makes of the texts, clean and within the room; "" where that fails."""
    try:
        said = summarise(texts, room)
    except Exception:  # noqa: BLE001 - a model that fails must not cost the answer; the extract takes its place
        return ""
    return clipped(clean(said), room, count) if isinstance(said, str) else ""


def clipped(text: str, room: int, count: Count, end: str = _END) -> str:
    """As much of the text as fits, and `end` where that is not all; "" where not even a character fits.

    >>> clipped("a long story about tea", 14, len), clipped("tea", 14, len), clipped("tea", 1, len)
    ('a long story…', 'tea', '')
    """
    if count(text) <= room:
        return text
    low, high = 0, min(len(text), 40 * max(1, room))
    while low < high:  # the most characters that fit
        middle = (low + high + 1) // 2
        if count(text[:middle].rstrip() + end) <= room:
            low = middle
        else:
            high = middle - 1
    whole = text[:low] if text[low : low + 1].isspace() else text[:low].rpartition(" ")[0] or text[:low]
    return whole.rstrip() + end if whole.strip() else ""
