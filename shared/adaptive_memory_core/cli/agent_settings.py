"""The command `agents`: shows and writes the settings with which a coding agent uses a memory.

Each agent has a file for its hooks and a file for its MCP servers, which may be the same. Existing settings stay, but
older entries of this command are replaced.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive_memory_core.cli.__main__ import HOOKS
from adaptive_memory_core.cli.session import Session, session_of
from adaptive_memory_core.cli.terminal import show
from adaptive_memory_core.error_messages import reason, shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.whole_file import expanded, write_whole

SERVER = "adaptive-memory"  # the name of the MCP server in all settings
USUAL_PATH = Path("~/.adaptive-memory")
SECONDS = 30  # the timeout of a hook
OURS = re.compile(r"adaptive[-_]memory.*\bhook (?:session-start|prompt|stop|pre-compact)\b")
DEFAULTS = {"collection": "memories", "embedder": "local"}


@dataclass(frozen=True, slots=True)
class CodingAgent:
    """One coding agent: its files for hooks and servers, in the home directory and in a project, and the names of its
    events in our order. `flat` hooks are commands without groups; with `milliseconds`, timeouts have that unit."""

    hooks: tuple[str, str]
    servers: tuple[str, str]
    events: Sequence[str | None]
    flat: bool = False
    milliseconds: bool = False
    afterwards: str = "Start a new session of the agent: it reads its settings at the start."


AGENTS: Mapping[str, CodingAgent] = {
    "claude-code": CodingAgent(
        hooks=("~/.claude/settings.json", ".claude/settings.local.json"),
        servers=("~/.claude.json", ".mcp.json"),
        events=("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"),
    ),
    "codex": CodingAgent(
        hooks=("~/.codex/hooks.json", ".codex/hooks.json"),
        servers=("~/.codex/config.toml", ".codex/config.toml"),
        events=("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"),
        afterwards="Start a new session. Codex runs the hooks once you have reviewed and trusted them there: /hooks.",
    ),
    "gemini": CodingAgent(
        hooks=("~/.gemini/settings.json", ".gemini/settings.json"),
        servers=("~/.gemini/settings.json", ".gemini/settings.json"),
        events=("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress"),
        milliseconds=True,
    ),
    "cursor": CodingAgent(
        hooks=("~/.cursor/hooks.json", ".cursor/hooks.json"),
        servers=("~/.cursor/mcp.json", ".cursor/mcp.json"),
        events=("sessionStart", "beforeSubmitPrompt", "afterAgentResponse", None),
        flat=True,
    ),
}


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file of an agent: the addition, the text before (None if there is no file), and the text after."""

    path: Path
    added: str
    before: str | None
    after: str


def agents(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help=f"{', '.join(AGENTS)}.")],
    write: Annotated[bool, typer.Option("--write", help="Write the settings, after showing them.")] = False,
    project: Annotated[
        Path | None,
        typer.Option(
            help="Write the settings of the project in this directory only, not those of all projects.", metavar="DIR"
        ),
    ] = None,
) -> None:
    """Show the settings that give a coding agent this memory: hooks and the MCP server (docs/guides/mcp.md).

    Without --path the memory is in ~/.adaptive-memory, and without --user it is yours. Nothing is written without
    --write. Then a copy of each changed file is kept next to it.
    """
    if name not in AGENTS:
        raise InvalidInputError(f"{shown(name)} is not an agent with known settings. Give one of {', '.join(AGENTS)}.")
    session, agent = session_of(ctx), AGENTS[name]
    files = settings_of(agent, common_arguments(session), None if project is None else expanded(project))
    changes: list[dict[str, Any]] = [{"path": str(one.path), "settings": one.added, "written": False} for one in files]
    if not session.as_json:
        show([line for one in files for line in (f"{one.path}:", one.added, "")], None, as_json=False)
    lines = ["Nothing was written. Add --write to write this into the files above."]
    if write:
        lines = [*map(_written, files), agent.afterwards]
        changes = [{**one, "written": file.before != file.after} for one, file in zip(changes, files, strict=True)]
    show(lines, {"agent": name, "files": changes}, as_json=session.as_json)


def common_arguments(session: Session) -> list[str]:
    """The command for this memory and user, with absolute paths, since an agent may have another PATH."""
    if session.ledger is not None or session.server is not None or session.everyone:
        raise InvalidInputError("Settings are written for a user's memory in a directory. Give only --path and --user.")
    path = expanded(session.path or USUAL_PATH).absolute()
    script = shutil.which("adaptive-memory", path=str(Path(sys.executable).parent))
    start = [sys.executable, "-m", "adaptive_memory_core.cli"] if script is None else [script]
    given = [*start, "--path", str(path), "--user", session.user or getpass.getuser()]
    for option in ("collection", "embedder"):
        if (value := getattr(session, option)) != DEFAULTS[option]:
            given += [f"--{option}", value]
    return given + (["--over-everyone"] if session.over_everyone else [])


def settings_of(agent: CodingAgent, start: Sequence[str], project: Path | None) -> list[SettingsFile]:
    """The agent's files with our settings added. Raises InvalidInputError if a file cannot be parsed."""
    hooks, servers = (
        expanded(paths[0]) if project is None else project.absolute() / paths[1]
        for paths in (agent.hooks, agent.servers)
    )
    ours = {"hooks": _hooks(agent, start)} | ({"version": 1} if agent.flat else {})
    server = {"command": start[0], "args": [*start[1:], "mcp", "--create", "--mask-secrets"]}
    if hooks == servers:
        return [_of_json(hooks, ours | {"mcpServers": {SERVER: server}})]
    if servers.suffix == ".toml":
        return [_of_json(hooks, ours), _of_toml(servers, server)]
    return [_of_json(hooks, ours), _of_json(servers, {"mcpServers": {SERVER: server}})]


def _hooks(agent: CodingAgent, start: Sequence[str]) -> dict[str, Any]:
    joined = subprocess.list2cmdline if os.name == "nt" else shlex.join
    found: dict[str, Any] = {}
    for event, name in zip(HOOKS, agent.events, strict=True):
        if name is None:
            continue
        command: dict[str, Any] = {"command": joined([*start, "hook", event, "--create"])}
        if agent.flat:
            found[name] = [command]
        else:
            timeout = SECONDS * 1_000 if agent.milliseconds else SECONDS
            found[name] = [{"hooks": [{"type": "command", **command, "timeout": timeout}]}]
    return found


def _of_json(path: Path, ours: Mapping[str, Any]) -> SettingsFile:
    before = _text(path)
    try:
        settings = json.loads(before) if before and before.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _not_understood(path, f"is not valid JSON: {reason(error)}") from error
    if not isinstance(settings, dict):
        raise _not_understood(path, "is not a JSON object")
    after = dict(settings)
    for name, value in ours.items():
        if isinstance(value, dict):
            there = after.get(name, {})
            if not isinstance(there, dict):
                raise _not_understood(path, f"has a value that is not an object as {name!r}")
            after[name] = _merged(path, there, value)
        else:
            after.setdefault(name, value)
    text = (
        before if before is not None and after == settings else json.dumps(after, indent=2, ensure_ascii=False) + "\n"
    )
    return SettingsFile(path, json.dumps(ours, indent=2, ensure_ascii=False), before, text)


def _merged(path: Path, there: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Merge our settings: hooks by event, after other hooks, and servers by name."""
    merged = dict(there)
    for name, value in ours.items():
        if not isinstance(value, list):
            merged[name] = value
            continue
        others = merged.get(name, [])
        if not isinstance(others, list):
            raise _not_understood(path, f"has a value that is not a list as {name!r}")
        merged[name] = [*(left for one in others if (left := _without_ours(one)) is not None), *value]
    return merged


def _without_ours(entry: Any) -> Any:
    """A group or a hook without our commands; None if nothing is left."""
    if not isinstance(entry, dict):
        return entry
    if OURS.search(str(entry.get("command", ""))):
        return None
    if not isinstance(entry.get("hooks"), list):
        return entry
    left = [one for one in entry["hooks"] if _without_ours(one) is not None]
    return None if entry["hooks"] and not left else {**entry, "hooks": left}


def _of_toml(path: Path, server: Mapping[str, Any]) -> SettingsFile:
    """The file with our table at its end. Raises InvalidInputError if it already has another table of that name."""
    before = _text(path)
    lines = [f"[mcp_servers.{SERVER}]", *(f"{name} = {json.dumps(value)}" for name, value in server.items())]
    added, toml = "\n".join(lines), import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        known = toml.loads(before or "").get("mcp_servers", {}).get(SERVER)
        after = f"{before.rstrip()}\n\n{added}\n" if before and before.strip() else f"{added}\n"
        toml.loads(after if known is None else "")
    except (ValueError, AttributeError) as error:
        raise _not_understood(path, f"is not valid TOML, or a table cannot be added to it: {reason(error)}") from error
    if known is not None and {name: known.get(name) for name in server} != server:
        raise _not_understood(path, f"has another table [mcp_servers.{SERVER}], which was changed by hand or is older")
    return SettingsFile(path, added, before, before if known is not None and before is not None else after)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8") if path.exists() else None
    except (OSError, UnicodeError) as error:
        raise _not_understood(path, f"cannot be read: {reason(error)}") from error


def _not_understood(path: Path, why: str) -> InvalidInputError:
    return InvalidInputError(f"{str(path)!r} {why}. Nothing was written. Correct it or move it away, then call again.")


def _written(file: SettingsFile) -> str:
    if file.before == file.after:
        return f"unchanged: {file.path}"
    file.path.parent.mkdir(parents=True, exist_ok=True)
    note = ""
    if file.before is not None:
        backup = _free(file.path)
        shutil.copy2(file.path, backup)
        note = f" (before: {backup})"
    write_whole(file.path, file.after)
    return f"written: {file.path}{note}"


def _free(path: Path) -> Path:
    """An unused name for a backup next to the file."""
    found, number = path.with_name(f"{path.name}.bak"), 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}.bak{number}")
    return found
