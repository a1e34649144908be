"""Records that answered similar questions: what earlier feedback says about each, as far as it is about this question.

GAM-RAG keeps one vector and one uncertainty per sentence (`gain`), so that a record that was rated once gains for every
question. Here each record keeps the questions it was rated for, and only those near this one count. A record is trusted
by its share of all helpful feedback near this question, and hardly at all if the nearest question is not near. If it is
further behind the most similar record than when it was rated, the earlier question counts as less near by so much.
So records that nobody rated lose little: `benchmarks/similar_questions.py` measures it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.policy.learning import AGAINST, AHEAD, NEAR, PART, TRUSTED

# Measured: benchmarks/similar_questions.py
LEAST_NEARNESS = 0.1  # of two questions (0 unrelated, 1 the same), at which an earlier one begins to count
STEEPNESS = 4.0  # power: how steeply it then says more, up to the same question
NEVER_ASKED = 0.3  # weight of "this was never asked", in questions that are the same as this one
TAKEN_BACK = 0.3  # share of helpful feedback that unhelpful feedback on a similar question takes back
LOWERED = 0.5  # share of its relevance that a record loses for the same question after unhelpful feedback
MOST_QUESTIONS = 64  # that are remembered of a record; the nearest are joined, which costs accuracy
LIKE_UNRELATED = 10.0  # remembered questions as which the baseline counts in what unrelated questions score
MOST_UNRELATED = 0.95  # similarity of unrelated texts, above which an embedder tells nothing apart
LOWERING = 4.0  # power of the kernel beyond which an unhelpful verdict lowers: for nearly the same question only; guess


class RatedQuestions(NamedTuple):
    """What is remembered of judged questions: unit vectors, one a row, and for each verdict the record (a place in
    `stored_ids`), the question (a row), and how often it was called helpful and unhelpful for it. GAM-RAG's memories
    are made of the last three: the vector of the time that each question asks about, zeros for none, and for each
    verdict, as bits, the record's sentences that the graph had activated, and those that supported the answer."""

    stored_ids: Sequence[str]
    vectors: Any
    records: Any
    rows: Any
    helpful: Any
    unhelpful: Any
    keys: Sequence[int] = ()  # of the rows, in the ledger
    ahead: Any = None  # for each verdict, how far the record then stood before all others in similarity; NaN: unknown
    times: Any = None
    activated: Any = None
    supports: Any = None


class QuestionEvidence(NamedTuple):
    """What similar questions say of a record: how near the nearest one is that it was helpful for (`near`, and its
    row), how far that is trusted, how much speaks against it, and how far ahead of all others it stood in that one:
    1 at most, 0.5 where others were as similar, 0 where that is not known. All but the row lie in [0, 1]."""

    near: float
    trusted: float
    against: float
    row: int = -1
    ahead: float = 0.0


NO_EVIDENCE: Mapping[str, QuestionEvidence] = {}


def question_evidence(questions: RatedQuestions, cue: Any, baseline: float) -> Mapping[str, QuestionEvidence]:
    """What is said of each record that similar questions say something of, by its id in the collection. `baseline` is
    the similarity of texts that have nothing to do with each other.

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
    """How near remembered questions are: 0 like unrelated ones, 1 the same. What unrelated questions score is the mean
    of all that are remembered, and the baseline as long as these are few.

    >>> nearness(np.array([0.8, 1.0]), 0.8).round(2).tolist()
    [0.0, 1.0]
    """
    known = cosines[cosines != 0.0]  # the vectors of another embedder are zeros
    unrelated = (float(known.sum()) + LIKE_UNRELATED * baseline) / (len(known) + LIKE_UNRELATED)
    unrelated = min(MOST_UNRELATED, max(0.0, unrelated))
    return np.clip((cosines - unrelated) / (1.0 - unrelated), 0.0, 1.0)


def gained(relevance: float, near: float, trusted: float, against: float, weight: float) -> float:
    """By how much a record's relevance moves: up to the similarity of the nearest question it was helpful for, as far
    as that is trusted; or down, where it was called unhelpful for the same question. `weight` is the share that counts.

    >>> gained(0.5, 1.0, 1.0, 0.0, 0.5), gained(0.5, 0.25, 1.0, 0.0, 0.5), gained(0.5, 0.0, 0.0, 1.0, 0.5)
    (0.25, 0.0, -0.125)
    """
    up = trusted * max(0.0, near - relevance)
    return weight * (up - LOWERED * against * max(0.0, relevance))


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


BEHIND = 1.5  # nearness that an earlier question loses for what the record has fallen behind; similar_questions.py
LEAST_SIMILARITY = 0.05  # above the baseline, of the most similar candidate; with less nothing can be measured; guess


def asked_before(
    shares: Mapping[str, Any], leads: Mapping[str, Sequence[float]], similarities: Sequence[float], weight: float
) -> dict[str, Any]:
    """The parts of each relevance, with what similar questions add or take, by the leads that say so.

    >>> leads = {NEAR: [1.0], TRUSTED: [0.5], AGAINST: [0.0], AHEAD: [0.0]}
    >>> found = asked_before({"similarity": np.array([0.5])}, leads, [0.5], 1.0)
    >>> {name: one.tolist() for name, one in found.items()}
    {'similarity': [0.5], 'asked_before': [0.25]}
    """
    wholes = np.add.reduce(list(shares.values())).tolist()
    ahead = leads.get(AHEAD) or [0.0] * len(wholes)  # which a line of an older log does not tell
    standings = from_baseline(similarities)
    measure, fallen = relevance_of_similarity(wholes, standings), fallen_behind(standings, ahead)
    nears = [measure * max(0.0, near - BEHIND * by) for near, by in zip(leads[NEAR], fallen, strict=True)]
    told = zip(wholes, nears, leads[TRUSTED], leads[AGAINST], strict=True)
    return {**shares, PART: np.array([gained(whole, near, good, bad, weight) for whole, near, good, bad in told])}


def median_baseline(similarities: Sequence[float]) -> float:
    """The similarity of unrelated texts, by the candidates: their median, since few of them answer the question.

    >>> median_baseline([0.9, 0.7, 0.72]), median_baseline([])
    (0.72, 0.0)
    """
    return min(MOST_UNRELATED, max(0.0, median(similarities))) if similarities else 0.0


def from_baseline(similarities: Sequence[float]) -> list[float]:
    """The similarities measured from those of unrelated texts, so that embedders are comparable: 0 is unrelated, 1 is
    the same.

    >>> from_baseline([1.0, 0.5, 0.5])
    [1.0, 0.0, 0.0]
    """
    baseline = median_baseline(similarities)
    return [(one - baseline) / (1.0 - baseline) for one in similarities]


def relevance_of_similarity(relevances: Sequence[float], standings: Sequence[float]) -> float:
    """What a similarity, measured from the baseline, is worth as relevance in this recall, by the best candidates. How
    near two questions are is such a similarity, and has to be measured like the relevance it is compared with.

    >>> relevance_of_similarity([0.2 + 0.1], [0.5])
    0.6
    """
    nearest = max(LEAST_SIMILARITY, *standings)
    return min(1.0, round(max(relevances), 12) / nearest)


def fallen_behind(standings: Sequence[float], ahead: Sequence[float]) -> list[float]:
    """How much further behind the most similar other each record is now than it was in the nearest question that it was
    helpful for: as far as that, this question asks for something else. 0 if it is not known how it was then.

    >>> fallen_behind([0.25, 0.75], [0.5, 0.0])                # no other was more similar than the first one then
    [0.5, 0.0]
    """
    if len(standings) < 2:
        return [0.0] * len(standings)
    now = ahead_of_others(standings)
    return [max(0.0, 2.0 * then - 1.0 - one) if then > 0.0 else 0.0 for one, then in zip(now, ahead, strict=True)]


def ahead_of_others(standings: Sequence[float]) -> list[float]:
    """By how much each of at least two is more similar than the best of the others; below 0 if another is more similar.

    >>> ahead_of_others([0.75, 0.5])
    [0.25, -0.25]
    """
    first, second = sorted(standings, reverse=True)[:2]
    return [one - (second if one == first else first) for one in standings]
