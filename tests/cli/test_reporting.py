"""Does `report` write the page that it says, and refuse what it cannot?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.cli.app import app
from tests.conftest import word_vectors
from tests.pages.test_experiment import comparison

EMBEDDER = "tests.conftest:word_vectors"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors) as memory:
        memory.for_user("ana").remember("Ana likes tea.")
        memory.for_user("ana").recall("tea")
    return tmp_path / "memory"


def call(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["--embedder", EMBEDDER, *map(str, arguments)])


def test_a_users_page_is_written(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "ana.html"
    done = call("--path", place, "--user", "ana", "--json", "report", out, "--title", "Ana & co")
    assert done.exit_code == 0, done.output
    page = out.read_text(encoding="utf-8")
    assert json.loads(done.stdout) == {"path": str(out), "characters": len(page)}
    assert "Ana likes tea." in page
    assert "Ana &amp; co" in page


def test_a_page_of_all_users_holds_no_text(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.html"
    assert call("--path", place, "report", out, "--all-users").exit_code == 0
    assert "likes tea" not in out.read_text(encoding="utf-8")
    assert call("--path", place, "--user", "ana", "report", out, "--all-users").exit_code == 2


def test_a_comparison_needs_no_memory(tmp_path: Path) -> None:
    result, out = tmp_path / "result.json", tmp_path / "comparison.html"
    comparison().save(result)
    assert call("report", out, "--experiment", result).exit_code == 0
    assert "Difference from plain Chroma" in out.read_text(encoding="utf-8")
    result.write_text("{}")
    assert call("report", out, "--experiment", result).exit_code == 2
    assert call("report", out, "--experiment", tmp_path / "none.json").exit_code == 2


@pytest.mark.parametrize(
    ("given", "page"),
    [
        (["--all-users", "--records", 5, "--recalls", 2], "--records and --recalls cannot be given with --all-users"),
        (["--experiment", "any.json", "--records", 5], "--records cannot be given with --experiment"),
        (["--experiment", "any.json", "--title", "Mine"], "--title cannot be given with --experiment"),
        (["--experiment", "any.json", "--all-users"], "--all-users cannot be given with --experiment"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    place: Path, tmp_path: Path, given: list[Any], page: str
) -> None:
    done = call("--path", place, "report", tmp_path / "page.html", *given)
    assert (done.exit_code, page in done.output) == (2, True), done.output
    assert not (tmp_path / "page.html").exists()


def test_a_file_of_somebody_elses_is_left_alone(place: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "notes.html"
    theirs.write_text("mine")
    done = call("--path", place, "--user", "ana", "report", theirs)
    assert done.exit_code == 2
    assert "Name a new file" in done.output
    assert theirs.read_text() == "mine"
