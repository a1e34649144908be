"""Length limits: a longer query is cut, with a note; a longer text raises an error.

A query is cut once, before any search: its text for the embedder, and its words, with a lower limit, for all that look
for words, names and times in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.channels.words_of_text import UNSPACED
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.records import Cue, NewRecord

LETTERS_OF_A_SIGN = 8  # a Chinese, Japanese, Korean or Thai character gives as many words as 8 letters; measured
END = 4  # a quarter of a cut query is its end, since pasted text may come before the question or after it; guess


def shortened_cue(cue: Cue, most: int, most_of_words: int) -> tuple[Cue, tuple[str, ...]]:
    """The query cut to `most` characters and its words to `most_of_words`, with a note for each cut.

    >>> short, notes = shortened_cue(Cue("what " + "x" * 100 + " city?"), 20, 20)
    >>> short.text, notes
    ('what xxxxxxxxxx\\nity?', ('the cue has 111 characters, of which 20 were read; Keeping(cue_characters=...) ...',))
    >>> shortened_cue(Cue("tea?"), 20, 20)
    (Cue(text='tea?'), ())
    >>> shortened_cue(Cue("what city?"), 20, 8)[0].own_words
    'what c\\n?'
    """
    longest, notes = max(len(cue.text), len(cue.words or "")), []
    if longest > most:
        notes.append(
            f"the cue has {longest:,} characters, of which {most:,} were read; Keeping(cue_characters=...) allows more"
        )
        words = None if cue.words is None else start_and_end(cue.words, most)
        cue = replace(cue, text=start_and_end(cue.text, most), words=words)
    within = words_within(cue.own_words, most_of_words)
    if within is cue.own_words:
        return cue, tuple(notes)
    if longest <= most or most > most_of_words:
        notes.append(
            f"words, names and times were looked for in {len(within):,} characters of the cue; "
            "Keeping(cue_word_characters=...) allows more"
        )
    return replace(cue, words=within), tuple(notes)


def words_within(text: str, most: int) -> str:
    """The part of a text with about as many words as `most` letters; the same object if that is the whole text.

    >>> words_within("tea and cake", 20), words_within("\\u6771\\u4eac" * 10, 80)
    ('tea and cake', '東京東京東京東京\\n京')
    """
    if len(text) * (1 if text.isascii() else LETTERS_OF_A_SIGN) <= most:
        return text
    read = start_and_end(text, most)
    letters = len(read) + (LETTERS_OF_A_SIGN - 1) * sum(map(len, UNSPACED.findall(read)))
    return text if letters <= most and read is text else start_and_end(text, max(1, most * len(read) // letters))


def start_and_end(text: str, most: int) -> str:
    """At most `most` characters of a text: three quarters from its start, the rest from its end.

    >>> start_and_end("0123456789", 8), start_and_end("tea", 8)
    ('012345\\n9', 'tea')
    """
    if len(text) <= most:
        return text
    end = most // END
    return f"{text[: most - end]}\n{text[len(text) - end + 1 :]}"


def check_texts(records: Sequence[NewRecord], most: int) -> None:
    """Raise InvalidInputError if a text is too long for this memory."""
    for one in records:
        if len(one.text) > most:
            raise InvalidInputError(
                f"The text {shown(one.text[:40])}... has {len(one.text):,} characters. A record may have {most:,}: "
                "split it into several records, or allow more with Keeping(text_characters=...)."
            )
