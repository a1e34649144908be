"""Does a report show its numbers in line, and record, in pieces too, what it was measured on?"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.evaluate.intervals import Interval
from benchmarks.recorded_parts import commit_of, parts_in, recorded
from benchmarks.report import TableRow, percentiles, print_table, text_table, write_json


def test_all_lines_of_a_table_are_as_wide_as_its_rule() -> None:
    rows: list[dict[str, object]] = [
        {"name": "a", "n": 1, "mrr": 0.5},
        {"name": "longer", "mrr": None, "ok": True},
        {"n": 12345, "ok": False},
    ]
    lines = text_table(rows).splitlines()
    assert len(lines) == 5
    assert [line.split() for line in lines[2:]] == [
        ["a", "1", "0.500", "-"],
        ["longer", "-", "-", "True"],
        ["-", "12345", "-", "False"],
    ]
    assert all(len(line) <= len(lines[1]) for line in lines)


def test_an_interval_and_a_numpy_number_show_as_numbers() -> None:
    interval = Interval(mean=0.5, low=0.25, high=0.75, confidence=0.95, clusters=4)
    assert text_table([{"NDCG@10": interval, "s": np.float64(0.25)}]).splitlines()[2].split() == [
        "0.500",
        "[0.250,",
        "0.750]",
        "0.250",
    ]


def test_a_title_stands_above_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([{"n": 1}], title="Counts")
    assert capsys.readouterr().out == "\nCounts\nn\n-\n1\n"


def test_a_report_records_what_it_was_measured_on(tmp_path: Path) -> None:
    path = tmp_path / "results" / "rot.json"
    write_json(path, [{"n": 1}], command=["benchmarks/rot.py", "--data", "d"], settings={"seed": 1})
    report = json.loads(path.read_text(encoding="utf-8"))
    assert report["command"] == "python -m benchmarks.rot --data d"
    assert report["rows"] == [{"n": 1}]
    assert report["settings"] == {"seed": 1}
    assert set(report["machine"]) == {"cpu", "cpus", "memory_gib", "platform", "load_average"}
    assert {"python", "sqlite", "chromadb", "numpy", "adaptive-memory-retrieval"} == set(report["versions"])
    assert report["versions"]["chromadb"] is not None
    age = datetime.now(timezone.utc) - datetime.fromisoformat(report["finished_at"])
    assert -1 <= age.total_seconds() < 60


def test_a_report_holds_no_path_of_the_machine(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    settings = {"data": tmp_path, "out": str(tmp_path / "x.json"), "share": "1/2"}
    write_json(
        path,
        [{"file": tmp_path, "page": "/wiki/Rome"}],
        command=[str(tmp_path / "a.py"), f"--data={tmp_path}"],
        settings=settings,
    )
    written = path.read_text(encoding="utf-8")
    assert str(tmp_path.parent) not in written
    assert json.loads(written)["settings"] == {"data": tmp_path.name, "out": "x.json", "share": "1/2"}
    assert json.loads(written)["rows"] == [{"file": tmp_path.name, "page": "/wiki/Rome"}]


def test_intervals_and_numpy_numbers_are_written_as_json(tmp_path: Path) -> None:
    interval = Interval(mean=0.5, low=0.25, high=0.75, confidence=0.95, clusters=4)
    write_json(tmp_path / "x.json", [{"ndcg": interval, "n": np.int64(3), "ks": (1, 5)}], command=[], settings={})
    row = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["rows"][0]
    assert row == {
        "ndcg": {"mean": 0.5, "low": 0.25, "high": 0.75, "confidence": 0.95, "clusters": 4},
        "n": 3,
        "ks": [1, 5],
    }


def test_a_nan_is_no_result_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", [{"ndcg": math.nan}], command=[], settings={})
    assert not (tmp_path / "x.json").exists()


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_percentiles_are_samples_in_order(samples: list[float]) -> None:
    found = percentiles(samples)
    assert found["min"] == min(samples) <= found["p50"] <= found["p95"] <= max(samples)
    assert set(found.values()) <= set(samples)


def test_the_median_of_three_is_the_middle_one() -> None:
    assert percentiles([9.0, 1.0, 2.0]) == {"min": 1.0, "p50": 2.0, "p95": 9.0}


def test_no_samples_have_no_percentiles() -> None:
    with pytest.raises(ValueError, match="no samples"):
        percentiles([])


def record(path: Path | None, name: str, *numbers: int) -> Sequence[TableRow]:
    rows = [{"n": n} for n in numbers]
    return recorded(path, name, lambda: rows, command=["benchmarks/x.py", name], settings={})


def test_parts_of_several_commands_stand_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    record(path, "quality: a", 1, 2)
    record(path, "quality: b", 3)
    found = parts_in(path)
    assert {name: part["rows"] for name, part in found.items()} == {
        "quality: a": [{"n": 1}, {"n": 2}],
        "quality: b": [{"n": 3}],
    }
    assert found["quality: b"]["command"] == "python -m benchmarks.x 'quality: b'"


def test_a_part_measured_again_replaces_itself_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    record(path, "a", 1)
    before = record(path, "b", 2) and parts_in(path)["b"]
    record(path, "a", 9)
    assert parts_in(path)["a"]["rows"] == [{"n": 9}]
    assert parts_in(path)["b"] == before


def test_each_part_says_on_what_it_was_measured(tmp_path: Path) -> None:
    record(tmp_path / "run.json", "a", 1)
    part = parts_in(tmp_path / "run.json")["a"]
    assert set(part) == {*("command", "finished_at", "settings", "machine", "versions", "rows"), *("commit", "seconds")}
    assert {"cpu", "cpus", "load_average"} <= set(part["machine"])
    assert {"python", "chromadb", "numpy"} <= set(part["versions"])


def test_without_a_file_the_rows_are_given_and_nothing_is_written() -> None:
    assert record(None, "a", 1) == [{"n": 1}]


def test_what_breaks_off_leaves_the_parts_before_it(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    record(path, "a", 1)
    with pytest.raises(ZeroDivisionError):
        recorded(path, "b", lambda: [{"n": 1 / 0}], command=[], settings={})
    assert list(parts_in(path)) == ["a"]


def test_a_file_of_another_kind_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"rows": []}), "utf-8")
    with pytest.raises(SystemExit, match="holds no parts"):
        record(path, "a", 1)
    assert json.loads(path.read_text("utf-8")) == {"rows": []}


def test_a_commit_with_changed_code_has_a_plus(tmp_path: Path) -> None:
    assert commit_of(tmp_path) is None
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for arguments in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)
    (tmp_path / "page.md").write_text("a figure", "utf-8")
    clean = commit_of(tmp_path)
    (tmp_path / "code.py").write_text("", "utf-8")
    assert clean is not None
    assert commit_of(tmp_path) == f"{clean}+"
