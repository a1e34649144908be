"""Does anything but one finite vector for each text get through?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.models.embedder import as_embedder

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ([], "0 vectors"),
        ([[1.0], [2.0]], "2 vectors"),
        ([[]], "shape"),
        ([1.0], "shape"),
        ([[[1.0]]], "shape"),
        ([[math.inf]], "infinity"),
        ([[1e300]], "infinity"),
        ([["a"]], "not an array of numbers"),
        ([None], "shape"),
        (None, "failed on a query"),
        ({"a": 1, "b": 2}, "2 vectors"),
    ],
)
def test_a_query_gets_one_finite_vector_or_an_error(wrong: Any, why: str) -> None:
    with pytest.raises(EmbedderError, match=why):
        as_embedder(lambda texts: wrong).embed_query("a")


@pytest.mark.parametrize("wrong", [None, 3, "text", [1.0, 2.0], {"a": 1}, [[1.0]], [[1.0], [None]], [[1.0], [1j]]])
def test_two_texts_get_two_vectors_or_an_error(wrong: Any) -> None:
    with pytest.raises(EmbedderError, match="Allowed"):
        as_embedder(lambda texts: wrong).embed_documents(["a", "b"])


def rectangles(element: st.SearchStrategy[float]) -> st.SearchStrategy[list[list[float]]]:
    return st.integers(1, 5).flatmap(
        lambda width: st.lists(st.lists(element, min_size=width, max_size=width), min_size=1)
    )


@given(rectangles(finite), st.sampled_from([list, tuple, np.array]))
def test_any_finite_rectangle_is_accepted(rows: list[list[float]], kind: Any) -> None:
    vectors = as_embedder(lambda texts: kind(rows)).embed_documents(["x"] * len(rows))
    assert vectors.tolist() == rows


@given(rectangles(finite), st.integers(0, 8))
def test_any_other_number_of_vectors_is_refused(rows: list[list[float]], count: int) -> None:
    texts = ["x"] * (count if count != len(rows) else count + 1)
    if texts:
        with pytest.raises(EmbedderError):
            as_embedder(lambda _: rows).embed_documents(texts)


@given(rectangles(finite), st.data())
def test_a_single_broken_number_is_refused(rows: list[list[float]], data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[row]) - 1))
    rows[row][column] = data.draw(st.sampled_from([math.nan, math.inf, -math.inf]))
    with pytest.raises(EmbedderError, match=f"1 of {len(rows)} vectors .the first is number {row}"):
        as_embedder(lambda _: rows).embed_documents(["x"] * len(rows))


@given(st.lists(st.lists(finite, max_size=4), min_size=2, max_size=6).filter(lambda rows: len({*map(len, rows)}) > 1))
def test_ragged_vectors_are_refused(rows: Sequence[Sequence[float]]) -> None:
    with pytest.raises(EmbedderError):
        as_embedder(lambda _: rows).embed_documents(["x"] * len(rows))
