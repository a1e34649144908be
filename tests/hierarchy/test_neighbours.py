"""Are the nearest of each node exact whenever somebody asks, and is a node that moved often worked in once?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from adaptive_memory_core.hierarchy.neighbours import NearestGraph

MOST = 3
# a node gets this vector (a new one, or one that is there), is dropped, or is asked for its nearest
STEPS = some.lists(
    some.tuples(some.sampled_from(["put", "put", "put", "drop", "ask"]), some.integers(0, 9), some.integers(0, 999)),
    min_size=1,
    max_size=80,
)


def vector(seed: int) -> Any:
    made = np.random.default_rng(seed).normal(size=4)
    return (made / np.linalg.norm(made)).astype(np.float32)


def exact(graph: NearestGraph, there: dict[int, Any], key: int) -> None:
    others = sorted((float(one @ there[key]) for other, one in there.items() if other != key), reverse=True)
    assert [one for _, one in graph.of(key)] == pytest.approx(others[:MOST], abs=1e-6)
    assert graph.nearest(key, alone=-2.0) == pytest.approx(others[0] if others else -2.0, abs=1e-6)


@given(STEPS)
def test_whoever_asks_between_changes_finds_the_nearest_as_they_are_then(steps: Any) -> None:
    graph, there = NearestGraph(MOST), dict[int, Any]()
    for what, key, seed in steps:
        if what == "put":
            there[key] = vector(seed)
            graph.put(key, there[key])
        elif key in there and what == "drop":
            del there[key]
            graph.drop(key)
        elif key in there:
            exact(graph, there, key)
    for key in there:
        exact(graph, there, key)


@given(STEPS)
def test_all_whose_nearest_have_changed_are_told(steps: Any) -> None:
    graph, told = NearestGraph(MOST), dict[int, Any]()
    for what, key, seed in steps:
        if what == "put":
            graph.put(key, vector(seed))
        elif key in graph.rows and what == "drop":
            graph.drop(key)
        elif what == "ask":
            told |= {one: graph.of(one) for one in graph.taken_changes()}
    told |= {one: graph.of(one) for one in graph.taken_changes()}
    assert {one: told[one] for one in graph.rows} == {one: graph.of(one) for one in graph.rows}


def test_a_node_that_moves_often_is_compared_with_the_others_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, compared = NearestGraph(MOST), list[int]()
    for key in range(8):
        graph.put(key, vector(key))
    graph.taken_changes()
    with_all = graph.rows.similarities

    def counted(one: Any) -> Any:
        compared.append(1)
        return with_all(one)

    monkeypatch.setattr(graph.rows, "similarities", counted)
    for seed in range(100, 150):
        graph.put(0, vector(seed))
    assert not compared
    graph.of(5)
    assert 1 <= len(compared) <= 8  # the node, and at most each that may have lost it
