"""Does a module that somebody else wrote end a command as the page says, and print nothing into its answer?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

PRINTS = """
print("imported")
def vectors(texts):
    print("embedding", len(texts))
    return [[1.0, float(len(text))] for text in texts]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "their_model", raising=False)
    return tmp_path / "their_model.py"


def test_what_an_embedder_prints_stands_on_stderr(run: Run, module: Path) -> None:
    module.write_text(PRINTS)
    own = ("--embedder", "their_model:vectors", "--json")
    stored = run("remember", "tea", "--id", "tea", "--create", *own)
    assert json.loads(stored.out) == {"id": "tea"}
    found = run("recall", "tea", *own)
    assert [one["id"] for one in found.answer["hits"]] == ["tea"]
    assert "imported" in stored.err
    assert "embedding 1" in found.err


@pytest.mark.parametrize("content", ["raise RuntimeError('boom')", "def f(:", "import nowhere_at_all", ""])
def test_a_module_that_cannot_be_imported_is_wrong_usage(content: str, run: Run, module: Path) -> None:
    module.write_text(content)
    ended = run("remember", "tea", "--create", "--embedder", "their_model:vectors")
    assert (ended.code, ended.out) == (2, "")
    assert "their_model:vectors" in ended.err
    assert "Traceback" not in ended.err


def test_a_module_named_relatively_is_wrong_usage(run: Run) -> None:
    assert run("remember", "tea", "--create", "--embedder", "..x:y").code == 2


def test_an_error_that_nobody_expected_is_not_taken_for_nothing_found(run: Run, module: Path, tmp_path: Path) -> None:
    module.write_text("def system(embedder, settings):\n    raise ZeroDivisionError('theirs')\n")
    rows = {"corpus": {"id": "a", "text": "tea"}, "queries": {"id": "q", "query": "tea?", "gold_ids": ["a"]}}
    for name, row in rows.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row))
    file = tmp_path / "experiment.json"
    file.write_text(json.dumps({"data": [{"folder": "."}], "systems": [{"use": "their_model:system"}]}))
    ended = run("compare", str(file), user=None)
    assert (ended.code, ended.out) == (3, "")
    assert "ZeroDivisionError" in ended.err
    assert len(ended.err.splitlines()) == 1
