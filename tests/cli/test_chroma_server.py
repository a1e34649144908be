"""Does the command work on a memory that is spread over a Chroma server and PostgreSQL?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adaptive_memory_core.cli.app import app
from tests.chroma_server import ChromaServer
from tests.cli.conftest import EMBEDDER, Ended, Run
from tests.free_port import free_port
from tests.postgres_server import new_database


@pytest.fixture
def bare() -> Callable[..., Ended]:
    """Runs the command without a directory."""

    def runner(*args: str) -> Ended:
        result = CliRunner().invoke(app, ["--embedder", EMBEDDER, *args])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Ended(result.stdout, result.stderr, result.exit_code)

    return runner


@pytest.mark.hard("server")
def test_a_memory_on_servers_is_made_and_used(
    bare: Callable[..., Ended], chroma_server: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = f"127.0.0.1:{chroma_server.port}"
    monkeypatch.setenv("ADAPTIVE_MEMORY_LEDGER", new_database())
    there = ("--server", server, "--user", "ana")
    missing = bare("recall", "tea", *there)
    assert missing.code == 2
    assert "no collection 'memories'" in missing.err
    assert bare("init", "--server", server).out == f"{server}: collection 'memories'\n"
    assert bare("remember", "Ana likes green tea", "--id", "tea", *there).out == "tea\n"
    assert bare("recall", "tea", *there, "--json").answer["hits"][0]["id"] == "tea"
    assert bare("log", *there, "--json").code == 0
    assert bare("create-tables").out == "the tables were there already\n"
    assert bare("check", "--server", server).code == 0
    monkeypatch.delenv("ADAPTIVE_MEMORY_LEDGER")
    refused = bare("recall", "tea", *there)
    assert refused.code == 2
    assert "--ledger" in refused.err


def test_records_in_a_directory_may_have_their_ledger_elsewhere(run: Run) -> None:
    address = new_database()
    assert run("remember", "Ana likes tea", "--id", "tea", "--create", "--ledger", address).out == "tea\n"
    assert run("recall", "tea", "--json", "--ledger", address).answer["hits"][0]["id"] == "tea"


def test_servers_that_are_not_there_are_named(bare: Callable[..., Ended], tmp_path: Path) -> None:
    port = free_port()
    away = bare("recall", "tea", "--user", "ana", "--server", f"127.0.0.1:{port}", "--ledger", str(tmp_path / "l"))
    assert away.code == 3
    assert f"127.0.0.1:{port} cannot be reached" in away.err
    wrong = bare("recall", "tea", "--user", "ana", "--server", "ftp://chroma", "--ledger", str(tmp_path / "l"))
    assert wrong.code == 2
    assert "Give HOST:PORT" in wrong.err
    both = bare("recall", "tea", "--user", "ana", "--server", f"127.0.0.1:{port}", "--path", str(tmp_path))
    assert both.code == 2
    assert "Both --path and --server" in both.err
    late = bare("create-tables", "--wait", "0.2", "--ledger", f"postgresql://127.0.0.1:{port}/memories")
    assert late.code == 3
    assert "cannot be reached" in late.err
    assert bare("create-tables").code == 2
