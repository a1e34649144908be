"""Does the command that measures what observing costs say what is more than it may be?"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks import hierarchy_cost
from benchmarks.hierarchy_bounds import MESSAGES, OF_FLAT, SECONDS, SHAPES, beside_bounds
from tests.benchmarks.test_hierarchy import data  # noqa: F401 - a fixture

ROW = {"set": "talk", "messages": MESSAGES // 2, SECONDS: 29.0, "attach, ms, p50": 0.05, "attach, ms, p99": 11.0}


def test_what_takes_more_than_it_may_is_told() -> None:
    recalls = [{"set": "talk", "shape": "episodes", OF_FLAT: 1.6}, {"set": "other", "shape": "episodes", OF_FLAT: 9.0}]
    held = {row["what"]: row["held"] for row in beside_bounds(ROW, recalls)}
    assert held == {
        SECONDS: True,
        "attach, ms, p50": True,
        "attach, ms, p99": False,
        "a recall of 'episodes', of flat": False,
    }
    slow = next(beside_bounds({**ROW, SECONDS: 31.0}, []))
    assert (slow["at most"], slow["held"]) == (30.0, False)


def test_the_command_prints_what_a_recall_of_each_shape_costs(
    data: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept = data / "rows.json"
    monkeypatch.setattr(sys, "argv", ["cost", "--data", str(data), "--sets", "talk", "--json", str(kept)])
    with suppress(SystemExit):  # of a machine that is too slow today
        hierarchy_cost.main()
    rows = json.loads(kept.read_text())["rows"]
    assert {row["shape"] for row in rows if "shape" in row} == set(SHAPES)
    assert all(row[OF_FLAT] > 0.0 for row in rows if "shape" in row)
    assert {row["what"] for row in rows if "what" in row} >= {SECONDS, "a recall of 'episodes', of flat"}
    assert "What a recall of each shape costs" in capsys.readouterr().out
