"""Where does a sentence end? A text cut into sentences by rule, for any script that marks their end."""

from __future__ import annotations

import re

MOST_SENTENCES = 4_000  # of one text; the rest of a longer one stands in its last sentence
_BREAK = re.compile(r"(?<=[.!?…])[\"'”\u2019)\]]*\s+(?=[\"'“\u2018(\[]*[^\Wa-z_])|(?<=[。\uff01\uff1f])|\n+")
_LONGEST_SHORT = 20  # characters that a short form, or the number of a line, may have with its point
_SHORT = re.compile(
    r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Pres|Gov|Sen|Rep|Mt|Ft|No|Nos|vs|Vol|vol|"
    r"ed|eds|pp|p|cf|ca|approx|Inc|Ltd|Co|Corp|Bros|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|fl|e\.g|i\.e|"
    r"U\.S|U\.K)\.$"
)
_NUMBER = re.compile(r"\W*\d{1,3}\.")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, each without the blanks around it.

    >>> sentences("Dr. J. Smith left the U.S. Army. Why? Nobody knows (yet.) It rained.")
    ['Dr. J. Smith left the U.S. Army.', 'Why?', 'Nobody knows (yet.)', 'It rained.']
    >>> sentences("Rome\\nIt lies on the Tiber"), sentences("我住在柏林。你呢。"), sentences(" ")
    (['Rome', 'It lies on the Tiber'], ['我住在柏林。', '你呢。'], [])
    """
    found: list[str] = []
    start = 0
    for end in _BREAK.finditer(text):
        if len(found) >= MOST_SENTENCES - 1:
            break
        if end.group().isspace() and "\n" not in end.group() and _goes_on(text, start, end.start()):
            continue
        piece = text[start : end.end()].strip()
        found += [piece] if piece else []
        start = end.end()
    rest = text[start:].strip()
    return [*found, rest] if rest else found


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether the point before `end` is that of a short form, or of a number that begins the sentence at `start`."""
    last = text[max(start, end - _LONGEST_SHORT) : end]
    return _SHORT.search(last) is not None or (len(last) == end - start and _NUMBER.fullmatch(last) is not None)
