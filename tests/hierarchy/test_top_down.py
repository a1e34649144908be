"""Does the way down lead to the episodes asked for, by representatives that cover what there is, in few questions?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.hierarchy import top_down as stage_one
from adaptive_memory_core.hierarchy.nodes import Episode, Hierarchy, Semantic, ThemeNode
from adaptive_memory_core.hierarchy.top_down import (
    NOWHERE,
    Context,
    Edges,
    Expansion,
    Part,
    expand,
    representatives,
    top_down,
)
from adaptive_memory_core.policy.advanced import Hierarchies

AXES = np.eye(3, dtype=np.float32)
CUE = np.array([0.9, 0.4, 0.0])


def hierarchy() -> Hierarchy:
    """Three themes: six semantics on tea, two on skis, one on tax; an episode for every two of them."""
    theme_of = [0] * 6 + [1] * 2 + [2]
    semantics = {
        key: Semantic(
            key, f"s{key}", f"s{key}", key // 2, theme, (f"m{key}",), 0.0,
            neighbours=tuple((other, 1.0) for other in range(9) if other != key and theme_of[other] == theme),
        )
        for key, theme in enumerate(theme_of)
    }  # fmt: skip
    themes = {
        theme: ThemeNode(theme, f"t{theme}", tuple(k for k, t in enumerate(theme_of) if t == theme), (), 0.0, 0.0)
        for theme in range(3)
    }
    episodes = {
        number: Episode(number, f"e{number}", "", "s", 0.0, 0.0, (), tuple(k for k in semantics if k // 2 == number))
        for number in range(5)
    }
    return Hierarchy(episodes, semantics, themes, AXES[theme_of], AXES)


def test_the_nearest_episodes_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_one, "SEMANTICS", 3)
    way = top_down(hierarchy(), CUE, Hierarchies(representatives=False))
    assert way.themes == [0]
    assert list(way.episodes) == [0, 1]
    assert all(0.0 <= score <= 1.0 for score in way.episodes.values())


def test_representatives_bring_a_second_theme_in_the_same_number_of_semantics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_one, "SEMANTICS", 3)
    monkeypatch.setattr(stage_one, "ALPHA", 0.7)
    way = top_down(hierarchy(), CUE, Hierarchies())
    assert {hierarchy().semantics[one].theme for one in way.semantics} == {0, 1}
    assert next(iter(way.episodes)) in (0, 1, 2)
    assert set(way.episodes) == {hierarchy().semantics[one].episode for one in way.semantics}


def test_few_themes_keep_out_what_is_not_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_one, "THEMES", 1)
    way = top_down(hierarchy(), CUE, Hierarchies())
    assert way.themes == [0]
    assert {hierarchy().semantics[one].theme for one in way.semantics} == {0}


def test_there_is_no_way_without_anything_or_with_vectors_of_another_length() -> None:
    empty = Hierarchy({}, {}, {}, np.zeros((0, 3)), np.zeros((0, 3)))
    assert top_down(empty, CUE, Hierarchies()) == NOWHERE
    assert top_down(hierarchy(), np.ones(7), Hierarchies()) == NOWHERE


def run(
    uncertainty: Callable[[Context], float], episodes: list[int], *, drop: float = 0.1, patience: int = 2
) -> Expansion:
    return expand(uncertainty, episodes, episode_drop=drop, message_drop=drop, patience=patience)


def falls_by(worth: dict[Part, float]) -> Callable[[Context], float]:
    return lambda context: 10.0 - sum(worth.get(part, 0.0) for part in context)


def test_messages_are_told_only_where_the_summary_leaves_something_open() -> None:
    worth = {Part(1, "summary"): 1.0, Part(1, "messages"): 1.05, Part(2, "summary"): 1.0, Part(2, "messages"): 3.0}
    found = run(falls_by(worth), [1, 2])
    assert found.parts == (Part(1, "summary"), Part(2, "messages"))
    assert (found.before, found.after) == (10.0, 6.0)


def test_it_stops_asking_after_so_many_in_a_row_that_do_not_help() -> None:
    worth = {Part(number, "summary"): 1.0 for number in (1, 3, 9)}
    found = run(falls_by(worth), [1, 2, 3, 4, 5, 9])
    assert [part.episode for part in found.parts] == [1, 3]
    assert found.stopped_early
    assert found.asked == 1 + 2 + 1 + 2 + 1 + 1


def test_the_last_one_that_does_not_help_is_no_early_stop() -> None:
    assert not run(falls_by({}), [1, 2], patience=2).stopped_early
    assert run(falls_by({}), [1, 2, 3], patience=2).stopped_early


@given(st.dictionaries(st.integers(0, 9), st.floats(-1, 1), max_size=10), st.integers(1, 4))
def test_uncertainty_never_rises_and_only_what_helps_is_admitted(worth: dict[int, float], patience: int) -> None:
    known = {Part(number, "summary"): value for number, value in worth.items()}
    found = run(falls_by(known), sorted(worth), patience=patience)
    assert found.after <= found.before
    assert all(known[Part(part.episode, "summary")] >= 0.1 - 1e-9 for part in found.parts)
    assert found.asked <= 1 + 2 * len(worth)


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
