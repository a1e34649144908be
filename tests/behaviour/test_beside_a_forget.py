"""What does a recall do while another call forgets? A record whose words are gone already is not new: it is leaving."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.words import up_to_date
from tests.behaviour.conftest import noting
from tests.conftest import Open, background_done


class Held:
    """The removal from the collection, which waits until it is let go, or fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.goes_on, self.fails = threading.Event(), threading.Event(), False
        remove = ChromaRecords.remove

        def held(records: ChromaRecords, *given: Any) -> object:
            self.begun.set()
            assert self.goes_on.wait(60)
            if self.fails:
                raise StoreError("The disk is full.")
            return remove(records, *given)

        monkeypatch.setattr(ChromaRecords, "remove", held)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often this thread had all ids listed, or the latest."""
    seen = list[str]()
    for name in ("ids", "latest"):
        monkeypatch.setattr(ChromaRecords, name, noting(seen, name, getattr(ChromaRecords, name)))
    return seen


@pytest.fixture
def alice(open_memory: Open, monkeypatch: pytest.MonkeyPatch) -> UserMemory:
    monkeypatch.setattr(up_to_date, "COMPARED_SECONDS", 1_000.0)
    memory: AdaptiveMemory = open_memory()
    alice = memory.for_user("alice")
    alice.remember_many([{"text": "green tea", "id": "tea"}, {"text": "a zebra", "id": "zebra"}])
    memory.sync()
    alice.recall("tea")
    background_done(memory)
    return alice


def forgetting(user: UserMemory, held: Held) -> threading.Thread:
    def forget() -> None:
        try:
            user.forget("zebra")
        except StoreError:
            assert held.fails

    thread = threading.Thread(target=forget)
    thread.start()
    assert held.begun.wait(60)
    return thread


def test_it_does_not_compare_ids(alice: UserMemory, held: Held, asked: list[str]) -> None:
    thread = forgetting(alice, held)
    asked.clear()
    assert alice.recall("tea", k=1).ids == ("tea",)
    assert asked == []
    held.goes_on.set()
    thread.join(60)
    assert alice.recall("zebra").ids == ("tea",)


def test_what_stays_after_all_is_found_by_its_words_again(alice: UserMemory, held: Held) -> None:
    held.fails = True
    thread = forgetting(alice, held)
    alice.recall("tea")
    held.goes_on.set()
    thread.join(60)
    found = alice.recall("zebra", k=1)
    assert found.ids == ("zebra",)
    assert found[0].signals["words"] > 0


def test_what_another_program_adds_meanwhile_is_found(alice: UserMemory, held: Held) -> None:
    thread = forgetting(alice, held)
    alice.recall("tea")
    records: Any = alice.memory.ports().records
    records.collection.add(
        ids=["x", "y"],
        documents=["a giraffe", "a lion"],
        embeddings=[[0.1] * 32] * 2,
        metadatas=[{"user_id": "alice"}] * 2,
    )
    found = alice.recall("giraffe", k=1)
    held.goes_on.set()
    thread.join(60)
    assert found[0].signals["words"] > 0
