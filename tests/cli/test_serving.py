"""Does `mcp` refuse what it cannot serve before it opens anything, and serve the rest until nobody asks?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adaptive_memory_core.cli.maintenance import TOKEN
from tests.cli.conftest import Run

LONG = "a-token-that-is-long-enough"


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (["--tokens", "tokens.json"], "are for --http"),
        (["--name", "here"], "are for --http"),
        (["--idle-exit", "0"], "Give minutes above 0"),
        (["-k", "0"], "k is 0"),
        (["--max-tokens", "0"], "max_tokens is 0"),
        (["--http"], f"Set the variable {TOKEN}"),
        (["--http", "--tokens", "none.json"], "Leave --user and --everyone out"),
        (["--http", "--host", "0.0.0.0"], "give --allow-remote"),
        (["--http", "--host", "0.0.0.0", "--allow-remote"], "By which name"),
    ],
)
def test_what_cannot_be_served_is_refused(run: Run, place: Path, arguments: list[str], because: str) -> None:
    ended = run("mcp", "--create", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert because in ended.err
    assert not place.exists()


def test_a_user_or_tokens_must_be_given(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No user is named" in run("mcp", user=None).err
    monkeypatch.setenv(TOKEN, LONG)
    assert "No user is named" in run("mcp", "--http", user=None).err
    assert "There is no file" in run("mcp", "--http", "--tokens", str(tmp_path / "none.json"), user=None).err
    monkeypatch.setenv(TOKEN, "short")
    assert "Give at least 16" in run("mcp", "--http").err


def test_over_http_it_says_where_on_stderr_and_ends_where_nobody_asks(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, LONG)
    serve = ("mcp", "--create", "--http", "--port", "0", "--idle-exit", "0.001")
    ended = run(*serve)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith("serving http://127.0.0.1:")
    assert LONG not in ended.err
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps({LONG: "ana"}))
    tokens.chmod(0o600)
    assert run(*serve, "--tokens", str(tokens), user=None).code == 0
