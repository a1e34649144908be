"""Does the way down lead to the episodes of what is asked for, and to more than one theme?"""

from __future__ import annotations

import numpy as np
import pytest

from adaptive_memory_core.hierarchy import top_down as stage_one
from adaptive_memory_core.hierarchy.nodes import Episode, Hierarchy, Semantic, ThemeNode
from adaptive_memory_core.hierarchy.top_down import NOWHERE, top_down
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
