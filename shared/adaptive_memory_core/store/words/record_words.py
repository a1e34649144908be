"""The stored words of a record: digests and counts, from which no word can be read."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from adaptive_memory_core.channels.conversation.turns import BY_FIELD, Turn
from adaptive_memory_core.channels.words.languages import CODES, ENGLISH
from adaptive_memory_core.channels.words.words_of_cue import language_of
from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.flow.ports.ledger_values import WordRow

MOST_OF_ONE_WORD = 65_535  # times that one word of a record counts


class RecordText(NamedTuple):
    """A record's text, where it stands in a conversation, and the language that its metadata gives."""

    stored_id: str
    text: str
    turn: Turn
    language: str | None = None


@lru_cache(maxsize=100_000)  # of at most 500 bytes each
def digest_of(word: str) -> int:
    """The number that stands for a word."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little", signed=True)


def language_mark(code: str) -> str:
    """What stands among a record's words for the language that it is in; no text has it."""
    return f"\0{code}"


LANGUAGES = {digest_of(language_mark(code)): code for code in sorted(CODES)}


def mark(text: str, turn: Turn, language: str | None = None) -> bytes:
    """What changes when the text, its place or its given language does."""
    told = (text, *turn) if language in (None, ENGLISH) else (text, *turn, language)
    return hashlib.blake2b(repr(told).encode(errors="replace"), digest_size=8).digest()


def row_of(one: RecordText) -> WordRow:
    """A record's words as the ledger has them, and the language they are in where that is not English."""
    told = "" if one.turn.speaker is None or one.turn.told != BY_FIELD else f"{one.turn.speaker} "
    language = _language(one)
    found = Counter(words(told + one.text, language))
    length = sum(found.values())
    if language is not None:
        found[language_mark(language)] = 1
    terms = np.fromiter((digest_of(word) for word in found), dtype="<i8", count=len(found))
    counts = np.fromiter((min(MOST_OF_ONE_WORD, count) for count in found.values()), dtype="<u2", count=len(found))
    return (
        one.stored_id,
        mark(one.text, one.turn, one.language),
        length,
        terms.tobytes(),
        counts.tobytes(),
        *one.turn,
    )


def _language(one: RecordText) -> str | None:
    """The language that is given, else what the text tells; None for English and where it is not sure."""
    found = language_of(one.text) if one.language is None else one.language
    return None if found == ENGLISH else found
