"""Could this be published as it is? Wheel and source archive are built as `make dist` does, and checked."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.hard("install")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run("build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return folder


@pytest.fixture(scope="module")
def metadata(built: Path) -> Message:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        return message_from_bytes(wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))))


def run(module: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_twine_finds_nothing_to_complain_of(built: Path) -> None:
    files = sorted(map(str, built.iterdir()))
    assert len(files) == 2
    assert run("twine", "check", "--strict", *files).count("PASSED") == 2


def test_the_metadata_say_what_an_index_shows(metadata: Message) -> None:
    needed = ("Name", "Version", "Summary", "License-Expression", "License-File", "Keywords", "Requires-Python")
    assert [name for name in needed if not metadata[name]] == []
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert str(metadata.get_payload()).startswith("# Adaptive memory retrieval")
    supported = {one.rsplit(" ", 1)[1] for one in metadata.get_all("Classifier", []) if "Python :: 3." in one}
    least, below = map(
        int, re.findall(r"3\.(\d+)", " ".join(sorted(metadata["Requires-Python"].split(","), reverse=True)))
    )
    assert supported == {f"3.{minor}" for minor in range(least, below)}


def test_no_place_is_named_that_does_not_exist_yet(metadata: Message) -> None:
    """Where this fails because there is one: RELEASING.md lists what to fill in with it."""
    assert metadata.get_all("Project-URL") is None
    assert "[project.urls]" in (ROOT / "RELEASING.md").read_text("utf-8")


@pytest.mark.sample
def test_the_wheel_holds_the_packages_and_their_types_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    packages = {"adaptive_memory_core", "langchain_adaptive_memory", "llama_adaptive_memory"}
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == packages
    assert [one for one in sorted(packages) if f"{one}/py.typed" not in names] == []


def test_the_source_archive_holds_all_that_make_test_needs(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "RELEASING.md",
        "SECURITY.md",
        "Makefile",
        "pyproject.toml",
    }
    needed |= {"docs/zensical.toml", "docs/pictures/recall.svg", "benchmarks/README.md", "tests/conftest.py"}
    assert needed - names == set()
    assert [name for name in names if name.endswith((".sqlite3", ".gz", ".pyc"))] == []
