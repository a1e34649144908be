"""Are the texts that vectors find too short to say more than the cue does, while words find longer ones?

Then they are headings, titles, names or labels. A heading is nearer to a question about it than the text that answers,
for it says nothing besides: where words are sure, vectors do not keep their least part whole. A label is what is looked
for where longer texts have the cue's words by accident: then vectors count more. A turn may be as short and answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.channels.words.lengths_found import LengthsFound, usual_length

NEAREST = 5  # of each channel, whose lengths are compared; 3 to 10 is flat, benchmarks/recall_quality.py
STEPS = 2  # of how short each record is, so that few kinds are weighed; guess
USUAL_RATIO = 1.75  # of an answer's length to the cue's, and of what words find to what vectors do; 1.5 to 2 is flat


def shortness(found: LengthsFound, cue: int) -> float:
    """How far the texts that vectors find are shorter than those that words find, and hardly longer than the cue of so
    many characters: 0 not at all, towards 1 the shorter they are.

    >>> from math import log
    >>> round(shortness(LengthsFound(near=[log(20)] * 5, worded=[log(200)] * 5), cue=40), 3)    # headings
    0.918
    >>> shortness(LengthsFound(near=[log(200)] * 5, worded=[log(200)] * 5), cue=40)   # answers
    0.0
    >>> shortness(LengthsFound(near=[log(20)] * 5, worded=[log(25)] * 5), cue=40)     # all are as short, as labels are
    0.0
    """
    return _too_short(usual_length(found.near[:NEAREST]), _least(found, cue)) if found.near else 0.0


def shortness_of_each(
    texts: Sequence[str], alone: Sequence[float], found: LengthsFound, cue: int, by_own_length: bool
) -> list[float]:
    """That for each record. Where the nearest are of all kinds, a record that is too short by its own length is taken
    for a label whatever the others are. Of a turn of a conversation nothing is told by its length.

    >>> from math import log
    >>> texts, found = ["lost card", "a card that was lost", "long " * 20], LengthsFound([log(90)], [log(200)])
    >>> shortness_of_each(texts, [True] * 3, found, cue=18, by_own_length=True)
    [1.0, 0.5, 0.0]
    >>> shortness_of_each(texts, [False] * 3, found, cue=18, by_own_length=True)
    [0.0, 0.0, 0.0]
    >>> shortness_of_each(texts, [True] * 3, found, cue=18, by_own_length=False)
    [0.0, 0.0, 0.0]
    """
    all_alike = shortness(found, cue)
    if not by_own_length or not found.near:
        return [all_alike if by_itself else 0.0 for by_itself in alone]
    least = _least(found, cue)
    return [
        max(all_alike, round(STEPS * _too_short(len(text) or 1, least)) / STEPS) if by_itself else 0.0
        for text, by_itself in zip(texts, alone, strict=True)
    ]


def _least(found: LengthsFound, cue: int) -> float:
    """The length from which on a text may say more than the cue does."""
    return min(USUAL_RATIO * cue, usual_length(found.worded[:NEAREST]) / USUAL_RATIO)


def _too_short(length: float, least: float) -> float:
    """How far a text of that length is too short.

    >>> _too_short(60, 30), _too_short(30, 30), _too_short(15, 30)
    (0.0, 0.0, 0.75)
    """
    return 0.0 if length >= least else 1.0 - (length / least) ** 2
