"""How do tests call the command? In this process, with the tests' embedder, or as a process of its own, maybe in a
terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest
from typer.testing import CliRunner

from adaptive_memory_core.cli.app import app

EMBEDDER = "tests.conftest:word_vectors"
ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "adaptive_memory_core.cli"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'shared'}{os.pathsep}{ROOT}", "ANONYMIZED_TELEMETRY": "False"}


def command(*args: str, stdin: str = "", program: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, behind pipes."""
    return subprocess.run(
        [*(COMMAND if program is None else program), *args],
        input=stdin,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
        timeout=120,
    )


def in_terminal(*args: str, keys: str = "", **variables: str) -> tuple[str, int]:
    """What the command shows in a terminal of 100 columns where these keys are struck, and its exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [*COMMAND, *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "TERM": "xterm-256color", **variables},
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, keys.encode())
    shown = b""
    with open(ours, "rb", buffering=0) as screen:
        while piece := _read(screen):
            shown += piece
    return shown.decode(), process.wait(timeout=120)


def _read(screen: FileIO) -> bytes:
    try:
        return screen.read(65_536)
    except OSError:  # the last one who had the terminal open is gone
        return b""


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
