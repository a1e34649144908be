"""Are the texts that vectors find too short to say more than the cue does, while words find longer ones?

Then they are headings, titles, names or labels. A heading is nearer to a question about it than the text that answers,
for it says nothing besides: where words are sure, vectors do not keep their least part whole. A label is what is looked
for where longer texts have the cue's words by accident: then vectors count more. A turn may be as short and answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.channels.words.lengths_found import LengthsFound, usual_length

NEAREST = 5  # of each channel, whose lengths are compared; 3 to 10 is flat, benchmarks/recall_quality.py
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
    if not found.near:
        return 0.0
    near, worded = usual_length(found.near[:NEAREST]), usual_length(found.worded[:NEAREST])
    times = min(USUAL_RATIO * cue, worded / USUAL_RATIO) / near
    return 0.0 if times <= 1.0 else 1.0 - 1.0 / times**2


def of_no_turns(short: float, alone: Sequence[float]) -> list[float]:
    """That for each record: a turn is in a conversation, and nothing is told by its length.

    >>> of_no_turns(0.5, [False, True])
    [0.0, 0.5]
    """
    return [short if by_itself else 0.0 for by_itself in alone]
