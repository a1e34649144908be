"""Is what others write while one of our writes waits for its turn taken for theirs?"""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from adaptive_memory_core.store import locations
from adaptive_memory_core.store.chroma import chroma_calls
from tests.behaviour.conftest import eventually
from tests.conftest import Open, word_vectors


def waits_at_the_gate(thread: threading.Thread) -> bool:
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        if frame.f_code.co_filename == chroma_calls.__file__:
            return True
        frame = frame.f_back
    return False


@pytest.mark.usefixtures("others_unheard")
def test_what_others_write_before_our_turn_comes_is_not_taken_for_ours(open_memory: Open) -> None:
    memory = open_memory()
    ports: Any = memory.ports()
    opened, collection = ports.records._access.open, ports.records.collection
    alice = memory.for_user("alice")
    alice.remember("green tea", id="tea")
    memory.flush()
    memory.sync()
    ports.ledger.due_records.mark(["tea"], gone=False)  # as another process of ours does
    ours = threading.Thread(target=opened.exporter.settle)
    directory = locations.directory_of(collection)
    assert directory is not None
    with chroma_calls.only_writer(directory):
        ours.start()
        assert eventually(lambda: waits_at_the_gate(ours))
        theirs: Any = {"ids": ["wine"], "documents": ["red wine"], "metadatas": [{"user_id": "alice"}]}
        collection.add(**theirs, embeddings=word_vectors(["red wine"]))
    ours.join()
    assert opened.exporter.pending() == 0
    opened.importer.sync(everything=False)
    assert alice.recall("red wine", k=1, reinforce=False).ids == ("wine",)
