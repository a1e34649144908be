"""Does knowing when is asked about help as much as is claimed, and cost nothing where no time is asked about?"""

from __future__ import annotations

from typing import Any

from benchmarks.asked_time import diary_rows


def test_questions_with_a_time_gain_and_those_without_lose_nothing() -> None:
    rows: Any = {row["policy"]: row for row in diary_rows(["no rules", "default", "equal, no rules", "equal"])}
    for before, after in (("no rules", "default"), ("equal, no rules", "equal")):
        for kind in ("month", "ago", "year"):
            assert rows[after][kind] > rows[before][kind] + 0.3
        assert rows[after]["lately"] >= rows[before]["lately"]
        assert rows[after]["originally"] >= rows[before]["originally"]
        assert rows[after]["no time"] == rows[before]["no time"]
    assert rows["default"]["on topic"] > 0.9
