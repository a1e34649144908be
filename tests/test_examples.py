"""Do the examples do what they say? Each runs as a user runs it: as a process of its own, from another directory."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import adaptive_memory_core
from tests.preloaded import Preloaded

EXAMPLES = Path(__file__).parents[1] / "examples"
PACKAGE = str(Path(adaptive_memory_core.__file__).parents[1])
ESCAPE = "\x1b"
SECONDS = 120
FIRST = "01_quickstart.py"
# 34_several_machines.py is run with its servers in behaviour/test_several_machines.py
SAYS: dict[str, list[str]] = json.loads(Path(__file__).with_name("examples_say.json").read_text("utf-8"))
NEEDS = {"51_deepagents.py": "deepagents"}  # what `make frameworks` installs
IMPORTED = """
    adaptive_memory_core.models.local chromadb fastapi langchain.agents langchain_adaptive_memory.agents.middleware
    langchain_adaptive_memory.retriever langchain_chroma langgraph.graph llama_adaptive_memory.retriever
    llama_index.core.query_engine llama_index.vector_stores.chroma
"""

pytestmark = pytest.mark.hard("example")


def environment(**changes: str) -> dict[str, str]:
    """A plain environment: nothing in it that speaks of colour or width, unless given."""
    plain = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TERM", "PYTHONHASHSEED"}
    plain |= {"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"}  # the examples run without a key
    kept = {name: value for name, value in os.environ.items() if name not in plain}
    path = os.pathsep.join([PACKAGE, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**kept, "PYTHONPATH": path, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **changes}


def run(name: str, directory: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(
        command,
        cwd=directory,
        env=environment(**changes),
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Preloaded]:
    """A process with what examples import, which takes longer than most of them."""
    with closing(Preloaded(IMPORTED.split(), environment(), tmp_path_factory.mktemp("examples"))) as process:
        yield process


def in_a_terminal(name: str, directory: Path, **changes: str) -> str:
    """What an example writes when its output is a terminal."""
    pty = pytest.importorskip("pty")
    ours, its = pty.openpty()
    command = [sys.executable, str(EXAMPLES / name)]
    with subprocess.Popen(command, cwd=directory, env=environment(COLUMNS="80", **changes), stdout=its) as process:
        os.close(its)
        written = b""
        while chunk := _read(ours):
            written += chunk
        assert process.wait(SECONDS) == 0
    os.close(ours)
    return written.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says so when the other end is closed
        return b""


def test_every_example_is_tested() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(SAYS)


@pytest.mark.parametrize("name", [pytest.param(FIRST, marks=pytest.mark.sample), *sorted({*SAYS} - {FIRST})])
def test_an_example_runs_and_says_what_it_promises(name: str, tmp_path: Path, preloaded: Preloaded) -> None:
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"needs {NEEDS[name]}, which `make frameworks` installs (not on every Python)")
    done = preloaded.run([str(EXAMPLES / name)], tmp_path, environment(), seconds=SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in SAYS[name]:
        assert words in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_demo_writes_plain_text_where_there_is_no_terminal(tmp_path: Path) -> None:
    shown = run("demo.py", tmp_path, PYTHONIOENCODING="ascii").stdout
    assert ESCAPE not in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert len(shown.splitlines()) <= 26


def test_the_demo_claims_what_is_so(monkeypatch: pytest.MonkeyPatch) -> None:
    demo = SimpleNamespace(**runpy.run_path(str(EXAMPLES / "demo.py")))
    allergic, standup, checkout = demo.QUESTIONS
    found = demo.asked()
    assert found.chroma == {allergic: "peanuts", standup: "old standup", checkout: "redis"}
    assert found.fresh == {**found.chroma, standup: "standup"}
    assert found.taught == {**found.fresh, checkout: "postgres"} == {one: q.gold for one, q in demo.QUESTIONS.items()}
    assert "'now', taken for the present" in found.why[standup]
    assert "postgres was helpful for" in found.why[checkout]
    monkeypatch.setitem(demo.asked.__globals__, "HELPED", "redis")  # the verdict decides, not the read before it
    assert demo.asked().taught == found.fresh


def test_the_demo_is_coloured_in_a_terminal(tmp_path: Path) -> None:
    assert ESCAPE in in_a_terminal("demo.py", tmp_path)


def test_the_demo_honours_no_color(tmp_path: Path) -> None:
    assert ESCAPE not in in_a_terminal("demo.py", tmp_path, NO_COLOR="1")
