"""Are the nearest vectors found, all of them, whatever is added and removed?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.store.chroma.chroma_calls import distances_to
from adaptive_memory_core.store.mirror import vector_matrix
from adaptive_memory_core.store.mirror.vector_matrix import Matrix

SPACES = ("cosine", "ip", "l2")
seeds = st.integers(0, 2**32 - 1)


def changed(matrix: Matrix, rng: np.random.Generator, steps: int) -> Any:
    """The vectors by position after as many changes: what the matrix should hold."""
    held = np.empty((0, matrix.dimension), dtype=np.float32)
    for _ in range(steps):
        if len(held) and rng.random() < 0.3:
            place = int(rng.integers(len(held)))
            last = matrix.remove(place)
            held[place] = held[last]
            held = held[:last]
        else:
            new = rng.normal(size=(int(rng.integers(1, 40)), matrix.dimension)).astype(np.float32) * rng.choice(
                [1, 0, 9]
            )
            matrix.extend(new)
            held = np.concatenate([held, new.astype(np.float32)])
    return held


@pytest.mark.parametrize("space", SPACES)
@given(seed=seeds, steps=st.integers(1, 25), most=st.integers(1, 60))
def test_the_nearest_are_those_of_brute_force(space: str, seed: int, steps: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = Matrix(space, 8)
    held = changed(matrix, rng, steps)
    cue = rng.normal(size=8).astype(np.float32)
    asked = matrix.asked(cue)
    found, distances = matrix.nearest(asked, most)
    expected = np.sort(distances_to(cue, held, space=space))[:most]
    assert len(set(found)) == len(found) == len(distances) == min(most, len(held))
    assert np.allclose(distances_to(cue, held[found], space=space), expected, rtol=1e-5, atol=1e-4)
    assert np.allclose(matrix.distances(asked, found), distances_to(cue, held[found], space=space), atol=1e-4)
    assert np.allclose(distances, distances_to(cue, held[found], space=space), atol=1e-4)


@pytest.mark.parametrize("space", SPACES)
@given(seed=seeds, share=st.floats(0, 1))
def test_what_is_not_allowed_is_not_among_them(space: str, seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    matrix = Matrix(space, 8)
    held = changed(matrix, rng, 8)
    allowed = rng.random(len(held)) < share
    cue = rng.normal(size=8).astype(np.float32)
    found, _ = matrix.nearest(matrix.asked(cue), 5, allowed)
    assert allowed[found].all()
    expected = np.sort(distances_to(cue, held[allowed], space=space))[:5]
    assert np.allclose(distances_to(cue, held[found], space=space), expected, rtol=1e-5, atol=1e-4)


def test_nothing_is_left_of_a_row_that_goes() -> None:
    matrix = Matrix("ip", 4)
    matrix.extend(np.full((3, 4), 7.0))
    for place in (1, 0, 0):
        matrix.remove(place)
    assert matrix.size == 0
    assert not matrix.vectors([0, 1, 2]).any()


@pytest.fixture(params=["simsimd", "numpy alone"])
def many_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """So few rows count as many, with simsimd where it is installed, and without."""
    monkeypatch.setattr(vector_matrix, "LEAST_ROWS", 50)
    if request.param == "simsimd":
        pytest.importorskip("simsimd")
    else:
        monkeypatch.setattr(vector_matrix, "simsimd", None)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.usefixtures("many_rows")
def test_rounded_rows_find_the_same(space: str) -> None:
    rng = np.random.default_rng(3)
    for seed in range(8):
        matrix = Matrix(space, 32)
        held = changed(matrix, np.random.default_rng(seed), 40)
        cue = rng.normal(size=32).astype(np.float32)
        found, _ = matrix.nearest(matrix.asked(cue), 10)
        expected = np.sort(distances_to(cue, held, space=space))[:10]
        assert np.allclose(distances_to(cue, held[found], space=space), expected, rtol=1e-4, atol=1e-4)
        allowed = rng.random(len(held)) < 0.3
        assert allowed[matrix.nearest(matrix.asked(cue), 10, allowed)[0]].all()


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("apart", [0.3, 0.05, 0.02])
def test_vectors_that_are_all_but_the_same_are_told_apart_however_many_there_are(space: str, apart: float) -> None:
    """Rounded to bytes they are not."""
    drawn, count, dimension = np.random.default_rng(0), vector_matrix.LEAST_ROWS + 100, 64
    held = (drawn.normal(size=dimension) + apart * drawn.normal(size=(count, dimension))).astype(np.float32)
    matrix = Matrix(space, dimension)
    matrix.extend(held)
    for row in drawn.integers(count, size=20):
        asked = matrix.asked(held[row])
        _, found = matrix.nearest(asked, 10)
        every = np.sort(matrix.distances(asked, np.arange(count)))
        assert np.allclose(np.sort(found), every[:10], rtol=0, atol=1e-5)
