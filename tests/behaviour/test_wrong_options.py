"""What does a wrong option leave behind? Nothing: all are checked before a directory, a lock or a file is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.options import Options

WRONG: dict[str, list[Any]] = {
    "embedder": [3, "minilm", [1.0]],
    "ledger": [
        3,
        "",
        b"reads",
        ["reads"],
        "a\0b",
        "a\ud800",
        "x" * 5_000,
        "mysql://somewhere/reads",
        "postgresql://127.0.0.1:1/reads",
    ],
    "policy": [3, "equal", Policy(channels=("dense", "sql"))],
    "fields": [3],
    "keeping": [3],
    "durability": ["some"],
    "write": ["now"],
    "clock": [3],
    "languages": [3, [3], ["de"]],
    "channels": [3, {"sql": 3}, {"dense": lambda *_: []}],
    "reranker": [3],
    "same_fact": [3],
    "shared": [3, "ana", [""]],
    "reader": [3],
    "judge": [3, "a model"],
    "entities": [3],
    "roles": [3, lambda lines: lines],
    "telemetry": [3, "on", int],
    "nonsense": [1],
}
CASES = [(name, value) for name, values in WRONG.items() for value in values]


def test_every_option_is_tried() -> None:
    assert WRONG.keys() - {"nonsense"} == Options.__annotations__.keys()


@pytest.mark.parametrize(("name", "wrong"), CASES)
def test_a_wrong_option_leaves_no_directory_behind(
    tmp_path: Path, embed: Callable[..., Any], name: str, wrong: Any
) -> None:
    given: dict[str, Any] = {"embedder": embed, name: wrong}
    with pytest.raises((TypeError, AdaptiveMemoryError)):
        AdaptiveMemory.open(tmp_path / "new", **given)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["fields", "keeping"])
def test_of_two_settings_the_wrong_one_is_named(tmp_path: Path, name: str) -> None:
    given: dict[str, Any] = {name: {}}
    with pytest.raises(AdaptiveMemoryError, match=rf"^{name} is {{}}\. Give {name.title()}\(\.\.\.\)"):
        AdaptiveMemory.open(tmp_path / "new", **given)


@pytest.mark.parametrize("name", [3, None, b"notes", "", "ab", "notes of ana", "_notes", "..", "a" * 513])
def test_a_wrong_name_of_a_collection_leaves_no_directory_behind(
    tmp_path: Path, embed: Callable[..., Any], name: Any
) -> None:
    for refused in (AdaptiveMemory.open, AdaptiveMemory.repair):
        with pytest.raises(AdaptiveMemoryError, match=r"Give a string|A name has 3 to 512"):
            refused(tmp_path / "new", name, embedder=embed)
    assert not (tmp_path / "new").exists()


def test_a_ledger_that_is_no_file_leaves_no_directory_behind(tmp_path: Path, embed: Callable[..., Any]) -> None:
    (tmp_path / "notes.txt").write_text("no database, but a text of a hundred characters or more " * 4)
    (tmp_path / "folder").mkdir()
    for ledger in (tmp_path / "notes.txt", tmp_path / "folder", tmp_path / "notes.txt" / "reads.sqlite3"):
        for refused in (AdaptiveMemory.open, AdaptiveMemory.repair):
            with pytest.raises(LedgerError):
                refused(tmp_path / "new", embedder=embed, ledger=ledger)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "notes.txt"]


@pytest.fixture
def persistent(tmp_path: Path) -> tuple[Collection, Path]:
    client = chromadb.PersistentClient(tmp_path / "theirs")
    return client.create_collection("notes", embedding_function=None), tmp_path / "theirs"


def test_a_wrong_option_leaves_nothing_beside_a_collection(
    persistent: tuple[Collection, Path], embed: Callable[..., Any]
) -> None:
    collection, directory = persistent
    before = sorted(one.name for one in directory.iterdir())
    for name, wrong in CASES:
        given: dict[str, Any] = {"embedder": embed, "ledger": directory / "new" / "reads.sqlite3", name: wrong}
        with pytest.raises((TypeError, AdaptiveMemoryError)):
            AdaptiveMemory(collection, **given)
    assert sorted(one.name for one in directory.iterdir()) == before


def test_languages_may_come_from_an_iterator(tmp_path: Path, embed: Callable[..., Any]) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=embed, languages=iter([lambda *_: []])) as memory:
        assert len(memory.ports().languages) == 1
