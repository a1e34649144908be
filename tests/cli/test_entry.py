"""How does the real command behave, as a process of its own?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, ENVIRONMENT, ROOT, command


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
