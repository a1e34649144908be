"""Does the application of examples/compose.yaml work with 4 workers, and are the file's parts the ones tested here?"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from packaging.requirements import Requirement

from tests.chroma_server import ChromaServer
from tests.postgres_server import new_database
from tests.test_examples import environment

pytestmark = pytest.mark.hard("server")
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "34_several_machines.py"
COMPOSE = ROOT / "examples" / "compose.yaml"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    return found


def test_the_application_serves_with_four_workers_and_counts_each_recall_once(
    services: dict[str, Any], chroma_server: ChromaServer, tmp_path: Path
) -> None:
    given = {"CHROMA_HOST": "127.0.0.1", "CHROMA_PORT": str(chroma_server.port), "LEDGER": new_database()}
    assert set(given) == set(services["application"]["environment"]) - {"ANONYMIZED_TELEMETRY"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        cwd=tmp_path,
        env=environment(**given),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "120 of 120 recalls found the user's own note" in done.stdout
    assert re.search(r"answered by [234] workers", done.stdout)
    assert "every step once for each user: True" in done.stdout
    assert "120 recalls, 120 reads in the ledger" in done.stdout
    assert list(tmp_path.glob("*")) == [tmp_path / "server"]


def test_the_command_of_the_file_is_the_one_that_is_tested(services: dict[str, Any]) -> None:
    command = services["application"]["command"]
    assert command[:4] == ["uvicorn", f"{EXAMPLE.stem}:app", "--workers", "4"]
    tested = EXAMPLE.read_text("utf-8")
    assert "WORKERS, USERS, REQUESTS = 4, 6, 120" in tested
    assert '"uvicorn", f"{place.stem}:app"' in tested
    port = command[command.index("--port") + 1]
    assert services["application"]["ports"] == [f"127.0.0.1:8080:{port}"]


def test_the_servers_of_the_file_are_the_ones_that_are_tested(services: dict[str, Any]) -> None:
    with psycopg.connect(new_database()) as connection:
        assert services["ledger"]["image"] == f"postgres:{connection.info.server_version // 10_000}"
    name, _, version = services["chroma"]["image"].partition(":")
    bounds = {one.name: one.specifier for one in map(Requirement, metadata.requires("adaptive-memory-retrieval") or ())}
    assert name == "chromadb/chroma"
    assert version in bounds["chromadb"]
    ours, theirs = metadata.version("chromadb").split("."), version.split(".")
    assert ours[:2] == theirs[:2], "the server's version in the file is not the one that the tests run: change it there"


def test_the_application_finds_the_two_servers_by_their_names(services: dict[str, Any]) -> None:
    told, ledger = services["application"]["environment"], services["ledger"]["environment"]
    assert told["CHROMA_HOST"] in services
    address = psycopg.conninfo.conninfo_to_dict(told["LEDGER"])
    assert address["host"] in services
    assert {address["user"], address["password"], address["dbname"]} == set(ledger.values())
    assert set(services["application"]["depends_on"]) == {"chroma", "ledger"}


def test_what_the_application_is_built_of_is_there(services: dict[str, Any]) -> None:
    lines = services["application"]["build"]["dockerfile_inline"].splitlines()
    copied = [part for line in lines if line.startswith("COPY") for part in line.split()[1:-1]]
    assert all((ROOT / one).exists() for one in copied)
    packages = {"shared", "langchain_adaptive_memory", "llama_adaptive_memory"}
    assert packages | {"pyproject.toml", "hatch_build.py", "README.md"} <= set(copied)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for extra in ("local", "postgres"):
        assert re.search(rf"^{extra} = \[", project, re.MULTILINE)
    for needed in re.findall(r'"((?:fastapi|httpx|uvicorn)[^"]+)"', "\n".join(lines)):
        assert f'"{needed}"' in project
