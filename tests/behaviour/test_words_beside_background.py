"""Does a recall find what others have just written while the background is at other work on the word index?"""

from __future__ import annotations

import threading
from contextlib import closing

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.store.words import up_to_date
from tests.behaviour.test_looking import ONLY_WORDS, WORDS, write
from tests.conftest import word_vectors

PATIENCE_SECONDS = 30.0


@pytest.fixture
def reading_again(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """One that is set once the background reads texts again, and one that ends that."""
    begun, over = threading.Event(), threading.Event()

    def reread(*_: object) -> None:
        begun.set()
        over.wait(PATIENCE_SECONDS)

    monkeypatch.setattr(up_to_date, "reread", reread)
    monkeypatch.setattr(up_to_date, "AGAIN_SECONDS", 0.0)
    return begun, over


def test_what_others_wrote_is_found_while_texts_are_read_again(
    collection: Collection, reading_again: tuple[threading.Event, threading.Event]
) -> None:
    begun, over = reading_again
    with closing(AdaptiveMemory(collection, embedder=word_vectors, policy=WORDS)) as memory:
        alice = memory.for_user("alice")
        alice.remember("green tea", id="tea")
        alice.recall("tea")
        assert begun.wait(PATIENCE_SECONDS)
        write(collection, "animal", "a zebra crossed")
        answer = alice.recall("zebra", reinforce=False, policy=ONLY_WORDS)
        over.set()
        assert (answer.ids, answer.trace) == (("animal",), ())
