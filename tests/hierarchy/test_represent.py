"""Do representatives cover what there is, and never repeat themselves?"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.hierarchy.top_down import Edges, representatives

SHARES = st.floats(0, 1)


@st.composite
def nodes(draw: st.DrawFn) -> tuple[list[float], dict[int, dict[int, float]]]:
    size = draw(st.integers(1, 12))
    closeness = draw(st.lists(st.integers(-100, 100), min_size=size, max_size=size))
    pairs = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1), st.floats(0.01, 1))))
    edges: dict[int, dict[int, float]] = {}
    for one, other, weight in pairs:
        edges.setdefault(one, {})[other] = weight
    return [one / 100 for one in closeness], edges


@given(nodes(), SHARES, SHARES, st.integers(1, 12))
def test_each_is_chosen_once_and_never_more_than_asked_for(
    graph: tuple[list[float], dict[int, dict[int, float]]], alpha: float, covered: float, most: int
) -> None:
    chosen = representatives(*graph, alpha=alpha, covered=covered, most=most)
    assert len(set(chosen)) == len(chosen) <= most
    assert set(chosen) <= set(range(len(graph[0])))


@given(nodes(), SHARES)
def test_with_room_for_all_every_node_is_chosen_or_beside_a_chosen_one(
    graph: tuple[list[float], dict[int, dict[int, float]]], alpha: float
) -> None:
    closeness, edges = graph
    chosen = representatives(closeness, edges, alpha=alpha, covered=1.0, most=len(closeness))
    beside = {other for one in chosen for other in edges.get(one, {})}
    beside |= {one for one, others in edges.items() if set(others) & set(chosen)}
    assert set(chosen) | beside == set(range(len(closeness)))


@given(nodes())
def test_without_coverage_they_come_by_closeness(graph: tuple[list[float], dict[int, dict[int, float]]]) -> None:
    closeness, edges = graph
    chosen = representatives(closeness, edges, alpha=0.0, covered=1.0, most=len(closeness))
    assert [closeness[one] for one in chosen] == sorted((closeness[one] for one in chosen), reverse=True)


def nearest_edges(vectors: Any, neighbours: int) -> Edges:
    """The kNN graph of vectors of length 1: of each its nearest others with a similarity above 0.

    >>> nearest_edges(np.array([[1.0, 0.0], [0.8, 0.6], [-1.0, 0.0]]), 1)
    {0: {1: 0.8}, 1: {0: 0.8}, 2: {}}
    """
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, 0.0)
    edges: dict[int, dict[int, float]] = {}
    for number, row in enumerate(likeness):
        best = np.argsort(-row, kind="stable")[:neighbours].tolist()
        edges[number] = {other: round(float(row[other]), 6) for other in best if row[other] > 0.0}
    return edges


def test_coverage_brings_the_second_topic_where_similarity_brings_ten_of_the_first() -> None:
    first, second = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    vectors = np.array([first] * 6 + [second] * 4)
    closeness = [0.9 - 0.001 * number for number in range(6)] + [0.6] * 4
    edges = nearest_edges(vectors, 5)
    assert representatives(closeness, edges, alpha=0.0, covered=1.0, most=3) == [0, 1, 2]
    assert representatives(closeness, edges, alpha=0.7, covered=1.0, most=3) == [0, 6]  # and all are covered
