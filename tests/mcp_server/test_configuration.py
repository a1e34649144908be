"""Does what the page says to copy work? Its JSON is whole, and its arguments are those of the command."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adaptive_memory_core.cli.app import app

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "mcp.md").read_text("utf-8")
BLOCKS = [json.loads(one) for one in re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
SERVERS = [next(iter((block.get("mcpServers") or block["servers"]).values())) for block in BLOCKS]
SAID = [shlex.split(one) for one in re.findall(r"adaptive-memory (--path .* mcp\b.*)$", PAGE, re.MULTILINE)]
ARGUMENTS = [*(one["args"] for one in SERVERS if "args" in one), *SAID]


def test_there_is_one_for_each_kind_of_client() -> None:
    assert [one.get("type") for one in SERVERS] == [None, "stdio", "http"]
    assert SERVERS[2]["url"] == "http://127.0.0.1:8765/mcp"
    assert len(ARGUMENTS) == 4


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=" ".join)
def test_its_arguments_are_those_of_the_command(arguments: list[str]) -> None:
    ended = CliRunner().invoke(app, [*arguments, "--help"])
    assert ended.exit_code == 0
    known = set(re.findall(r"--[a-z-]+", ended.output)) | {"--path", "--user"}
    assert {one for one in arguments if one.startswith("--")} <= known
