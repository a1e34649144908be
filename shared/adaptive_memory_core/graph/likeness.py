"""How similar a sentence is to the question: by its vector, from the baseline of unrelated records, and by its words
(BM25 over sentences)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from adaptive_memory_core.graph.ports import SENTENCE_BITS, Array, Graph, Question, Rows

TERM_SATURATION, LENGTH_NORMALISATION = 0.9, 0.3  # BM25's k1 and b, for short texts
USUAL_LENGTH = 16.0  # words of a sentence with those of its title, without function words


def weights_of(graph: Graph, question: Question, frequencies: Mapping[int, int], keys: Array, *, least: float) -> Array:
    """How far each sentence is about the question, and what was learned of it. What says nothing of it may still be on
    the way to what does, so it counts the least and not nothing.

    >>> from adaptive_memory_core.graph.build import passage
    >>> from adaptive_memory_core.graph.in_memory import GraphInMemory
    >>> texts, vectors = ["Ada met Bob.", "Bob left."], np.float32([[1, 0], [-1, 0]])
    >>> graph = GraphInMemory([passage(text, None, lambda _: set()) for text in texts], vectors)
    >>> asked = Question({}, np.float32([1, 0]), ())
    >>> weights_of(graph, asked, {}, np.array([0, 1 << SENTENCE_BITS]), least=0.1).round(2).tolist()
    [0.71, 0.1]
    """
    rows = graph.rows(np.unique(keys >> SENTENCE_BITS))
    close = shares_of_best(rows.of(keys, question.baseline.above(cosines(question.vector, rows))))
    said = shares_of_best(rows.of(keys, word_scores(rows, frequencies, graph.sentences)))
    weights = np.maximum(np.sqrt(0.5 * close + 0.5 * said), least)
    if question.lifts:
        weights *= np.array([1.0 + question.lifts.get(key, 0.0) for key in keys.tolist()])
    return weights


def cosines(vector: Array | None, rows: Rows) -> Array:
    """Of the question's vector with that of each sentence's passage; 0 where there is none, or one of
    another embedder.

    >>> none = np.array([])
    >>> rows = Rows(none, np.float32([[3, 4], [0, 0]]), np.array([0, 0, 1]), none, np.array([0, 0, 0, 0]))
    >>> [round(one, 2) for one in cosines(np.float32([1, 0]), rows).tolist()]
    [0.6, 0.6, 0.0]
    """
    if vector is None or rows.vectors is None or rows.vectors.shape[1] != len(vector):
        return np.zeros(len(rows.bounds) - 1)
    vectors = rows.vectors.astype(np.float32)
    lengths = np.maximum(np.linalg.norm(vectors, axis=1) * float(np.linalg.norm(vector)), 1e-9)
    return (vectors @ np.asarray(vector, dtype=np.float32) / lengths).astype(np.float64)[rows.owners]


def word_scores(rows: Rows, frequencies: Mapping[int, int], sentences: int) -> Array:
    """BM25 of each sentence for the words in `frequencies`, which are the question's.

    >>> none = np.array([])
    >>> rows = Rows(none, None, none, np.array([7, 8, 7, 9]), np.array([0, 2, 4]))
    >>> [round(one, 2) for one in word_scores(rows, {8: 1, 7: 2}, sentences=2).tolist()]
    [1.0, 0.21]
    """
    size = len(rows.bounds) - 1
    scores = np.zeros(size)
    lengths = np.diff(rows.bounds)
    held_back = TERM_SATURATION * (1.0 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * lengths / USUAL_LENGTH)
    owners = np.repeat(np.arange(size), lengths)
    for word, frequency in frequencies.items():
        counts = np.bincount(owners[rows.words == word], minlength=size)
        rarity = math.log(1.0 + (sentences - frequency + 0.5) / (frequency + 0.5))
        scores += rarity * counts * (TERM_SATURATION + 1.0) / (counts + held_back)
    return scores


def shares_of_best(values: Array) -> Array:
    """Each as a share of the greatest; nothing below 0.

    >>> shares_of_best(np.array([-1.0, 2.0, 4.0])).tolist(), shares_of_best(np.array([-1.0])).tolist()
    ([0.0, 0.5, 1.0], [0.0])
    """
    positive = np.maximum(values, 0.0)
    best = positive.max(initial=0.0)
    return positive if best == 0.0 else positive / best
