"""Does the benchmark measure and record the parts that are asked for, and no others?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import bench
from benchmarks.recorded_parts import parts_in
from benchmarks.recorded_texts import quality

NOTES = {
    "deploys": "Deploys are done on Tuesdays.",
    "pool": "When checkout is slow, look at the Postgres pool first.",
    "keys": "The keys of the archive are with Ines.",
}
ASKED = {"on which day are deploys done?": "deploys", "who has the keys of the archive?": "keys"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("notes", "more"):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        corpus = [{"id": own, "text": text} for own, text in NOTES.items()]
        queries = [{"id": f"q{n}", "query": one, "gold_ids": [gold]} for n, (one, gold) in enumerate(ASKED.items())]
        for file, rows in (("corpus", corpus), ("queries", queries)):
            Path(folder, f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return tmp_path / "data"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks/bench.py", *arguments])
    bench.main()


def test_sets_measured_by_two_commands_are_one_recorded_run(
    data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "bench.json"
    for name in ("notes", "more"):
        run(monkeypatch, "--data", str(data), "--parts", "quality", "--sets", name, "--json", str(file))
    found = parts_in(file)
    assert list(found) == ["quality: notes", "quality: more"]
    for name, part in found.items():
        assert [row["system"] for row in part["rows"]] == list(bench.SYSTEMS)
        assert part["command"].endswith(f"--sets {name.removeprefix('quality: ')} --json bench.json")
    assert {row["recall@10"] for row in found["quality: notes"]["rows"]} == {1.0}
    assert len(quality(found).splitlines()) == 4


def test_the_parts_are_those_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.py", "--records", "10", "20", "--parts", "queries", "langchain"])
    assert [name for name, _ in bench.parts(bench.parsed())] == [
        *("queries: 10", "langchain: 10"),
        *("queries: 20", "langchain: 20"),
    ]


def test_without_data_there_is_speed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.py", "--records", "10"])
    assert [name for name, _ in bench.parts(bench.parsed())] == ["queries: 10", "langchain: 10"]


def test_with_data_there_is_a_part_for_each_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.py", "--data", "x", "--records"])
    assert [name for name, _ in bench.parts(bench.parsed())] == [
        *(f"quality: {name}" for name in bench.SETS),
        "sessions: locomo",
    ]
