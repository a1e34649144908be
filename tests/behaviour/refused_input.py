"""How is input refused? With an error that names what was given and says what to do, and with nothing written."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, AdaptiveMemoryError, UserMemory
from tests.conftest import contents, ledger_rows

SURROGATE = "half \ud800 a pair"


GUIDANCE = ("Give", "give", "must", "Use", "Judge", "Pass", "Decode", "A name has")


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    scope = memory.for_user("alice")
    scope.remember_many([{"text": "green tea", "id": "a"}, {"text": "red car", "id": "b"}])
    scope.recall("green tea", k=1)
    memory.flush()
    return scope


@pytest.fixture
def untouched(alice: UserMemory, memory: AdaptiveMemory, collection: Collection) -> Iterator[UserMemory]:
    """Alice's memory, which must be at the end what it was at the beginning."""
    before = ledger_rows(memory), contents(collection)
    yield alice
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
