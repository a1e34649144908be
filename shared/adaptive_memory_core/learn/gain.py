"""GAM-RAG's learning from feedback: task and time memory with uncertainty (equations 4 and 10 to 13 of the paper).

Wang et al. (2026), "GAM-RAG: Gain-Adaptive Memory for Evolving Retrieval". What is weak in this form, and what we do
instead, is said in `asked_before`; this one is what ours is measured against.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

POSITIVE_NOISE = 0.5  # of the observation "it supports the answer": R_pos of the paper
NEGATIVE_NOISE = 1.0  # of the observation "it does not": R_neg of the paper, larger: it may be a bridge
FIRST_UNCERTAINTY = 1.0  # before the first verdict: pi of the paper


class Belief(NamedTuple):
    """One memory of a sentence: a unit vector, and how uncertain it is (the paper's m and pi)."""

    vector: Any
    uncertainty: float = FIRST_UNCERTAINTY


class SentenceMemory(NamedTuple):
    """What a sentence was good for (`task`), and which time it speaks of; None where it speaks of none."""

    task: Belief
    time: Belief | None = None


class QuestionVectors(NamedTuple):
    """The unit vectors of a question, and of its time; None where it names no time, which leaves time memory alone."""

    task: Any
    time: Any = None


def learned(
    memory: SentenceMemory, question: QuestionVectors, *, supports: bool, process_noise: float
) -> SentenceMemory:
    """The memory after one verdict on its sentence."""
    task = updated(memory.task, question.task, supports=supports, process_noise=process_noise)
    if memory.time is None or question.time is None:
        return memory._replace(task=task)
    return SentenceMemory(task, updated(memory.time, question.time, supports=supports, process_noise=process_noise))


class JudgedSentence(NamedTuple):
    """A verdict on a sentence: what was asked, and whether the sentence supported the answer."""

    question: QuestionVectors
    supports: bool


def recalled(memory: SentenceMemory, verdicts: Iterable[JudgedSentence], *, process_noise: float) -> SentenceMemory:
    """The memory after these verdicts, in their order. So it is made when it is needed: a verdict that is taken back is
    gone from it, and processes that learn at once lose nothing.

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
    """What a sentence counts for a question: its similarity, through the gates of both memories (equation 4).

    >>> sure = Belief(np.array([1.0, 0.0]), 0.0)
    >>> weight(0.5, SentenceMemory(sure, sure), QuestionVectors(np.array([1.0, 0.0]), np.array([0.0, 1.0])))
    1.0
    """
    gates = gate(memory.task, question.task)
    if memory.time is not None and question.time is not None:
        gates *= gate(memory.time, question.time)
    return similarity * gates


def gate(belief: Belief, question: Any) -> float:
    """By how much memory multiplies a similarity: 1 as long as nothing was learned (equation 4).

    >>> gate(Belief(np.array([1.0, 0.0]), 1.0), np.array([1.0, 0.0]))
    1.0
    >>> gate(Belief(np.array([1.0, 0.0]), 0.25), np.array([1.0, 0.0]))
    1.75
    """
    return 1.0 + (1.0 - belief.uncertainty) * cosine(belief.vector, question)


def updated(belief: Belief, question: Any, *, supports: bool, process_noise: float) -> Belief:
    """The belief after one verdict: moved, then of unit length, and surer.

    >>> after = updated(Belief(np.array([1.0, 0.0])), np.array([0.0, 1.0]), supports=True, process_noise=0.1)
    >>> after.vector.round(3).tolist(), round(after.uncertainty, 3)
    ([0.832, 0.555], 0.433)
    """
    step = kalman_gain(belief.uncertainty, POSITIVE_NOISE if supports else NEGATIVE_NOISE)
    moved = unit_vector(corrected(belief.vector, question, 1.0 if supports else 0.0, step))
    return Belief(moved, surer(belief.uncertainty, step, process_noise))


def residual(vector: Any, question: Any, judged: float) -> float:
    """How far the verdict lies from what the memory foretold (equation 10).

    >>> residual(np.array([1.0, 0.0]), np.array([0.6, 0.8]), 1.0)
    0.4
    """
    return judged - cosine(question, vector)


def kalman_gain(uncertainty: float, noise: float) -> float:
    """How far one verdict may move the memory: 0 not at all, 1 all the way (equation 11).

    >>> kalman_gain(1.0, 0.5), kalman_gain(1.0, 1.0), kalman_gain(0.0, 0.5)
    (0.6666666666666666, 0.5, 0.0)
    """
    return uncertainty / (uncertainty + noise)


def corrected(vector: Any, question: Any, judged: float, step: float) -> Any:
    """The memory after its correction along the question, before it has unit length again (equation 12).

    What is orthogonal to the question stays as it is, and along it the memory moves to the verdict by the share `step`.

    >>> corrected(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 1.0, 0.5).tolist()
    [1.0, 0.5]
    """
    return np.asarray(vector) + step * residual(vector, question, judged) * np.asarray(question)


def surer(uncertainty: float, step: float, process_noise: float) -> float:
    """The uncertainty after a verdict, within [0, 1] (equation 13).

    >>> surer(1.0, 0.5, 0.25), surer(1.0, 0.0, 0.25)
    (0.75, 1.0)
    """
    return min(1.0, max(0.0, (1.0 - step) * uncertainty + process_noise))


def cosine(one: Any, other: Any) -> float:
    """Of two unit vectors."""
    return float(np.dot(one, other))


def unit_vector(vector: Any) -> Any:
    """The vector at length 1; one of length 0 stays.

    >>> unit_vector(np.array([3.0, 4.0])).tolist(), unit_vector(np.array([0.0])).tolist()
    ([0.6, 0.8], [0.0])
    """
    length = float(np.linalg.norm(vector))
    return np.asarray(vector) if length == 0.0 else np.asarray(vector) / length
