"""Is no semantic ever lost, and are f(P), centroids and neighbours after any history what they are from scratch?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from adaptive_memory_core.hierarchy import grow
from adaptive_memory_core.hierarchy.grow import ThemeClusters, centre_of, objective
from adaptive_memory_core.hierarchy.nodes import Placed
from adaptive_memory_core.policy.advanced import Hierarchies

SMALL, NEIGHBOURS = Hierarchies(theme_semantics=4), 3
# what is done: attach a vector near one of a few directions, remove one that is there, or merge what is tiny
STEPS = some.lists(
    some.one_of(
        some.tuples(some.just("attach"), some.integers(0, 3), some.integers(0, 10_000)),
        some.tuples(some.just("remove"), some.integers(0, 10_000), some.just(0)),
        some.tuples(some.just("merge"), some.just(0), some.just(0)),
    ),
    min_size=1,
    max_size=60,
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few semantics do what many do."""
    for name, value in {"PATIENCE": 3, "ATTACH": 0.2, "NEIGHBOURS": NEIGHBOURS}.items():
        monkeypatch.setattr(grow, name, value)


def vector(topic: int, seed: int) -> Any:
    made = np.random.default_rng(seed).normal(size=6) * 0.6
    made[topic] += 1.0
    return (made / np.linalg.norm(made)).astype(np.float32)


def grown(steps: Any, settings: Hierarchies = SMALL) -> tuple[ThemeClusters, dict[int, Any]]:
    themes, there = ThemeClusters(settings, next_key=1), dict[int, Any]()
    for number, (what, one, other) in enumerate(steps):
        if what == "attach":
            there[number] = vector(one, other)
            themes.attach(number, there[number])
        elif what == "remove" and there:
            gone = sorted(there)[one % len(there)]
            del there[gone]
            themes.remove(gone)
        elif what == "merge":
            themes.merge_tiny()
    return themes, there


def from_scratch(themes: list[Any]) -> float:
    """f(P) of themes that are given as the vectors of their members; for comparison.

    >>> round(from_scratch([np.eye(3)[:1], np.eye(3)[1:2]]), 3)
    2.0
    """
    found = [centre_of(one) for one in themes]
    centres, cohesions = np.array([one for one, _ in found]), np.array([one for _, one in found])
    alike = centres @ centres.T if len(centres) else np.zeros((0, 0))
    np.fill_diagonal(alike, -np.inf)
    nearest = alike.max(axis=1) if len(centres) > 1 else np.zeros(len(centres))
    return objective([len(one) for one in themes], cohesions, nearest)


def check(themes: ThemeClusters, there: dict[int, Any]) -> None:
    assert sorted(key for found in themes.members.values() for key in found) == sorted(there)  # each in one theme
    assert {key: theme for theme, found in themes.members.items() for key in found} == themes.theme_of
    assert all(found and len(found) <= SMALL.theme_semantics for found in themes.members.values())
    vectors = [np.array([there[key] for key in found]) for found in themes.members.values()]
    for theme, members in zip(themes.members, vectors, strict=True):
        assert np.array_equal(themes.centres.rows.of(theme), centre_of(members)[0])
    if there:
        assert themes.objective == pytest.approx(from_scratch(vectors), abs=1e-5)


@given(STEPS)
def test_no_history_loses_a_semantic_and_what_is_kept_up_is_as_from_scratch(steps: Any) -> None:
    check(*grown(steps))


@given(STEPS)
def test_the_graph_of_neighbours_is_exact_after_any_history(steps: Any) -> None:
    themes, _ = grown(steps)
    for graph in (themes.semantics, themes.centres):
        keys = list(graph.rows)
        alike = graph.rows.all @ graph.rows.all.T
        for place, key in enumerate(keys):
            others = sorted((float(alike[place, other]) for other in range(len(keys)) if other != place), reverse=True)
            found = graph.of(key)
            assert [one for _, one in found] == pytest.approx(others[:NEIGHBOURS], abs=1e-6)
            assert all(graph.rows.place(other) < len(keys) and other != key for other, _ in found)
            assert all(one[1] >= other[1] for one, other in pairwise(found))


@given(STEPS)
def test_themes_that_were_loaded_go_on_as_those_that_were_never_put_down(steps: Any) -> None:
    themes, there = grown(steps)
    again = ThemeClusters(SMALL, next_key=1_000)
    placed = [Placed(key, there[key], themes.theme_of[key], key in themes.moved) for key in sorted(there)]
    again.load(placed, themes.grown, themes.attached)
    check(again, there)
    assert again.members == themes.members
    assert again.objective == pytest.approx(themes.objective, abs=1e-5)
    for one in (themes, again):
        one.attach(99_999, vector(1, 5))
    there[99_999] = vector(1, 5)
    check(again, there)
    assert sorted(map(tuple, again.members.values())) == sorted(map(tuple, themes.members.values()))


def test_a_theme_above_the_cap_is_split_by_the_cut_with_the_highest_value() -> None:
    themes = ThemeClusters(SMALL, next_key=1)
    for number in range(SMALL.theme_semantics + 1):
        themes.attach(number, vector(number % 2, 0) if number else vector(0, 0))
        themes.attach(100 + number, vector(3, number))
    assert all(len(found) <= SMALL.theme_semantics for found in themes.members.values())
    assert themes.moved


def test_a_tiny_theme_is_merged_once_it_has_not_grown_for_long_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grow, "PATIENCE", 5)
    monkeypatch.setattr(grow, "ATTACH", 0.5)
    themes = ThemeClusters(Hierarchies(), next_key=1)
    themes.attach(0, np.array([0.0, 0.6, 0.8]))
    for number in range(1, 5):
        themes.attach(number, np.array([1.0, 0.0, 0.0]))
        assert themes.merge_tiny() == 0
    assert len(themes.members) == 2
    themes.attach(5, np.array([0.98, 0.2, 0.0]))
    assert themes.merge_tiny() in (0, 1)
    assert sorted(themes.theme_of) == list(range(6))
