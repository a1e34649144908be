"""Are the settings of each agent shown, then written without losing anything, and only where they are understood?"""

from __future__ import annotations

import getpass
import json
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adaptive_memory_core.cli.agent_settings import AGENTS, SERVER
from adaptive_memory_core.cli.app import app
from tests.cli.conftest import Run, command

TOML = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
FILES = {  # below the home, and below a project
    "claude-code": ([".claude/settings.json", ".claude.json"], [".claude/settings.local.json", ".mcp.json"]),
    "codex": ([".codex/hooks.json", ".codex/config.toml"], [".codex/hooks.json", ".codex/config.toml"]),
    "gemini": ([".gemini/settings.json"], [".gemini/settings.json"]),
    "cursor": ([".cursor/hooks.json", ".cursor/mcp.json"], [".cursor/hooks.json", ".cursor/mcp.json"]),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def parsed(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    return TOML.loads(text) if file.suffix == ".toml" else json.loads(text)


def servers(file: Path) -> Any:
    found = parsed(file)
    return found["mcp_servers"] if file.suffix == ".toml" else found["mcpServers"]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.mark.parametrize("where", ["home", "project"])
@pytest.mark.parametrize("name", AGENTS)
def test_settings_are_shown_then_written_and_the_second_time_nothing_changes(
    run: Run, home: Path, tmp_path: Path, name: str, where: str
) -> None:
    folder, of_project = (home, []) if where == "home" else (tmp_path / "app", ["--project", str(tmp_path / "app")])
    files = [folder / one for one in FILES[name][where == "project"]]
    shown = run("agents", name, *of_project)
    assert shown.code == 0
    assert all(f"{one}:\n" in shown.out for one in files)
    assert "Nothing was written" in shown.out
    assert everything(tmp_path) == {}
    written = run("agents", name, *of_project, "--write")
    assert written.out.startswith(shown.out.split("Nothing was written")[0])
    assert sorted(everything(folder)) == sorted(str(one.relative_to(folder)) for one in files)
    assert SERVER in servers(files[-1])
    before = everything(tmp_path)
    again = run("agents", name, *of_project, "--write")
    assert again.out.count("unchanged: ") == len(files)
    assert everything(tmp_path) == before


PROCESSES = pytest.mark.hard("processes")


@pytest.mark.parametrize("name", [pytest.param(one, marks=[PROCESSES] * (one != "claude-code")) for one in AGENTS])
def test_the_commands_that_are_written_work(run: Run, home: Path, place: Path, name: str) -> None:
    run("init")
    told = run("agents", name, "--write", "--json").answer
    assert [one["written"] for one in told["files"]] == [True] * len(FILES[name][0])
    hooks = parsed(home / FILES[name][0][0])["hooks"]
    assert sorted(hooks) == sorted(filter(None, AGENTS[name].events))
    commands = [group.get("command") or group["hooks"][0]["command"] for (group,) in hooks.values()]
    program, *arguments = shlex.split(commands[0])
    start = ["--path", str(place), "--user", "ana", "--embedder", "tests.conftest:word_vectors"]
    assert arguments[-3:] == ["hook", "session-start", "--create"]
    assert arguments[-9:-3] == start
    event = json.dumps({"hook_event_name": AGENTS[name].events[0], "session_id": "s"})
    ended = command(*arguments, stdin=event, program=[program])
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    server = servers(home / FILES[name][0][-1])[SERVER]
    assert server["args"][-3:] == ["mcp", "--create", "--mask-secrets"]
    assert [server["command"], *server["args"][:-3]] == [program, *arguments[:-3]]


def test_what_others_have_written_stays_and_a_copy_is_kept(run: Run, home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    theirs = {"type": "command", "command": "lint --all"}
    old = {"type": "command", "command": "/old/adaptive-memory --path /m --user ana hook stop --create"}
    before = {
        "model": "opus",
        "hooks": {
            "Stop": [{"hooks": [theirs, old]}, {"hooks": [old]}],
            "PreToolUse": [{"matcher": "Bash", "hooks": [theirs]}],
        },
        "note": "grün",
    }
    file.write_text(json.dumps(before), encoding="utf-8")
    file.chmod(0o600)
    state = home / ".claude.json"
    state.write_text(json.dumps({"projects": {"/app": {}}, "mcpServers": {"memory": {"command": "another"}}}))
    ended = run("agents", "claude-code", "--write")
    assert f"written: {file} (before: {file}.bak)" in ended.out
    after = parsed(file)
    assert (after["model"], after["note"]) == ("opus", "grün")
    assert after["hooks"]["PreToolUse"] == before["hooks"]["PreToolUse"]  # type: ignore[index]
    first, ours = after["hooks"]["Stop"]
    assert first == {"hooks": [theirs]}
    assert ours["hooks"][0]["command"].endswith("hook stop --create")
    assert "/old/" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert parsed(Path(f"{file}.bak")) == before
    assert parsed(state)["projects"] == {"/app": {}}
    assert parsed(state)["mcpServers"]["memory"] == {"command": "another"}
    run("--collection", "others", "agents", "claude-code", "--write")
    assert parsed(Path(f"{file}.bak2")) == after
    assert "--collection others" in parsed(file)["hooks"]["Stop"][1]["hooks"][0]["command"]
    assert len(parsed(file)["hooks"]["Stop"]) == 2


def test_a_table_is_added_to_toml_and_one_that_differs_is_left(run: Run, home: Path) -> None:
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    before = '# mine\nmodel = "o"\n\n[mcp_servers.other]\ncommand = "x"\n'
    file.write_text(before)
    assert run("agents", "codex", "--write").code == 0
    assert file.read_text().startswith(before)
    assert set(servers(file)) == {"other", SERVER}
    written = everything(home)
    refused = run("--collection", "others", "agents", "codex", "--write")
    assert (refused.code, refused.out) == (2, "")
    assert "has another table [mcp_servers.adaptive-memory]" in refused.err
    assert everything(home) == written


@pytest.mark.parametrize(
    ("name", "file", "content", "because"),
    [
        ("claude-code", ".claude/settings.json", '{"hooks": ', "is not valid JSON"),
        ("claude-code", ".claude.json", "// mine\n{}", "is not valid JSON"),
        ("claude-code", ".claude.json", "[]", "is not a JSON object"),
        ("gemini", ".gemini/settings.json", '{"hooks": []}', "has a value that is not an object as 'hooks'"),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": 5}', "has a value that is not an object as 'mcpServers'"),
        ("cursor", ".cursor/hooks.json", '{"hooks": {"sessionStart": {}}}', "that is not a list as 'sessionStart'"),
        ("codex", ".codex/config.toml", "model = ", "is not valid TOML"),
        ("codex", ".codex/config.toml", "mcp_servers = 5", "is not valid TOML, or a table cannot be added"),
        ("codex", ".codex/config.toml", "mcp_servers = {}", "a table cannot be added"),
    ],
)
def test_a_file_that_is_not_understood_is_named_and_nothing_is_written(
    run: Run, home: Path, name: str, file: str, content: str, because: str
) -> None:
    (home / file).parent.mkdir(exist_ok=True)
    (home / file).write_text(content)
    for write in ([], ["--write"]):
        refused = run("agents", name, *write)
        assert (refused.code, refused.out) == (2, "")
        assert because in refused.err
        assert str(home / file) in refused.err
        assert "Nothing was written" in refused.err
    assert everything(home) == {file: content.encode()}


def test_an_empty_file_and_a_link_are_written(run: Run, home: Path, tmp_path: Path) -> None:
    (home / ".cursor").mkdir()
    real = tmp_path / "dotfiles.json"
    real.write_text("")
    (home / ".cursor" / "mcp.json").symlink_to(real)
    assert run("agents", "cursor", "--write").code == 0
    assert SERVER in servers(real)
    assert (home / ".cursor" / "mcp.json").is_symlink()


def test_what_no_agent_can_be_given_is_refused(run: Run, home: Path) -> None:
    assert "Give one of claude-code, codex, gemini, cursor" in run("agents", "emacs").err
    for more in (["--everyone"], ["--server", "localhost"], ["--ledger", "x.sqlite3"]):
        ended = run(*more, "agents", "codex", "--write", user=None)
        assert (ended.code, ended.out) == (2, "")
        assert "Give only --path and --user" in ended.err
    assert everything(home) == {}


def test_without_path_and_user_they_are_those_of_whoever_asks(home: Path) -> None:
    told = CliRunner().invoke(app, ["--json", "agents", "gemini"])
    assert told.exit_code == 0
    settings = json.loads(json.loads(told.stdout)["files"][0]["settings"])
    arguments = settings["mcpServers"][SERVER]["args"]
    assert arguments[arguments.index("--path") + 1] == str(home / ".adaptive-memory")
    assert arguments[arguments.index("--user") + 1] == getpass.getuser()
