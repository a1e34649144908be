"""Is a memory refused that cannot work? Wrong paths, names, ledgers, and embedders that break their promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chromadb import Collection

from adaptive_memory_core import (
    AdaptiveMemory,
    InvalidInputError,
    UserMemory,
)
from adaptive_memory_core.errors import EmbedderError, PartialWriteError, StoreError
from tests.behaviour.refused_input import alice, refused, untouched

if TYPE_CHECKING:
    from tests.conftest import Open, Vectors


__all__ = ["alice", "untouched"]  # fixtures


@pytest.mark.parametrize(
    "vectors",
    [
        lambda texts: [[math.nan] * 32] * len(texts),
        lambda texts: [[1.0] * 32],
        lambda texts: [[1.0] * 31] * len(texts),
        lambda texts: "no vectors",
        lambda texts: None,
        lambda texts: 1 / 0,
    ],
    ids=["nan", "too few", "too short", "text", "none", "raises"],
)
def test_an_embedder_that_breaks_its_promise_writes_nothing(
    untouched: UserMemory, collection: Collection, embed: Callable[..., Vectors], vectors: Callable[[list[str]], Any]
) -> None:
    def word_vectors(texts: list[str]) -> Any:
        return vectors(texts) if texts[0].startswith("bad") else embed(texts)

    word_vectors.__qualname__ = embed.__qualname__
    with AdaptiveMemory(collection, embedder=word_vectors, ledger=":memory:", clock=lambda: 1.76e9) as other:
        scope = other.for_user("alice")
        with pytest.raises(EmbedderError):
            scope.remember_many(["bad tea", "bad cake"])
        assert scope.stats().records == 2


@pytest.mark.sample
@pytest.mark.hard("large")
def test_a_batch_that_fails_late_says_what_is_stored(collection: Collection, embed: Callable[..., Vectors]) -> None:
    def moody(texts: list[str]) -> Vectors:
        if any("bad" in text for text in texts):
            raise ValueError("does not like it")
        return embed(texts)

    with AdaptiveMemory(collection, embedder=moody) as memory:
        alice = memory.for_user("alice")
        texts = [f"tea {n}" for n in range(5_400)] + ["bad tea"]
        with pytest.raises(PartialWriteError, match=r"4,000 of 5,401 records are stored") as partial:
            alice.remember_many(texts)
        written = partial.value.written_ids
        assert alice.stats().records == len(written) == 4_000
        assert alice.get(written[-1]).text == "tea 3999"


@pytest.mark.parametrize("path", ["", "  ", None, 5, b"here"], ids=repr)
def test_a_path_that_is_none_is_refused(path: Any, embed: Callable[..., Vectors]) -> None:
    refused(lambda: AdaptiveMemory.open(path, embedder=embed), InvalidInputError, "path")


def test_a_path_that_is_a_file_is_refused(tmp_path: Path, embed: Callable[..., Vectors]) -> None:
    (tmp_path / "file").write_text("not a directory")
    refused(lambda: AdaptiveMemory.open(tmp_path / "file", embedder=embed), StoreError, "file")
    assert (tmp_path / "file").read_text() == "not a directory"


@pytest.mark.parametrize("name", ["", "x", "no spaces please", "-start", "x" * 600])
def test_a_collection_name_that_chroma_refuses_is_refused(open_memory: Open, name: str) -> None:
    refused(lambda: open_memory(collection=name), StoreError, "name", "characters")


@pytest.mark.parametrize("ledger", ["", 5, b"x", True], ids=repr)
def test_a_ledger_that_is_none_is_refused(open_memory: Open, ledger: Any) -> None:
    refused(lambda: open_memory(ledger=ledger), InvalidInputError, "ledger")


@pytest.mark.parametrize("embedder", ["all-MiniLM", 5, [1.0], dict], ids=str)
def test_an_embedder_that_is_none_is_refused(collection: Collection, embedder: Any) -> None:
    with pytest.raises(InvalidInputError, match="embedder="):
        AdaptiveMemory(collection, embedder=embedder)
