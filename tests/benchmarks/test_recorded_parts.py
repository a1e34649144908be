"""Can a run be recorded in pieces, each with what it was measured on?"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.recorded_parts import commit_of, parts_in, recorded
from benchmarks.report import TableRow


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
    assert set(part) == {
        *("command", "finished_at", "settings", "machine", "versions", "rows"),
        *("commit", "seconds"),
    }
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
