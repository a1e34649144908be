"""Is every command there, with help worth reading, and its exit code as the help says?"""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from adaptive_memory_core.cli import terminal
from adaptive_memory_core.cli.app import GROUPS, app
from adaptive_memory_core.errors import LedgerError
from tests.cli.conftest import EMBEDDER

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
