"""Is what Chroma has lost made again from the ledger, without embedding a text and without losing a read?"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaptive_memory_core import AdaptiveMemory, NotFoundError
from adaptive_memory_core.errors import DamagedLedgerError, DamagedStoreError
from adaptive_memory_core.store.chroma import collection_repair
from adaptive_memory_core.store.chroma.index_files import HEADER, LENGTHS, LINKS, NAMES, VECTORS
from tests.store.chroma.test_index_damage import (
    EVERY_READ_COUNTS,
    IN_FILES,
    IN_LOG,
    Embedding,
    Whole,
    client_over,
    collection_of,
    counts_of,
    held_in,
    text,
    vectors_of,
    whole,
)

__all__ = ["whole"]
DATABASE, LEDGER = "chroma.sqlite3", "adaptive_memory.sqlite3"


@pytest.fixture
def directory(whole: Whole, tmp_path: Path) -> Path:
    shutil.copytree(whole.directory, tmp_path / "memory")
    return tmp_path / "memory"


def repaired(directory: Path, **named: Any) -> tuple[str, list[str]]:
    """The report, which has to say that all is well now, and the texts that were embedded again."""
    embedding = Embedding()
    report = AdaptiveMemory.repair(directory, embedder=embedding.named, **named)
    assert report.ok, str(report)
    return str(report), embedding.texts


def assert_whole(directory: Path, known: Whole) -> None:
    """All that was known is there: texts, metadata, vectors, reads, the log; and it is found."""
    with AdaptiveMemory.open(directory, embedder=Embedding().named, policy=EVERY_READ_COUNTS) as memory:
        alice = memory.for_user("alice")
        assert counts_of(memory) == known.counts
        assert alice.get("m3").text == text(3)
        assert len(alice.recalls(limit=100)) == len(range(0, IN_FILES + IN_LOG, 17))
        assert alice.recall(text(40), k=1).ids == ("m40",)
        assert memory.check().ok, str(memory.check())
    vectors = vectors_of(directory)
    assert vectors.keys() == known.vectors.keys()
    for one, vector in vectors.items():
        np.testing.assert_allclose(vector, known.vectors[one], atol=1e-5)


@pytest.mark.parametrize("how", ["gone", "torn", "half of it zeros", "no database"])
def test_a_database_that_is_lost_is_made_again(directory: Path, whole: Whole, how: str) -> None:
    file = directory / DATABASE
    content = file.read_bytes()
    changed = {
        "torn": content[: len(content) // 2],
        "half of it zeros": content[: len(content) // 4] + bytes(len(content) // 2) + content[len(content) * 3 // 4 :],
        "no database": b"hello",
    }
    file.unlink() if how == "gone" else file.write_bytes(changed[how])
    if how == "no database":
        with pytest.raises(DamagedStoreError, match=r"AdaptiveMemory\.repair"):
            AdaptiveMemory.open(directory, embedder=Embedding().named)
    report, embedded = repaired(directory)
    assert embedded == []
    assert "rebuilt from the ledger's copy: 170 records" in report
    assert "backup" not in report, "what has been mended needs no remedy"
    assert_whole(directory, whole)


def test_a_collection_that_is_lost_is_made_again(directory: Path, whole: Whole) -> None:
    with client_over(directory) as client:
        client.delete_collection("memories")
        client.create_collection("others", embedding_function=None).add(ids=["a"], embeddings=[[1.0, 2.0]])
    heard: list[tuple[int, int]] = []
    assert repaired(directory, progress=lambda done, total: heard.append((done, total)))[1] == []
    assert heard == [(170, 170)]
    assert_whole(directory, whole)
    with client_over(directory) as client:
        assert sorted(one.name for one in client.list_collections()) == ["memories", "others"]


@pytest.mark.parametrize("how", ["repaired", "opened"])
def test_a_restoring_that_is_interrupted_goes_on(
    directory: Path, whole: Whole, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (directory / DATABASE).unlink()
    monkeypatch.setattr(collection_repair, "BATCH", 50)

    def fails(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        AdaptiveMemory.repair(directory, embedder=Embedding().named, progress=fails)
    assert len(vectors_of(directory)) == 50
    if how == "repaired":
        assert repaired(directory)[1] == []
    assert_whole(directory, whole)
    with client_over(directory) as client:
        assert [one.name for one in client.list_collections()] == ["memories"]


@pytest.mark.parametrize("name", [HEADER, VECTORS, LENGTHS, LINKS, NAMES, None])
def test_index_files_that_hold_zeros_or_nothing_are_made_anew_with_the_ledgers_vectors(
    directory: Path, whole: Whole, name: str | None
) -> None:
    folder = held_in(directory).folder
    if name is None:
        shutil.rmtree(folder)
    else:
        (folder / name).write_bytes(bytes((folder / name).stat().st_size))
    known = whole if name != LENGTHS else None
    report, embedded = repaired(directory, rebuild=True)
    assert embedded == []
    assert "were in the ledger" in report
    if known is not None:
        assert_whole(directory, known)


def test_a_vector_is_not_taken_from_the_ledger_where_another_program_changed_the_text(
    directory: Path, whole: Whole
) -> None:
    with client_over(directory) as client:
        collection_of(client).update(ids=["m5"], documents=["something else"], embeddings=[whole.vectors["m6"]])
    with AdaptiveMemory.open(directory, embedder=Embedding().named):
        pass
    shutil.rmtree(held_in(directory).folder)
    assert set(repaired(directory)[1]) <= {"something else"}


def test_a_torn_ledger_is_told_from_a_torn_collection(directory: Path) -> None:
    (directory / LEDGER).write_bytes((directory / LEDGER).read_bytes()[:5_000])
    with pytest.raises(DamagedLedgerError):
        AdaptiveMemory.repair(directory, embedder=Embedding().named)
    (directory / LEDGER).unlink()
    with AdaptiveMemory.open(directory, embedder=Embedding().named) as memory:
        assert memory.for_user("alice").get("m17").read.retrieval_count > 0


def test_without_a_copy_a_torn_database_is_named_as_before(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path / "memory", embedder=Embedding().named):
        pass
    (tmp_path / "memory" / DATABASE).write_bytes(b"hello")
    with pytest.raises(DamagedStoreError, match="recover"):
        AdaptiveMemory.repair(tmp_path / "memory", embedder=Embedding().named)
    with client_over(tmp_path / "new") as client:
        client.create_collection("others", embedding_function=None)
    with pytest.raises(NotFoundError, match="'memories'"):
        AdaptiveMemory.repair(tmp_path / "new", embedder=Embedding().named)
