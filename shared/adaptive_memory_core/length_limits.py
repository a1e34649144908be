"""How long may a cue or a text be? A longer cue is cut, with a note; a longer text is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.records import Cue, NewRecord

END = 4  # one part in so many of a cut cue is its end: pasted text may stand before the question, or after it; guess


def cut(cue: Cue, most: int) -> tuple[Cue, tuple[str, ...]]:
    """The cue with at most so many characters, and a note where it had more.

    >>> short, notes = cut(Cue("what " + "x" * 100 + " city?"), 20)
    >>> short.text, notes
    ('what xxxxxxxxxx\\nity?', ('the cue has 111 characters, of which 20 were read; Keeping(cue_characters=...) ...',))
    >>> cut(Cue("tea?"), 20)
    (Cue(text='tea?'), ())
    """
    longest = max(len(cue.text), len(cue.words or ""))
    if longest <= most:
        return cue, ()
    note = f"the cue has {longest:,} characters, of which {most:,} were read; Keeping(cue_characters=...) allows more"
    words = None if cue.words is None else start_and_end(cue.words, most)
    return replace(cue, text=start_and_end(cue.text, most), words=words), (note,)


def start_and_end(text: str, most: int) -> str:
    """So much of a text: three quarters of it from its start, the rest from its end.

    >>> start_and_end("0123456789", 8), start_and_end("tea", 8)
    ('012345\\n9', 'tea')
    """
    if len(text) <= most:
        return text
    end = most // END
    return f"{text[: most - end]}\n{text[len(text) - end + 1 :]}"


def check_texts(records: Sequence[NewRecord], most: int) -> None:
    """Nothing, or an error: a text is longer than this memory keeps."""
    for one in records:
        if len(one.text) > most:
            raise InvalidInputError(
                f"The text {one.text[:40]!r}... has {len(one.text):,} characters. A record may have {most:,}: split it "
                "into several records, or allow more with Keeping(text_characters=...)."
            )
