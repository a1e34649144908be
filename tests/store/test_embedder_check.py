"""Are vectors of two embedders kept apart? By name, by dimension, over restarts and copies."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Embedder, as_embedder
from adaptive_memory_core.errors import EmbedderError, EmbedderMismatchError
from tests.conftest import Open

TEA: Any = [3.0, 1.0]


def two_numbers(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def other_two_numbers(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


def three_numbers(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0, 0.0] for text in texts]


def one_after_another(*embedders: Any) -> Any:
    """An embedder that answers like each of them in turn, and from then on like the last."""
    left = list(embedders)

    def embed(texts: Sequence[str]) -> Any:
        embedder = left.pop(0) if len(left) > 1 else left[0]
        return embedder(texts)

    return embed


def test_another_embedder_is_refused_by_name_after_a_restart(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=two_numbers) as memory:
        memory.for_user("alice").remember("tea")
    with pytest.raises(EmbedderMismatchError, match=r"two_numbers.*other_two_numbers"):
        AdaptiveMemory.open(tmp_path, embedder=other_two_numbers)
    with AdaptiveMemory.open(tmp_path, embedder=two_numbers) as memory:
        assert memory.for_user("alice").recall("tea").ids
    same = as_embedder(other_two_numbers, name="two_numbers")
    with AdaptiveMemory.open(tmp_path, embedder=same) as memory:  # the caller vouches for it
        assert memory.for_user("alice").recall("tea").ids


def test_a_copy_without_the_ledger_knows_its_embedder(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path / "here", embedder=two_numbers) as memory:
        memory.for_user("alice").remember("tea")
    shutil.copytree(tmp_path / "here", tmp_path / "there", ignore=shutil.ignore_patterns("adaptive_memory*"))
    with pytest.raises(EmbedderMismatchError, match="two_numbers"):
        AdaptiveMemory.open(tmp_path / "there", embedder=other_two_numbers)


def test_a_collection_of_somebody_else_is_compared_by_dimension() -> None:
    client = chromadb.EphemeralClient()
    collection: Any = client.create_collection("foreign-vectors", embedding_function=None)
    collection.add(ids=["a"], documents=["tea"], embeddings=[[1.0, 2.0]])
    with AdaptiveMemory(collection, embedder=three_numbers) as memory:
        everyone = memory.for_everyone()
        for refused in (lambda: everyone.recall("tea"), lambda: everyone.remember("coffee")):
            with pytest.raises(EmbedderMismatchError, match=r"2 dimensions.*3 dimensions") as told:
                refused()
            assert "None" not in str(told.value), "no name is recorded that could be given"
        assert collection.count() == 1
    assert collection.metadata is None  # somebody else's collection gets no notes of ours
    client.delete_collection("foreign-vectors")


def test_an_embedder_that_changes_its_dimension_is_refused_before_anything_is_written() -> None:
    client = chromadb.EphemeralClient()
    collection: Any = client.create_collection("fickle", embedding_function=None)
    lengths = iter([2, 3])
    with AdaptiveMemory(collection, embedder=lambda texts: [[1.0] * next(lengths)] * len(texts)) as memory:
        memory.for_user("alice").remember("tea")
        with pytest.raises(EmbedderError):
            memory.for_user("alice").remember("coffee")
        assert collection.count() == 1
    client.delete_collection("fickle")


@pytest.mark.parametrize(("first", "filled"), [("recall", True), ("recall", False), ("remember", True)])
def test_a_first_vector_of_another_length_is_not_held_against_the_right_ones(
    over: Open, collection: Collection, first: str, filled: bool
) -> None:
    if filled:
        collection.add(ids=["a"], documents=["tea"], embeddings=[TEA])
    everyone = over(embedder=one_after_another(three_numbers, two_numbers)).for_everyone()
    if filled:
        with pytest.raises(EmbedderMismatchError, match="3 dimensions"):
            getattr(everyone, first)("tea")
    else:
        assert not everyone.recall("tea")
    everyone.remember("the kettle is on")
    assert len(everyone.recall("tea")) == 1 + filled


async def test_an_async_first_vector_of_another_length_is_not_held_against_the_right_ones(
    over: Open, collection: Collection
) -> None:
    answers = iter([[1.0, 2.0, 3.0]])

    async def query(text: str) -> list[float]:
        return next(answers, [3.0, 1.0])

    collection.add(ids=["a"], documents=["tea"], embeddings=[TEA])
    embedder = Embedder("theirs", two_numbers, lambda text: [3.0, 1.0], aquery=query)
    memory = over(embedder=embedder)
    with pytest.raises(EmbedderMismatchError, match="3 dimensions"):
        await memory.for_everyone().arecall("tea")
    assert len(await memory.for_everyone().arecall("tea")) == 1


def test_a_later_vector_of_another_length_is_refused_and_forgotten(over: Open, collection: Collection) -> None:
    collection.add(ids=["a"], documents=["tea"], embeddings=[TEA])
    fickle = one_after_another(two_numbers, three_numbers, two_numbers)
    everyone = over(embedder=fickle).for_everyone()
    assert everyone.recall("tea").ids == ("a",)
    with pytest.raises(EmbedderError, match="dimension 3, not 2 as before"):
        everyone.remember("coffee")
    assert everyone.recall("tea").ids == ("a",)


def test_a_collection_without_an_embedder_of_its_own_asks_for_one() -> None:
    client = chromadb.EphemeralClient()
    collection: Any = client.create_collection("bare", embedding_function=None)
    with pytest.raises(EmbedderError, match="embedder="):
        AdaptiveMemory(collection)
    client.delete_collection("bare")
