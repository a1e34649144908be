"""Which turns say a name? One that neither speaker has: a capital where none begins a sentence."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

_CAPITAL = re.compile(r" [\"'(\u2018\u201c]?([A-Z][\w'\u2019]+)")  # a blank first, so that few places are looked at
_BEGINS_AFTER = frozenset(("", *".!?:\u2026 "))  # what ends before it, so that the next word has a capital anyway
_NO_NAMES = frozenset(
    "i'm i've i'll i'd ok okay monday tuesday wednesday thursday friday saturday sunday "  # noqa: SIM905
    "january february march april may june july august september october november december".split()
)
LONGEST = 2_000  # characters of a turn that may say none, as of one that may state nothing


def named_in(texts: Sequence[str], people: Sequence[float], speakers: Iterable[str]) -> list[float]:
    """1 for each text that says a name; of one that says none, how far it is no turn among people.

    >>> named_in(["I read Dune.", "I read.", "I read.", "I read."], [1.0, 1.0, 0.25, 0.0], ())
    [1.0, 0.0, 0.75, 1.0]
    >>> named_in(["Hi Ana!"], [1.0], ["ana lima"])
    [0.0]
    """
    known = {part for name in speakers for part in name.split()}
    return [
        1.0 - among if among and not says_name(text, known) else 1.0 for text, among in zip(texts, people, strict=True)
    ]


def says_name(text: str, speakers: Container[str] = ()) -> bool:
    """Whether it says a name, of others than the `speakers`, who are given in small letters.

    >>> [says_name(text) for text in ("I met Rex.", "We saw \\"Dune\\" (in Oslo)", "the US", "Ana's in Rome's heart")]
    [True, True, True, True]
    >>> [says_name(text) for text in ("Hi! How are you?", "Well, I'm off on Monday", "Rome", "")]
    [False, False, False, False]
    >>> says_name("Hi Ben, how was Ana's day?", {"ana", "ben"})
    False
    """
    if len(text) > LONGEST:
        return True
    for found in _CAPITAL.finditer(text):
        if text[found.start() - 1 : found.start()] not in _BEGINS_AFTER:
            word = found[1].lower().replace("\u2019", "'").removesuffix("'s")
            if word not in _NO_NAMES and word not in speakers:
                return True
    return False
