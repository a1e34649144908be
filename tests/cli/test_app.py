"""Is every command there, with help and exit codes as it says, as a process of its own and with modules of others?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from adaptive_memory_core.cli import terminal
from adaptive_memory_core.cli.app import GROUPS, app
from adaptive_memory_core.errors import LedgerError
from tests.cli.conftest import COMMAND, EMBEDDER, ENVIRONMENT, ROOT, Run, command

COMMANDS = sorted(one for one in typer.main.get_command(app).commands)  # type: ignore[attr-defined] # of a group


def test_all_commands_are_there() -> None:
    assert set(COMMANDS) == {
        *(
            "init",
            "remember",
            "import",
            "recall",
            "explain",
            "get",
            "log",
            "stats",
            "themes",
            "feedback",
            "pin",
            "unpin",
            "demote",
        ),
        *(
            "agents",
            "hook",
            "forget",
            "prune",
            "flush",
            "check",
            "export",
            "restore",
            "reembed",
            "backup",
            "create-tables",
            "row-level-security",
            "move-ledger",
        ),
        *("replay", "tune", "eval", "bench", "compare", "report", "mcp", "demo"),
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_a_command_and_each_of_its_options_does(name: str) -> None:
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined] # of a group
    assert len(command.help or "") > 30
    assert [one.name for one in command.params if not getattr(one, "help", None) and one.name != "ctx"] == []
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0


def test_the_help_of_all_tells_the_exit_codes() -> None:
    shown = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    for code in (terminal.NOTHING_FOUND, terminal.WRONG_USAGE, terminal.STORE_FAILED, terminal.PIPE_CLOSED):
        assert str(code) in shown


def test_errors_end_with_one_line_and_their_code(capsys: pytest.CaptureFixture[str]) -> None:
    errors = {LedgerError("torn"): 3, OSError("disk full"): 3, KeyboardInterrupt(): 130, BrokenPipeError(): 141}
    for error, code in errors.items():
        with pytest.raises(typer.Exit) as ended, terminal.ending():
            raise error
        assert ended.value.exit_code == code
    assert capsys.readouterr().err.splitlines() == [
        "adaptive-memory: torn",
        "adaptive-memory: disk full",
        "adaptive-memory: interrupted",
    ]


def test_commands_are_in_groups_with_those_for_operators_apart() -> None:
    shown = CliRunner().invoke(app, ["--help"]).stdout
    groups = [shown.index(f"─ {name} ─") for name in GROUPS]
    assert groups == sorted(groups)
    operators = shown[groups[-1] :]
    for name in ("check", "backup", "move-ledger", "create-tables"):
        assert f"│ {name} " in operators
        assert f"│ {name} " not in shown[: groups[-1]]


def test_the_demo_runs_and_leaves_nothing() -> None:
    shown = CliRunner().invoke(app, ["--embedder", EMBEDDER, "demo"])
    assert shown.exit_code == 0
    assert "redis" in shown.stdout
    assert "canteen" in shown.stdout


def test_the_version_is_told() -> None:
    assert CliRunner().invoke(app, ["--version"]).exit_code == 0


@pytest.mark.hard("processes")
def test_a_memory_is_written_and_read_by_processes(tmp_path: Path) -> None:
    common = ["--path", str(tmp_path / "memory"), "--user", "ana"]
    stored = command(*common, "remember", "Ana likes green tea.", "--id", "tea", "--create")
    assert (stored.returncode, stored.stdout, stored.stderr) == (0, "tea\n", "")
    found = command(*common, "recall", "what does Ana drink?", "--json")
    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout)["hits"][0]["id"] == "tea"
    nothing = command(*common[:3], "bob", "recall", "tea")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (1, "", "nothing found\n")
    refused = command(*common[:2], "recall", "tea")
    assert (refused.returncode, refused.stdout, len(refused.stderr.splitlines())) == (2, "", 1)
    assert command("--path", str(tmp_path / "none"), "--user", "ana", "recall", "tea").returncode == 2
    assert not (tmp_path / "none").exists()


def test_a_reader_who_goes_away_is_no_error() -> None:
    process = subprocess.Popen(
        [*COMMAND, "--embedder", "tests.conftest:word_vectors", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        cwd=ROOT,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as errors:
        assert errors.read() == b""
    assert process.wait(timeout=120) == 141


def test_help_loads_neither_chroma_nor_an_embedder() -> None:
    program = (
        "import sys\nfrom typer.testing import CliRunner\nfrom adaptive_memory_core.cli.app import app\n"
        "shown = CliRunner().invoke(app, ['recall', '--help'])\nassert shown.exit_code == 0\n"
        "print([name for name in ('chromadb', 'tokenizers', 'onnxruntime', 'rich.progress') if name in sys.modules])"
    )
    assert command(program=[sys.executable, "-c", program]).stdout == "[]\n"


def test_the_command_is_part_of_the_base_and_its_extra_brings_the_embedder() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'adaptive-memory = "adaptive_memory_core.cli.__main__:main"' in project
    base = project.partition("dependencies = [")[2].partition("]\n")[0]
    assert '"typer>=' in base  # which Chroma brings in any case
    assert '\ncli = ["adaptive-memory-retrieval[local]"]' in project


def test_an_interrupt_while_the_libraries_load_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    code = "from adaptive_memory_core.cli.__main__ import main; main()"
    environment = {**os.environ, "PYTHONPATH": path}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "adaptive-memory: interrupted\n")


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
