"""Which records answered questions like this one? What earlier verdicts say of each, as far as they are about it.

GAM-RAG keeps one vector and one uncertainty a sentence (`gain`), so that whatever was judged once gains for every
question. Here each record keeps the questions it was judged for, and only those near this one speak (a kernel on the
cosine). A record is trusted by its share of all the helpful verdicts near this question: where the same questions were
answered by others as well, or the nearest is not near, hardly at all. So records that were never judged, and may be
right, lose little to those that were: that is what the share is for, and `benchmarks/learning_stream.py` measures it.
And where a record stands further behind the most similar one than it stood when it was helpful, this question has moved
to something else by so much, and the earlier one counts as less near.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.policy.asked_before import AskedBefore

LOWERING = 4.0  # power of the kernel beyond which an unhelpful verdict lowers: for nearly the same question only; guess


class Questions(NamedTuple):
    """What is remembered of judged questions: unit vectors, one a row, and for each verdict the record (a place in
    `stored_ids`), the question (a row), and how often it was called helpful and unhelpful for it."""

    stored_ids: Sequence[str]
    vectors: Any
    records: Any
    rows: Any
    helpful: Any
    unhelpful: Any
    keys: Sequence[int] = ()  # of the rows, in the ledger
    ahead: Any = None  # for each verdict, how far the record then stood before all others in similarity; NaN: unknown


class Told(NamedTuple):
    """What similar questions say of a record: how near the nearest one is that it was helpful for (`near`, and its
    row), how far that is trusted, how much speaks against it, and how far ahead of all others it stood in that one:
    1 at most, 0.5 where others were as similar, 0 where that is not known. All but the row lie in [0, 1]."""

    near: float
    trusted: float
    against: float
    row: int = -1
    ahead: float = 0.0


NOTHING: Mapping[str, Told] = {}


def told(questions: Questions, cue: Any, numbers: AskedBefore) -> Mapping[str, Told]:
    """What is said of each record that similar questions say something of, by its id in the collection.

    >>> one = Questions(["tea"], np.array([[1.0, 0.0]]), [0], [0], [1], [0])
    >>> told(one, np.array([1.0, 0.0]), AskedBefore(prior=0.25))
    {'tea': Told(near=1.0, trusted=0.8, against=0.0, row=0, ahead=0.0)}
    >>> told(one, np.array([0.0, 1.0]), AskedBefore())                     # a question about something else
    {}
    """
    close = np.clip(np.asarray(questions.vectors) @ np.asarray(cue), 0.0, 1.0)
    speaks = (np.maximum(0.0, close - numbers.floor) / (1.0 - numbers.floor)) ** numbers.power
    records, rows = np.asarray(questions.records, dtype=np.intp), np.asarray(questions.rows, dtype=np.intp)
    heard = speaks[rows] > 0.0
    if not heard.any():
        return NOTHING
    records, rows = records[heard], rows[heard]
    good, bad = np.asarray(questions.helpful)[heard], np.asarray(questions.unhelpful)[heard]
    count = len(questions.stored_ids)
    for_it = np.bincount(records, speaks[rows] * good, count)
    against = np.bincount(records, speaks[rows] * bad, count)
    trusted = np.clip((for_it - numbers.unhelpful * against) / (for_it.sum() + numbers.prior), 0.0, 1.0)
    stood = np.full(len(rows), np.nan) if questions.ahead is None else np.asarray(questions.ahead)[heard]
    best, which = _nearest(records, rows, close, good, count)
    worst, _ = _nearest(records, rows, close, bad, count)
    lowered = np.maximum(0.0, _at(worst, speaks) ** LOWERING - _at(best, speaks) ** LOWERING)
    near, ahead = _at(best, close), np.clip(np.nan_to_num(0.5 + 0.5 * _at(which, stood)), 0.0, 1.0)
    return {
        questions.stored_ids[one]: Told(
            float(near[one]), float(trusted[one]), float(lowered[one]), int(best[one]), float(ahead[one])
        )
        for one in np.flatnonzero((trusted > 0.0) | (lowered > 0.0)).tolist()
    }


def gained(relevance: float, near: float, trusted: float, against: float, numbers: AskedBefore) -> float:
    """By how much a record's relevance moves: up to the similarity of the nearest question it was helpful for, as far
    as that is trusted; or down, where it was called unhelpful for the same question.

    >>> half = AskedBefore(weight=0.5, lower=0.5)
    >>> gained(0.5, 1.0, 1.0, 0.0, half), gained(0.5, 0.25, 1.0, 0.0, half), gained(0.5, 0.0, 0.0, 1.0, half)
    (0.25, 0.0, -0.125)
    """
    up = trusted * max(0.0, near - relevance)
    return numbers.weight * (up - numbers.lower * against * max(0.0, relevance))


def nearest_pair(vectors: Any) -> tuple[int, int]:
    """The two rows that are most alike, the later one second: they are joined where too many are remembered.

    >>> nearest_pair(np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]))
    (0, 2)
    """
    alike = np.asarray(vectors) @ np.asarray(vectors).T
    alike[np.tril_indices(len(alike))] = -np.inf
    first, second = np.unravel_index(int(alike.argmax()), alike.shape)
    return int(first), int(second)


def _nearest(records: Any, rows: Any, close: Any, counts: Any, count: int) -> tuple[Any, Any]:
    """For each record the row of the nearest question that it has such a verdict on, and the place of the verdict; -1
    where there is none."""
    has = np.flatnonzero(counts > 0)
    order = has[np.argsort(close[rows[has]], kind="stable")]  # the nearest is written last
    found, which = np.full(count, -1, dtype=np.intp), np.full(count, -1, dtype=np.intp)
    found[records[order]], which[records[order]] = rows[order], order
    return found, which


def _at(rows: Any, values: Any) -> Any:
    """The values of these rows; 0 where there is none."""
    return np.where(rows >= 0, values[rows], 0.0)
