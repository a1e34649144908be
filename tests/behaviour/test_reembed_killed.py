"""Does a process that is killed while it embeds anew leave the old vectors or the new ones, and nothing in between?"""

from __future__ import annotations

import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, as_embedder
from adaptive_memory_core.errors import EmbedderMismatchError
from tests import forked
from tests.conftest import word_vectors

pytestmark = pytest.mark.hard("kill")
RECORDS = 130  # more than a batch
POLICY = Policy(refresh_floor_seconds=0.0)
PROCESS = """
import os, signal, sys
from adaptive_memory_core import AdaptiveMemory, as_embedder
from adaptive_memory_core.store.ledger.new_vectors import LedgerNewVectors
from adaptive_memory_core.store import reembedding
from tests.conftest import word_vectors

directory, moment = sys.argv[1:]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def around(place, name, before, after):
    real, calls = getattr(place, name), [0]
    def call(*args, **named):
        calls[0] += 1
        if moment == before.format(calls[0]):
            die()
        found = real(*args, **named)
        if moment == after.format(calls[0]):
            die()
        return found
    setattr(place, name, call)

around(LedgerNewVectors, "keep", "before vectors {}", "after vectors {}")
around(reembedding, "overwrite", "before place {}", "after place {}")
around(LedgerNewVectors, "swap", "before the swap", "after the swap")  # within its transaction
around(reembedding, "write_chroma", "before step {}", "after step {}")  # delete, rename
with AdaptiveMemory.open(directory, embedder=word_vectors) as memory:
    print("begun", flush=True)
    memory.reembed(as_embedder(lambda texts: -word_vectors(texts), name="negative"))
    print("done", flush=True)
"""
OLD, NEW = word_vectors, as_embedder(lambda texts: -word_vectors(texts), name="negative")
STILL_OLD = ["after vectors 1", "before place 1", "after place 1", "after the swap"]
NEW_BY_NOW = ["before step 1", "after step 1", "after step 2"]


def told(one: int) -> str:
    return f"note {one} about topic{one}"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("reembed") / "memory"
    with AdaptiveMemory.open(directory, embedder=OLD, policy=POLICY) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"id": f"m{one}", "text": told(one)} for one in range(RECORDS)])
        alice.feedback(alice.recall("topic7", k=1), helpful=["m7"])
        alice.pin("m5")
    return directory


@pytest.fixture
def directory(filled: Path, tmp_path: Path) -> Path:
    shutil.copytree(filled, tmp_path / "memory")
    return tmp_path / "memory"


def process(directory: Path, moment: str) -> forked.Forked:
    return forked.source(PROCESS, directory, moment)


def killed(directory: Path, moment: str) -> None:
    running = process(directory, moment)
    said, _ = running.communicate(timeout=120)
    assert running.returncode == -signal.SIGKILL, f"it did not come to {moment!r}: {said}"


def assert_whole(memory: AdaptiveMemory, sign: int, **more: str) -> None:
    """All of it is there with vectors of one embedder, in the mirror as in Chroma."""
    alice = memory.for_user("alice")
    for one in (0, 99, RECORDS - 1):
        assert alice.recall(told(one), k=1, reinforce=False).ids == (f"m{one}",)
    assert (alice.get("m7").read.retrieval_count, alice.get("m7").read.helpful) == (1, 1)
    assert alice.get("m5").read.pinned
    assert memory.check(repair=True).ok  # which lets what was written over begin anew
    ports: Any = memory.ports()
    collection = ports.records.collection
    found = collection.get(include=["documents", "embeddings"])
    texts = dict(zip(found["ids"], found["documents"], strict=True))
    assert texts == {f"m{one}": told(one) for one in range(RECORDS)} | more
    memory.sync()
    mirrored = ports.ledger.mirror.vectors(found["ids"])
    for one, text, vector in zip(found["ids"], found["documents"], found["embeddings"], strict=True):
        wanted = sign * word_vectors([text])[0]
        np.testing.assert_allclose(vector, wanted, atol=1e-5)
        np.testing.assert_allclose(np.frombuffer(mirrored[one], dtype="<f4"), wanted, atol=1e-5)


def assert_alone(directory: Path) -> None:
    client: Any = chromadb.PersistentClient(str(directory))
    assert [one.name for one in client.list_collections()] == ["memories"]
    client.close()


@pytest.mark.parametrize("moment", STILL_OLD)
def test_killed_before_the_swap_the_old_vectors_are_there_and_the_next_call_goes_on(
    directory: Path, moment: str
) -> None:
    killed(directory, moment)
    with AdaptiveMemory.open(directory, embedder=OLD, policy=POLICY) as memory:
        assert_whole(memory, 1)
        done: list[int] = []
        memory.reembed(NEW, progress=lambda so_far, _: done.append(so_far))
        assert done in ([RECORDS], []), "the first batch was kept"
        assert_whole(memory, -1)
    assert_alone(directory)


@pytest.mark.parametrize("moment", NEW_BY_NOW)
def test_killed_after_the_swap_the_new_vectors_are_there(directory: Path, moment: str) -> None:
    killed(directory, moment)
    with pytest.raises(EmbedderMismatchError, match="negative"):
        AdaptiveMemory.open(directory, embedder=OLD)
    with AdaptiveMemory.open(directory, embedder=NEW, policy=POLICY) as memory:
        assert_whole(memory, -1)
    assert_alone(directory)


def test_what_others_write_into_the_old_collection_after_the_kill_is_in_the_new_one(directory: Path) -> None:
    killed(directory, "before step 1")
    client: Any = chromadb.PersistentClient(str(directory))
    collection: Any = client.get_collection("memories", embedding_function=None)
    collection.add(
        ids=["theirs"], documents=["red wine"], metadatas=[{"user_id": "alice"}], embeddings=OLD(["red wine"])
    )
    collection.update(ids=["m3"], documents=["told otherwise"], embeddings=OLD(["told otherwise"]))
    with AdaptiveMemory(collection, embedder=NEW, policy=POLICY) as memory:
        assert_whole(memory, -1, theirs="red wine", m3="told otherwise")
        assert memory.for_user("alice").recall("red wine", k=1).ids == ("theirs",)
    client.close()
    assert_alone(directory)


def test_an_empty_collection_that_somebody_made_in_its_place_gives_way(directory: Path) -> None:
    killed(directory, "after step 1")
    client: Any = chromadb.PersistentClient(str(directory))
    collection = client.get_or_create_collection("memories", embedding_function=None)
    with AdaptiveMemory(collection, embedder=NEW, policy=POLICY) as memory:
        assert_whole(memory, -1)
    client.close()
    assert_alone(directory)


def test_killed_at_random_it_ends_whole(directory: Path) -> None:
    chance = random.Random(5)
    ended = False
    for _ in range(4):
        running = process(directory, "never")
        ended = running.stdout.readline() != "begun\n"  # it was refused, for the old embedder is the other's by now
        time.sleep(chance.uniform(0.0, 0.6))  # the moment of the kill is what is tried
        running.kill()
        running.wait()
        running.stdout.close()
        if ended:
            break
    try:
        memory = AdaptiveMemory.open(directory, embedder=OLD, policy=POLICY)
    except EmbedderMismatchError:
        ended = True
        memory = AdaptiveMemory.open(directory, embedder=NEW, policy=POLICY)
    with memory:
        assert_whole(memory, -1 if ended else 1)
        memory.reembed(NEW)
        assert_whole(memory, -1)
    assert_alone(directory)
