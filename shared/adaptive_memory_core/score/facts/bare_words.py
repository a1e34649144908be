"""Which words of a sentence are left without those that only say that it is new? "Now it's open" is "it is open"."""

from __future__ import annotations

from collections.abc import Sequence

_MODIFIERS = frozenset(
    [
        "now",
        "new",
        "newly",
        "latest",
        "current",
        "currently",
        "actually",
        "instead",
        "recently",
        "just",
        "today",
        "nowadays",
        "already",
        "still",
        "again",
        "the",
        "a",
        "an",
        "jetzt",
        "nun",
        "neue",
        "neuer",
        "neues",
        "inzwischen",
        "maintenant",
        "désormais",
        "ahora",
        "现",
        "已",
        "经",
    ]
)
PRONOUNS = frozenset(
    [
        "i",
        "it",
        "he",
        "she",
        "that",
        "this",
        "there",
        "we",
        "my",
        "our",
        "ich",
        "wir",
        "mein",
        "meine",
        "mi",
        "je",
        "yo",
        "nous",
        "mon",
        "ma",
        "我",
        "私",
    ]
)
_SHORT = {"s": "is", "m": "am", "re": "are"}
_AFTER_IS = frozenset(["the", "a", "an", "in", "at", "on", "not", "now"])


def bare(said: Sequence[str]) -> tuple[str, ...]:
    """Without what only says that it is new, and with "is" where it is cut short.

    >>> bare(("now", "it's", "open"))
    ('it', 'is', 'open')
    """
    together = "".join(said)
    if "'" not in together and "\u2019" not in together:
        return tuple([word for word in said if word not in _MODIFIERS])
    found: list[str] = []
    for word, after in zip(said, [*said[1:], ""], strict=True):
        base, mark, end = word.replace("\u2019", "'").rpartition("'")
        short = _SHORT.get(end) if mark and (end != "s" or base in PRONOUNS or after in _AFTER_IS) else None
        found += [base, short] if short else [word]
    return tuple(word for word in found if word not in _MODIFIERS)
