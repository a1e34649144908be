"""What is stored of a record's words? One row: digests of its words, and how often they come.

No word can be read from it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from adaptive_memory_core.channels.conversation.turns import BY_FIELD, Turn
from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.flow.ports.ledger_values import WordRow

MOST_OF_ONE_WORD = 65_535  # times that one word of a record counts


class Text(NamedTuple):
    """A record's text and where it stands in a conversation."""

    stored_id: str
    text: str
    turn: Turn


@lru_cache(maxsize=100_000)  # of at most 500 bytes each
def digest_of(word: str) -> int:
    """The number that stands for a word."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little", signed=True)


def mark(text: str, turn: Turn) -> bytes:
    """What changes when the text or its place does."""
    return hashlib.blake2b(repr((text, *turn)).encode(errors="replace"), digest_size=8).digest()


def row_of(one: Text) -> WordRow:
    """A record's words as the ledger has them."""
    told = "" if one.turn.speaker is None or one.turn.told != BY_FIELD else f"{one.turn.speaker} "
    found = Counter(words(told + one.text))
    terms = np.fromiter((digest_of(word) for word in found), dtype="<i8", count=len(found))
    counts = np.fromiter((min(MOST_OF_ONE_WORD, count) for count in found.values()), dtype="<u2", count=len(found))
    return (
        one.stored_id,
        mark(one.text, one.turn),
        sum(found.values()),
        terms.tobytes(),
        counts.tobytes(),
        *one.turn,
    )
