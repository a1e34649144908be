"""What if not all of it fits? The rest in one block: said in brief rather than left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.context.tokens import Count

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
        said = " | ".join(_clipped(_SENTENCE.split(text, 1)[0], share, count) for text in texts[:shown])
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
    return _clipped(clean(said), room, count) if isinstance(said, str) else ""


def _clipped(text: str, room: int, count: Count) -> str:
    """As many of the words as fit."""
    if count(text) <= room:
        return text
    words = text[: 20 * max(1, room)].split(" ")
    low, high = 0, len(words)
    while low < high:  # the most words that fit
        middle = (low + high + 1) // 2
        if count(" ".join(words[:middle]) + _END) <= room:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low]) + _END if low else ""
