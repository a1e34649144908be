"""Does the word index know what is new, and when a look at what came last is not enough?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.words.index import WordIndex
from adaptive_memory_core.store.words.taken_in import take_in_all, take_in_latest
from tests.conftest import Vectors


@pytest.fixture
def parts(collection: Collection, embed: Callable[..., Vectors]) -> Iterator[tuple[WordIndex, Any]]:
    """An index that knows of "one", "two" and "three", and the records."""
    with closing(AdaptiveMemory(collection, embedder=embed, policy=Policy(channels=("dense",)))) as memory:
        ports = memory.ports()
        add(collection, "one", "two", "three")
        index = WordIndex(ports.ledger.words, Fields(), ports.ledger.afterwards)
        for _ in take_in_all(index, ports.records):
            pass
        yield index, ports.records


def add(collection: Collection, *names: str) -> None:
    collection.add(
        ids=[*names],
        embeddings=np.ones((len(names), 32), dtype=np.float32),
        metadatas=[{"user_id": "alice"}] * len(names),
    )


def test_what_was_added_is_taken_in(parts: tuple[WordIndex, Any], collection: Collection) -> None:
    index, store = parts
    add(collection, "four", "five")
    assert take_in_latest(index, store)
    assert index.known() == {"one", "two", "three", "four", "five"}


@pytest.mark.parametrize("removed", [["one"], ["three"], ["one", "two", "three"]])
@pytest.mark.parametrize("added", [[], ["four"], ["four", "five", "six"]])
def test_where_something_was_removed_all_ids_are_compared(
    removed: list[str], added: list[str], parts: tuple[WordIndex, Any], collection: Collection
) -> None:
    index, store = parts
    collection.delete(ids=removed)
    if added:
        add(collection, *added)
    assert not take_in_latest(index, store)
    assert index.known() == {"one", "two", "three"}


def test_who_writes_down_waits_for_whoever_does_already(
    parts: tuple[WordIndex, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what is newer is overruled by what was taken before it."""
    index, _ = parts
    began, go_on, put = threading.Event(), threading.Event(), index._rows.put

    def held(*asked: Any, **options: Any) -> None:
        monkeypatch.setattr(index._rows, "put", put)
        began.set()
        go_on.wait(10)
        put(*asked, **options)

    monkeypatch.setattr(index._rows, "put", held)
    threads = [threading.Thread(target=index.keep, args=(10,)) for _ in range(2)]
    threads[0].start()
    assert began.wait(10)
    index.take_in([("one", "a zebra crossed", {"user_id": "alice"})])
    threads[1].start()
    threads[1].join(0.3)
    go_on.set()
    for thread in threads:
        thread.join()
    assert index.unwritten == 0
    newest = Found("one", "a zebra crossed", {"user_id": "alice"}, 0.5)
    assert index.changed(Scope("alice"), [newest]) == []
