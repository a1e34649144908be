"""Does the benchmark of the graph's cost ask what it says, on a small set that was made up for it?"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.graph_cost import main

PASSAGES = [("John Smith", "He moved to Rye."), ("Rye", "Rye is a town. Many people visit it."), ("Ada", "Ada left.")]
QUESTIONS = [("Where did John Smith live?", "p0"), ("Where did Jon Smith live?", "p0"), ("Where is Rye?", "p1")]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    corpus = [{"id": f"p{n}", "title": one, "text": f"{one}\n{text}"} for n, (one, text) in enumerate(PASSAGES)]
    queries = [{"id": f"q{n}", "query": one, "gold_ids": [gold]} for n, (one, gold) in enumerate(QUESTIONS)]
    (tmp_path / "people").mkdir()
    for name, rows in (("corpus", corpus), ("queries", queries)):
        with gzip.open(tmp_path / "people" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


def rows_of(data: Path, monkeypatch: pytest.MonkeyPatch, options: Sequence[str]) -> list[dict[str, Any]]:
    given = ["graph_cost", "--data", str(data), "--sets", "people", "--json", str(data / "out.json"), *options]
    monkeypatch.setattr("sys.argv", given)
    main()
    found: list[dict[str, Any]] = json.loads((data / "out.json").read_text(encoding="utf-8"))["rows"]
    return found


def test_each_size_is_asked_every_question(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(data, monkeypatch, ["--times", "1", "3"])
    assert [(row["passages"], row["sentences"], row["questions"]) for row in rows] == [(3, 4, 3), (9, 12, 3)]


def test_questions_with_unknown_names_stand_by_themselves(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(data, monkeypatch, ["--times", "1", "--names-alike", "0.8"])
    assert [(row["names"], row["questions"]) for row in rows] == [("", 3), ("alike", 2), ("n unknown", 1)]
    assert rows[0]["MB compared"] >= rows[0]["MB"] > 0.0
