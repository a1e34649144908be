"""Can each step that tells what is true still be left out, to see what it costs?"""

from __future__ import annotations

from benchmarks.truth_cost import ALL, WHOLE, rows_of


def test_every_step_is_left_out_in_turn() -> None:
    rows = list(rows_of(60, 2))
    assert [rows[0]["without"], rows[-1]["without"]] == [WHOLE, ALL]
    assert all(row["ms"] > 0 for row in rows)
