"""Do the tests lie where what they test lies? One folder for each folder of the package, few apart."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CORE = TESTS.parent / "shared" / "adaptive_memory_core"
FILES = sorted(TESTS.rglob("test_*.py"))
FOLDERS = sorted({file.parent.relative_to(TESTS).as_posix() for file in FILES} - {"."})
APART = {"adapters", "behaviour", "benchmarks", "langchain_adaptive_memory", "llama_adaptive_memory"}
CONTRACTS = {"store/ledger/contract"}  # what every ledger has to pass, whichever it is
REPOSITORY = {
    "contributing",
    "golden_rankings",
    "prose",
    "size",
    "suites",
    "docs",
    "docs_references",
    "docs_site",
    "examples",
    "layers",
    "longest_first",
    "mirror",
    "other_frameworks",
    "public_names",
    "release",
    "sources_page",
}  # about the repository as a whole


@pytest.mark.parametrize("folder", sorted(set(FOLDERS) - CONTRACTS))
def test_a_folder_of_tests_is_a_folder_of_the_package(folder: str) -> None:
    assert folder.split("/", maxsplit=1)[0] in APART or (CORE / folder).is_dir(), (
        f"tests/{folder}: move it where the module lies"
    )


def test_at_the_top_are_tests_of_top_level_modules_and_of_the_repository() -> None:
    names = {file.stem.removeprefix("test_") for file in FILES if file.parent == TESTS}
    assert [name for name in sorted(names - REPOSITORY) if not (CORE / f"{name}.py").exists()] == []


def test_no_test_file_hides_behind_another_name() -> None:
    """What pytest does not collect is not run: tests are in files named test_*.py."""
    hidden = [file for file in TESTS.rglob("*.py") if file not in FILES and "\ndef test_" in file.read_text("utf-8")]
    assert hidden == []
