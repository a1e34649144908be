"""Records that answered similar questions: evidence from earlier feedback, weighted by its nearness to this question.

GAM-RAG stores one vector and one uncertainty per sentence (`gain`), so that a record rated once gains for every
question. Here each record keeps the questions it was rated for, and only those near this one count. A record is trusted
by its share of all helpful feedback near this question, and hardly at all if the nearest question is not near. If the
record is further behind the most similar one than when it was rated, the earlier question counts as less near. So
records without feedback lose little: `benchmarks/similar_questions.py` measures it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.policy.learning import AGAINST, AHEAD, NEAR, PART, TRUSTED

# Measured: benchmarks/similar_questions.py
LEAST_NEARNESS = 0.1  # of two questions (0 unrelated, 1 the same), at which an earlier one begins to count
STEEPNESS = 4.0  # power by which the weight then grows, up to the same question
NEVER_ASKED = 0.3  # weight of "this was never asked", as a number of equal questions
TAKEN_BACK = 0.3  # share of helpful feedback that unhelpful feedback on a similar question cancels
LOWERED = 0.5  # share of its relevance that a record loses for the same question after unhelpful feedback
MOST_QUESTIONS = 64  # stored per record; beyond that the nearest two are joined, which costs accuracy
LIKE_UNRELATED = 10.0  # weight of the baseline in the similarity of unrelated questions, in stored questions
MOST_UNRELATED = 0.95  # similarity of unrelated texts; above it an embedder distinguishes nothing
LOWERING = 4.0  # power that limits the effect of unhelpful feedback to nearly the same question; guess


class RatedQuestions(NamedTuple):
    """Stored questions with feedback: their unit vectors, one per row, and parallel columns for each verdict. These are
    the record (an index in `stored_ids`), the question (a row), and the counts of helpful and unhelpful ratings. The
    last three fields serve GAM-RAG: the vector of each question's time (zeros for none), and for each verdict, as bits,
    the record's sentences that the graph had activated and those that supported the answer."""

    stored_ids: Sequence[str]
    vectors: Any
    records: Any
    rows: Any
    helpful: Any
    unhelpful: Any
    keys: Sequence[int] = ()  # of the rows, in the ledger
    ahead: Any = None  # for each verdict, how far the record was then ahead of all others in similarity; NaN: unknown
    times: Any = None
    activated: Any = None
    supports: Any = None


class QuestionEvidence(NamedTuple):
    """The evidence about a record from similar questions. `near` is the nearness of the nearest question that it was
    helpful for, and `row` is that question. `trusted` is the trust in it, and `against` the evidence against the
    record. `ahead` is how far ahead of all others the record was in that question: 1 at most, 0.5 if others were as
    similar, 0 if unknown. All but the row are in [0, 1]."""

    near: float
    trusted: float
    against: float
    row: int = -1
    ahead: float = 0.0


NO_EVIDENCE: Mapping[str, QuestionEvidence] = {}


def question_evidence(questions: RatedQuestions, cue: Any, baseline: float) -> Mapping[str, QuestionEvidence]:
    """The evidence from similar questions, by the record's ID in the collection, for records that have any. `baseline`
    is the similarity of unrelated texts.

    >>> one = RatedQuestions(["tea"], np.array([[1.0, 0.0]]), [0], [0], [1], [0])
    >>> question_evidence(one, np.array([1.0, 0.0]), 0.0)
    {'tea': QuestionEvidence(near=1.0, trusted=0.769..., against=0.0, row=0, ahead=0.0)}
    >>> question_evidence(one, np.array([0.0, 1.0]), 0.0)            # a question about something else
    {}
    """
    close = nearness(np.asarray(questions.vectors) @ np.asarray(cue), baseline)
    speaks = (np.maximum(0.0, close - LEAST_NEARNESS) / (1.0 - LEAST_NEARNESS)) ** STEEPNESS
    records, rows = np.asarray(questions.records, dtype=np.intp), np.asarray(questions.rows, dtype=np.intp)
    heard = speaks[rows] > 0.0
    if not heard.any():
        return NO_EVIDENCE
    records, rows = records[heard], rows[heard]
    good, bad = np.asarray(questions.helpful)[heard], np.asarray(questions.unhelpful)[heard]
    count = len(questions.stored_ids)
    for_it = np.bincount(records, speaks[rows] * good, count)
    against = np.bincount(records, speaks[rows] * bad, count)
    trusted = np.clip((for_it - TAKEN_BACK * against) / (for_it.sum() + NEVER_ASKED), 0.0, 1.0)
    stood = np.full(len(rows), np.nan) if questions.ahead is None else np.asarray(questions.ahead)[heard]
    best, which = _nearest(records, rows, close, good, count)
    worst, _ = _nearest(records, rows, close, bad, count)
    lowered = np.maximum(0.0, _at(worst, speaks) ** LOWERING - _at(best, speaks) ** LOWERING)
    near, ahead = _at(best, close), np.clip(np.nan_to_num(0.5 + 0.5 * _at(which, stood)), 0.0, 1.0)
    return {
        questions.stored_ids[one]: QuestionEvidence(
            float(near[one]), float(trusted[one]), float(lowered[one]), int(best[one]), float(ahead[one])
        )
        for one in np.flatnonzero((trusted > 0.0) | (lowered > 0.0)).tolist()
    }


def without_records(questions: RatedQuestions, changed: Set[str]) -> RatedQuestions:
    """The questions without the verdicts on these records.

    >>> both = RatedQuestions(["tea", "milk"], np.eye(2), [0, 1], [0, 1], [1, 1], [0, 0])
    >>> left = without_records(both, {"tea"})
    >>> left.records.tolist(), left.rows.tolist(), without_records(both, set()) is both
    ([1], [1], True)
    """
    if not changed:
        return questions
    records = np.asarray(questions.records, dtype=np.intp)
    keep = np.array([one not in changed for one in questions.stored_ids], dtype=bool)[records]
    columns = ("records", "rows", "helpful", "unhelpful", "ahead", "activated", "supports")
    known = {name: getattr(questions, name) for name in columns}
    return questions._replace(**{name: np.asarray(one)[keep] for name, one in known.items() if one is not None})


def nearness(cosines: Any, baseline: float) -> Any:
    """The nearness of stored questions: 0 for unrelated ones, 1 for the same. The similarity of unrelated questions is
    estimated by the mean of the stored ones, or mostly by the baseline while these are few.

    >>> nearness(np.array([0.8, 1.0]), 0.8).round(2).tolist()
    [0.0, 1.0]
    """
    known = cosines[cosines != 0.0]  # the vectors of another embedder are zeros
    unrelated = (float(known.sum()) + LIKE_UNRELATED * baseline) / (len(known) + LIKE_UNRELATED)
    unrelated = min(MOST_UNRELATED, max(0.0, unrelated))
    return np.clip((cosines - unrelated) / (1.0 - unrelated), 0.0, 1.0)


def gained(relevance: float, near: float, trusted: float, against: float, weight: float) -> float:
    """The change of a record's relevance. It moves up towards the nearness of the nearest question it was helpful for,
    by the trust in it. It moves down if the record was unhelpful for the same question. `weight` scales the change.

    >>> gained(0.5, 1.0, 1.0, 0.0, 0.5), gained(0.5, 0.25, 1.0, 0.0, 0.5), gained(0.5, 0.0, 0.0, 1.0, 0.5)
    (0.25, 0.0, -0.125)
    """
    up = trusted * max(0.0, near - relevance)
    return weight * (up - LOWERED * against * max(0.0, relevance))


def nearest_pair(vectors: Any) -> tuple[int, int]:
    """The two most similar rows, the later one second, which are joined if too many questions are stored.

    >>> nearest_pair(np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]))
    (0, 2)
    """
    alike = np.asarray(vectors) @ np.asarray(vectors).T
    alike[np.tril_indices(len(alike))] = -np.inf
    first, second = np.unravel_index(int(alike.argmax()), alike.shape)
    return int(first), int(second)


def _nearest(records: Any, rows: Any, close: Any, counts: Any, count: int) -> tuple[Any, Any]:
    """For each record the row of the nearest question with a count above 0, and the index of that verdict; -1 if there
    is none."""
    has = np.flatnonzero(counts > 0)
    order = has[np.argsort(close[rows[has]], kind="stable")]  # the nearest is written last
    found, which = np.full(count, -1, dtype=np.intp), np.full(count, -1, dtype=np.intp)
    found[records[order]], which[records[order]] = rows[order], order
    return found, which


def _at(rows: Any, values: Any) -> Any:
    """The values of these rows; 0 for row -1."""
    return np.where(rows >= 0, values[rows], 0.0)


BEHIND = 1.5  # nearness lost per unit that the record has fallen behind; similar_questions.py
LEAST_SIMILARITY = 0.05  # of the most similar candidate, above the baseline; a smaller one is not measurable; guess


def asked_before(
    shares: Mapping[str, Any], leads: Mapping[str, Sequence[float]], similarities: Sequence[float], weight: float
) -> dict[str, Any]:
    """The parts of each relevance, with a further part for the change by similar questions, calculated from the leads.

    >>> leads = {NEAR: [1.0], TRUSTED: [0.5], AGAINST: [0.0], AHEAD: [0.0]}
    >>> found = asked_before({"similarity": np.array([0.5])}, leads, [0.5], 1.0)
    >>> {name: one.tolist() for name, one in found.items()}
    {'similarity': [0.5], 'asked_before': [0.25]}
    """
    wholes = np.add.reduce(list(shares.values())).tolist()
    ahead = leads.get(AHEAD) or [0.0] * len(wholes)  # missing in lines of older logs
    above_baseline = from_baseline(similarities)
    measure, fallen = relevance_of_similarity(wholes, above_baseline), fallen_behind(above_baseline, ahead)
    nears = [measure * max(0.0, near - BEHIND * by) for near, by in zip(leads[NEAR], fallen, strict=True)]
    rows = zip(wholes, nears, leads[TRUSTED], leads[AGAINST], strict=True)
    return {**shares, PART: np.array([gained(whole, near, good, bad, weight) for whole, near, good, bad in rows])}


def median_baseline(similarities: Sequence[float]) -> float:
    """The similarity of unrelated texts, estimated by the median of the candidates, since few answer the question.

    >>> median_baseline([0.9, 0.7, 0.72]), median_baseline([])
    (0.72, 0.0)
    """
    return min(MOST_UNRELATED, max(0.0, median(similarities))) if similarities else 0.0


def from_baseline(similarities: Sequence[float]) -> list[float]:
    """The similarities on a scale that is comparable between embedders: 0 is unrelated, 1 is the same.

    >>> from_baseline([1.0, 0.5, 0.5])
    [1.0, 0.0, 0.0]
    """
    baseline = median_baseline(similarities)
    return [(one - baseline) / (1.0 - baseline) for one in similarities]


def relevance_of_similarity(relevances: Sequence[float], above_baseline: Sequence[float]) -> float:
    """The factor from a similarity, measured from the baseline, to relevance in this recall, by the best candidates.
    The nearness of two questions is such a similarity, and is converted before it is compared with relevance.

    >>> relevance_of_similarity([0.2 + 0.1], [0.5])
    0.6
    """
    nearest = max(LEAST_SIMILARITY, *above_baseline)
    return min(1.0, round(max(relevances), 12) / nearest)


def fallen_behind(above_baseline: Sequence[float], ahead: Sequence[float]) -> list[float]:
    """How much further behind the most similar other record each record is now than in the nearest question it was
    helpful for. The further, the more this question asks for something else. 0 if the earlier value is unknown.

    >>> fallen_behind([0.25, 0.75], [0.5, 0.0])                # no other was more similar than the first one then
    [0.5, 0.0]
    """
    if len(above_baseline) < 2:
        return [0.0] * len(above_baseline)
    now = ahead_of_others(above_baseline)
    return [max(0.0, 2.0 * then - 1.0 - one) if then > 0.0 else 0.0 for one, then in zip(now, ahead, strict=True)]


def ahead_of_others(above_baseline: Sequence[float]) -> list[float]:
    """The lead of each of at least two records over the most similar other one; negative if another is more similar.

    >>> ahead_of_others([0.75, 0.5])
    [0.25, -0.25]
    """
    first, second = sorted(above_baseline, reverse=True)[:2]
    return [one - (second if one == first else first) for one in above_baseline]
