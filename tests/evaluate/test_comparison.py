"""Is a comparison written, read again and shown as it is, on a page and in a terminal?"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.comparison import (
    FORMAT,
    Comparison,
    DataAbout,
    Difference,
    MeasureAbout,
    Result,
    SystemAbout,
    comparison_text,
)

MADE = Comparison(
    title="tea",
    baseline="Chroma",
    data=(DataAbout("notes", 3, 1, 2),),
    systems=(SystemAbout("Chroma"), SystemAbout("theta 3", axis="theta", value=3.0)),
    measures=(MeasureAbout("NDCG@10"), MeasureAbout("recall ms", "ms", "lower")),
    results=(
        Result("notes", "Chroma", "NDCG@10", 0.5, 0.25, 0.75, 0.5, 1.0, 0.5, 2, 2),
        Result("notes", "theta 3", "NDCG@10", 0.75, 0.5, 1.0, 0.75, 1.0, 0.25, 2, 2),
    ),
    differences=(Difference("notes", "theta 3", "NDCG@10", 0.25, 0.125, 0.375, 2, True),),
    notes=("Two questions are few.",),
)


def test_what_is_written_is_read_again_and_names_its_format() -> None:
    assert Comparison.from_json(MADE.to_json()) == MADE
    told = json.loads(MADE.to_json())
    assert told["format"] == FORMAT
    assert set(told) == {
        *("format", "title", "confidence", "command", "seconds", "machine", "versions", "notes", "data"),
        *("baseline", "systems", "measures", "results", "differences"),
    }


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "another"}', MADE.to_json().replace("p95", "p96")])
def test_what_is_no_comparison_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="This is not a comparison"):
        Comparison.from_json(text)


def test_one_result_is_found_by_its_names() -> None:
    assert MADE.of("theta 3", "NDCG@10").mean == 0.75
    with pytest.raises(InvalidInputError, match="There is no 'recall ms'"):
        MADE.of("theta 3", "recall ms")


def test_there_is_a_line_a_system_and_the_differences() -> None:
    shown = comparison_text(MADE).splitlines()
    assert "theta 3    0.750" in shown
    assert "theta 3  +0.250 [+0.125, +0.375]*" in shown
    assert shown[-1] == "Two questions are few."


def test_of_times_the_spread_is_told() -> None:
    times = Result("notes", "Chroma", "recall ms", 2.0, 1.0, 3.0, 1.5, 4.0, 0.5, 2, 2)
    shown = comparison_text(replace(MADE, results=(times,))).splitlines()
    assert "Chroma  2.000   1.500  4.000      0.500          2" in shown
