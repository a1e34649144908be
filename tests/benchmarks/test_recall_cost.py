"""Does the benchmark measure every way of asking, and every step of a recall, on what it says it measures?"""

from __future__ import annotations

from benchmarks.recall_cost import TIMES, measured, questions

WAYS = [
    "Chroma, filtered",
    "Chroma, unfiltered",
    "recall",
    "recall, not counted",
    "recall, names a time",
    "recall, filter=",
    "recall, right after a write",
]


def test_one_question_in_seven_names_a_time() -> None:
    asked = questions(70)
    assert sum(any(one.endswith(f"{time}?") for time in TIMES) for one in asked) == 10
    assert len(set(asked)) > 60


def test_each_way_is_timed_beside_chroma() -> None:
    rows = measured(40, 3, steps=False)
    assert [row["way"] for row in rows] == WAYS
    assert rows[0]["p50 of Chroma's"] == 1.0
    assert all(row["p95 ms"] >= row["p50 ms"] > 0.0 for row in rows)


def test_each_step_is_timed_within_the_whole() -> None:
    spent = {row["step"]: row["us"] for row in measured(40, 3, steps=True)}
    whole = spent.pop("the whole recall")
    assert {"ask_sources", "gather", "count_reading"} <= set(spent)
    assert sum(spent.values()) < 2 * whole
