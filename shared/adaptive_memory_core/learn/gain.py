"""GAM-RAG's learning from feedback: task and time memory with uncertainty (equations 4 and 10 to 13 of the paper).

Wang et al. (2026), "GAM-RAG: Gain-Adaptive Memory for Evolving Retrieval". `asked_before` describes the weakness of
this form and contains ours, which is measured against it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

POSITIVE_NOISE = 0.5  # of the observation "it supports the answer": R_pos in the paper
NEGATIVE_NOISE = 1.0  # of "it does not": R_neg in the paper, larger because the sentence may be a bridge
FIRST_UNCERTAINTY = 1.0  # before the first feedback: pi in the paper


class Belief(NamedTuple):
    """One memory of a sentence: a unit vector and its uncertainty (the paper's m and pi)."""

    vector: Any
    uncertainty: float = FIRST_UNCERTAINTY


class SentenceMemory(NamedTuple):
    """A sentence's memories of the questions it answered (`task`) and of the time it mentions; None if it mentions
    none."""

    task: Belief
    time: Belief | None = None


class QuestionVectors(NamedTuple):
    """The unit vectors of a question and of its time. Without a time (None), the time memory does not change."""

    task: Any
    time: Any = None


def learned(
    memory: SentenceMemory, question: QuestionVectors, *, supports: bool, process_noise: float
) -> SentenceMemory:
    """The memory after feedback on its sentence."""
    task = updated(memory.task, question.task, supports=supports, process_noise=process_noise)
    if memory.time is None or question.time is None:
        return memory._replace(task=task)
    return SentenceMemory(task, updated(memory.time, question.time, supports=supports, process_noise=process_noise))


class JudgedSentence(NamedTuple):
    """Feedback on a sentence: the question, and whether the sentence supported the answer."""

    question: QuestionVectors
    supports: bool


def recalled(memory: SentenceMemory, verdicts: Iterable[JudgedSentence], *, process_noise: float) -> SentenceMemory:
    """The memory after this feedback, in order. It is calculated when it is needed, so that withdrawn feedback has no
    effect and processes that learn at the same time lose nothing.

    >>> east, north = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> once = JudgedSentence(QuestionVectors(north), supports=True)
    >>> memory = recalled(SentenceMemory(Belief(east)), [once, once], process_noise=0.001)
    >>> round(memory.task.uncertainty, 3), memory.task.vector.round(2).tolist()
    (0.201, [0.75, 0.66])
    """
    for one in verdicts:
        memory = learned(memory, one.question, supports=one.supports, process_noise=process_noise)
    return memory


def weight(similarity: float, memory: SentenceMemory, question: QuestionVectors) -> float:
    """The weight of a sentence for a question: its similarity times the gates of both memories (equation 4).

    >>> sure = Belief(np.array([1.0, 0.0]), 0.0)
    >>> weight(0.5, SentenceMemory(sure, sure), QuestionVectors(np.array([1.0, 0.0]), np.array([0.0, 1.0])))
    1.0
    """
    gates = gate(memory.task, question.task)
    if memory.time is not None and question.time is not None:
        gates *= gate(memory.time, question.time)
    return similarity * gates


def gate(belief: Belief, question: Any) -> float:
    """The factor by which a memory multiplies a similarity; 1 until something was learned (equation 4).

    >>> gate(Belief(np.array([1.0, 0.0]), 1.0), np.array([1.0, 0.0]))
    1.0
    >>> gate(Belief(np.array([1.0, 0.0]), 0.25), np.array([1.0, 0.0]))
    1.75
    """
    return 1.0 + (1.0 - belief.uncertainty) * cosine(belief.vector, question)


def updated(belief: Belief, question: Any, *, supports: bool, process_noise: float) -> Belief:
    """The belief after one piece of feedback: moved, scaled to length 1, and less uncertain.

    >>> after = updated(Belief(np.array([1.0, 0.0])), np.array([0.0, 1.0]), supports=True, process_noise=0.1)
    >>> after.vector.round(3).tolist(), round(after.uncertainty, 3)
    ([0.832, 0.555], 0.433)
    """
    step = kalman_gain(belief.uncertainty, POSITIVE_NOISE if supports else NEGATIVE_NOISE)
    moved = unit_vector(corrected(belief.vector, question, 1.0 if supports else 0.0, step))
    return Belief(moved, surer(belief.uncertainty, step, process_noise))


def residual(vector: Any, question: Any, judged: float) -> float:
    """The difference between the feedback and the memory's prediction (equation 10).

    >>> residual(np.array([1.0, 0.0]), np.array([0.6, 0.8]), 1.0)
    0.4
    """
    return judged - cosine(question, vector)


def kalman_gain(uncertainty: float, noise: float) -> float:
    """The share by which feedback moves the memory: 0 not at all, 1 all the way (equation 11).

    >>> kalman_gain(1.0, 0.5), kalman_gain(1.0, 1.0), kalman_gain(0.0, 0.5)
    (0.6666666666666666, 0.5, 0.0)
    """
    return uncertainty / (uncertainty + noise)


def corrected(vector: Any, question: Any, judged: float, step: float) -> Any:
    """The memory after its correction along the question, before it is scaled to length 1 (equation 12).

    Along the question the memory moves towards the feedback by the share `step`; orthogonally it does not change.

    >>> corrected(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 1.0, 0.5).tolist()
    [1.0, 0.5]
    """
    return np.asarray(vector) + step * residual(vector, question, judged) * np.asarray(question)


def surer(uncertainty: float, step: float, process_noise: float) -> float:
    """The uncertainty after feedback, within [0, 1] (equation 13).

    >>> surer(1.0, 0.5, 0.25), surer(1.0, 0.0, 0.25)
    (0.75, 1.0)
    """
    return min(1.0, max(0.0, (1.0 - step) * uncertainty + process_noise))


def cosine(one: Any, other: Any) -> float:
    """The cosine of two unit vectors."""
    return float(np.dot(one, other))


def unit_vector(vector: Any) -> Any:
    """The vector scaled to length 1; a vector of length 0 is unchanged.

    >>> unit_vector(np.array([3.0, 4.0])).tolist(), unit_vector(np.array([0.0])).tolist()
    ([0.6, 0.8], [0.0])
    """
    length = float(np.linalg.norm(vector))
    return np.asarray(vector) if length == 0.0 else np.asarray(vector) / length
