"""Does a terminal show of a comparison what it holds: a line a system, and what it is less the baseline?"""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core.evaluate.comparison import Result, comparison_text
from tests.evaluate.test_comparison import MADE


def test_there_is_a_line_a_system_and_the_differences() -> None:
    shown = comparison_text(MADE).splitlines()
    assert "theta 3    0.750" in shown
    assert "theta 3  +0.250 [+0.125, +0.375]*" in shown
    assert shown[-1] == "Two questions are few."


def test_of_times_the_spread_is_told() -> None:
    times = Result("notes", "Chroma", "recall ms", 2.0, 1.0, 3.0, 1.5, 4.0, 0.5, 2, 2)
    shown = comparison_text(replace(MADE, results=(times,))).splitlines()
    assert "Chroma  2.000   1.500  4.000      0.500          2" in shown
