"""How do tests call the command? In this process, with the tests' embedder; its answer is what stood on stdout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest
from typer.testing import CliRunner

from adaptive_memory_core.cli.app import app

EMBEDDER = "tests.conftest:word_vectors"


class Ended(NamedTuple):
    """What a command has printed, and its exit code."""

    out: str
    err: str
    code: int

    @property
    def answer(self) -> Any:
        return json.loads(self.out)


class Run(Protocol):
    """Runs the command with these arguments, for a user unless told otherwise."""

    def __call__(self, *args: str, user: str | None = "ana", stdin: str | None = None) -> Ended: ...


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def run(place: Path) -> Callable[..., Ended]:
    def runner(*args: str, user: str | None = "ana", stdin: str | None = None) -> Ended:
        whose = [] if user is None else ["--user", user]
        common = ["--path", str(place), "--embedder", EMBEDDER, *whose]
        result = CliRunner().invoke(app, [*common, *args], input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Ended(result.stdout, result.stderr, result.exit_code)

    return runner


@pytest.fixture
def with_three(run: Run) -> Run:
    """Over a memory of Ana's with three records."""
    lines = [
        {"id": "tea", "text": "Ana likes green tea"},
        {"id": "cat", "text": "the cat is called Turing"},
        {"id": "db", "text": "the database is PostgreSQL", "kind": "fact", "metadata": {"project": "apollo"}},
    ]
    stored = run("import", "-", "--create", stdin="\n".join(map(json.dumps, lines)))
    assert (stored.code, stored.out) == (0, "3 records\n")
    return run
