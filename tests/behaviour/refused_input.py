"""How is input refused? With an error that names what was given and says what to do, and with nothing written."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, AdaptiveMemoryError, UserMemory
from tests.conftest import Clock, contents, delete, in_ram, ledger_rows, word_vectors

SURROGATE = "half \ud800 a pair"
GUIDANCE = ("Give", "give", "must", "Use", "Judge", "Pass", "Decode", "A name has")


def filled(memory: AdaptiveMemory) -> UserMemory:
    scope = memory.for_user("alice")
    scope.remember_many([{"text": "green tea", "id": "a"}, {"text": "red car", "id": "b"}])
    scope.recall("green tea", k=1)
    memory.flush()
    return scope


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    return filled(memory)


@pytest.fixture(scope="module")
def hers() -> Iterator[tuple[UserMemory, Collection]]:
    """One memory of Alice's for all tests of a file that must leave it as it was."""
    collection = in_ram().create_collection(f"refused-{uuid.uuid4()}", configuration={"hnsw": {"space": "cosine"}})
    with AdaptiveMemory(collection, embedder=word_vectors, clock=Clock()) as memory:
        yield filled(memory), collection
    delete(in_ram(), collection)


@pytest.fixture
def untouched(hers: tuple[UserMemory, Collection]) -> Iterator[UserMemory]:
    """Alice's memory, which must be at the end what it was at the beginning."""
    with left_alone(*hers):
        yield hers[0]


@contextmanager
def left_alone(alice: UserMemory, collection: Collection) -> Iterator[None]:
    memory = alice.memory
    assert isinstance(memory, AdaptiveMemory)
    before = ledger_rows(memory), contents(collection)
    yield
    memory.flush()
    assert (ledger_rows(memory), contents(collection)) == before


def refused(call: Callable[[], object], error: type[AdaptiveMemoryError], *named: str) -> None:
    """The call fails with this error, which shows what was given and says what to do."""
    with pytest.raises(error) as refusal:
        call()
    message = str(refusal.value)
    assert all(one in message for one in named), message
    assert any(word in message for word in GUIDANCE), message
    assert len(message) < 2_000
