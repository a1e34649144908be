"""Does the benchmark of evidence run as a user runs it, with a model at hand as well?"""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import hierarchy, hierarchy_structure
from benchmarks.data import load
from benchmarks.evidence_systems import systems
from tests.models.chat_server import FakeChat, serving

TALK = (
    ("Ana", "Where did you go last week?", "s1"),
    ("Ben", "I went to Oslo for the ski race.", "s1"),
    ("Ana", "My garden has tomatoes now.", "s2"),
    ("Ben", "My sister has bought a red kayak.", "s2"),
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "talk"
    folder.mkdir()
    corpus = [
        {"id": f"t{n}", "tenant": "a", "session": of, "seq": n, "ts": 1.7e9 + 90_000 * n, "speaker": who, "text": text}
        for n, (who, text, of) in enumerate(TALK)
    ]
    asked = {"tenant": "a", "type": "single", "category": 4, "answerable": True}
    queries = [
        {"id": "q1", "query": "Where did Ben go for the ski race?", "gold_ids": ["t1"], "answer": "Oslo", **asked},
        {"id": "q2", "query": "What has Ben's sister bought?", "gold_ids": ["t3"], "answer": "a red kayak", **asked},
    ]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as lines:
            lines.write("\n".join(map(json.dumps, rows)))
    return tmp_path


@pytest.fixture
def server() -> Iterator[FakeChat]:
    """Sure of itself, and right, where the evidence is before it."""
    with serving() as made:

        def replies(request: dict[str, Any]) -> tuple[str, list[list[float]]]:
            told = json.loads(request["messages"][1]["content"])
            right = "Oslo" if "ski" in told["question"] else "a red kayak"
            if any(right in text for text in told["evidence"]):
                return right, [[0.0, -50.0]]
            return "no idea", [[math.log(0.5), math.log(0.5)]]

        made.replies = replies
        yield made


def run(main: Any, monkeypatch: pytest.MonkeyPatch, data: Path, *arguments: str) -> list[dict[str, Any]]:
    kept = data / "rows.json"
    monkeypatch.setattr(
        sys, "argv", ["benchmark", "--data", str(data), "--sets", "talk", *arguments, "--json", str(kept)]
    )
    main()
    rows: list[dict[str, Any]] = json.loads(kept.read_text())["rows"]
    return rows


def test_all_systems_in_one_run_and_answers_of_a_model(
    data: Path, server: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    systems = ("naive chunks", "windows", "flat", "episodes", "top down")
    rows = run(hierarchy.main, monkeypatch, data, "--systems", *systems, "--model", "m", "--base-url", server.url)
    evidence = {row["system"]: row for row in rows if row["table"] == "Evidence within a budget"}
    assert list(evidence) == list(systems)
    assert all(evidence[name]["r2000"] == "1.000" for name in systems)
    answered = {row["system"]: row for row in rows if row["table"] == "Answers of a model"}
    assert list(answered) == ["flat", "episodes", "top down"]
    assert (answered["flat"]["F1"], answered["flat"]["tokens a query"]) == (1.0, 12.0)
    assert answered["top down"]["tokens a query"] > 12.0  # the expansion asks as well


def test_conversations_that_have_long_ended_are_recalled_with_what_has_grown_from_them(data: Path) -> None:
    talk = load(data, "talk")
    (shown,) = systems(talk, talk.questions, ["top down"])
    assert all(len({unit.block for unit in units}) == len(TALK) for units in shown.units)  # a day lies between them


def test_structure_with_and_without_splits(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = run(hierarchy_structure.main, monkeypatch, data, "--settings", "w/o split and merge", "cap 12")
    assert [row["setting"] for row in rows] == ["w/o split and merge", "cap 12"]
    assert all(row["semantics"] >= row["themes"] >= 1 for row in rows)
    assert all(0.0 <= float(row["r500"]) <= 1.0 for row in rows)
