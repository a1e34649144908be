"""Do all who read a collection find one memory, and does it go with the last of them?"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import Embedder, Keeping, Policy
from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.shared_memories import Share, find_memory, share
from tests.behaviour.conftest import eventually
from tests.conftest import word_vectors


def embedder(name: str = "words") -> Embedder:
    """A new object each time, as a request handler makes it."""
    return Embedder(name, word_vectors, lambda text: word_vectors([text])[0])


def test_a_collection_and_a_name_of_an_embedder_are_one_memory(collection: Collection) -> None:
    one, same = share(collection, embedder=embedder()), share(collection, embedder=embedder())
    assert same.memory is one.memory
    again = share(collection, embedder=embedder(), policy=None, keeping=None)
    assert again.memory is one.memory


@pytest.mark.parametrize(
    "options", [{"policy": Policy(recall_k=7)}, {"keeping": Keeping(log=False)}, {"shared": ["a"]}]
)
def test_other_options_are_another_memory_and_the_same_said_again_are_not(
    collection: Collection, options: dict[str, Any]
) -> None:
    usual, other = share(collection, embedder=embedder()), share(collection, embedder=embedder(), **options)
    assert other.memory is not usual.memory
    assert share(collection, embedder=embedder(), **options).memory is other.memory


def test_other_embedders_and_other_collections_are_other_memories(
    collection: Collection, new_collection: Callable[..., Collection]
) -> None:
    one = share(collection, embedder=embedder())
    assert share(new_collection(), embedder=embedder()).memory is not one.memory
    assert share(collection, embedder=embedder("others")).memory is not one.memory
    assert share(collection, embedder=embedder(), found_as="another").memory is not one.memory


def test_functions_without_a_name_are_told_apart(collection: Collection) -> None:
    given = [lambda texts: word_vectors(texts), lambda texts: -word_vectors(texts)]  # noqa: PLW0108 - two of one name
    first, second = (share(collection, embedder=one) for one in given)
    assert first.memory is not second.memory
    assert share(collection, embedder=given[0]).memory is first.memory


def test_whoever_needs_no_embedder_finds_any(collection: Collection) -> None:
    assert find_memory(collection) is None
    one = share(collection, embedder=embedder())
    found = find_memory(collection)
    assert found is not None
    assert found.memory is one.memory
    assert find_memory(collection, keeping=Keeping(log=False)) is None


def test_the_last_one_closes_and_the_others_write_back(collection: Collection) -> None:
    one, other = share(collection, embedder=embedder()), share(collection, embedder=embedder())
    memory = one.memory
    memory.for_user("ana").remember("green tea")
    memory.for_user("ana").recall("tea")
    one.close()
    one.close()
    assert memory.for_user("ana").stats().projection.pending == 0
    other.close()
    with pytest.raises(ClosedError):
        memory.for_user("ana").recall("tea")
    assert share(collection, embedder=embedder()).memory is not memory


async def test_async(collection: Collection) -> None:
    one = share(collection, embedder=embedder())
    await one.aclose()
    assert one.memory.closed


def test_one_that_somebody_closed_is_not_found_again(collection: Collection) -> None:
    one = share(collection, embedder=embedder())
    one.memory.close()
    assert find_memory(collection) is None
    assert not share(collection, embedder=embedder()).memory.closed


def test_a_dropped_share_is_none(tmp_path: Path) -> None:
    collection = chromadb.PersistentClient(str(tmp_path)).create_collection("notes", embedding_function=None)
    before = set(threading.enumerate())
    one, kept = share(collection, embedder=embedder()), share(collection, embedder=embedder())
    memory = one.memory
    del kept
    one.close()
    assert memory.closed
    del one, memory
    for _ in range(100):
        share(collection, embedder=embedder())

    def all_are_gone() -> bool:
        gc.collect()  # nothing, while another thread collects
        return set(threading.enumerate()) <= before

    assert eventually(all_are_gone)
    assert find_memory(collection) is None


def test_a_memory_of_ones_own_can_be_shared_too(memory: Any) -> None:
    one, other = Share(memory), Share(memory)
    one.close()
    assert not memory.closed
    other.close()
    assert memory.closed
