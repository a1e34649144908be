"""Is the mirror as the collection after a process that writes is killed, at whatever moment?"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests import forked

pytestmark = pytest.mark.hard("kill")
KILLS = 20
PROCESS = '''
import random, sys
import numpy as np
from adaptive_memory_core import AdaptiveMemory, Keeping, Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.chroma.chroma_calls import distances_to
from tests.conftest import word_vectors

directory, seed, writes = sys.argv[1], sys.argv[2], sys.argv[3] == "writes"
chance = random.Random(seed)
keeping = Keeping(lag_seconds=0.05, others_seen_seconds=0.05)
policy = Policy(refresh_floor_seconds=0.0)
memory = AdaptiveMemory.open(directory, embedder=word_vectors, keeping=keeping, policy=policy)
ports = memory.ports()
plain = ports.records.collection._collection
users = [memory.for_user("alice"), memory.for_user("bob")]

def check():
    """Rows, vectors and searches are those of Chroma's contents, by brute force."""
    memory.sync()
    found = plain.get(include=["documents", "metadatas", "embeddings"])
    mirror, ids = ports.ledger.mirror, found["ids"]
    assert mirror.stored_ids() == set(ids)
    rows = {one: (text, metadata) for one, text, metadata in mirror.rows(ids)}
    vectors = mirror.vectors(ids)
    for one, text, metadata, vector in zip(ids, found["documents"], found["metadatas"], found["embeddings"]):
        assert rows[one] == (text, metadata), one
        assert np.allclose(np.frombuffer(vectors[one], dtype="<f4"), vector, atol=1e-6), one
    assert ports.records._access.open.importer.ready
    cue = word_vectors(["tea and rain"])[0]
    for user in users:
        own = [v for m, v in zip(found["metadatas"], found["embeddings"]) if m["user_id"] == user.user]
        best = sorted((1.0 - distances_to(cue, own, space="cosine")).tolist(), reverse=True)[:5] if own else []
        near = [one.similarity for one in ports.search.nearest(Scope(user.user), cue, 5, None)]
        assert np.allclose(near, best, atol=1e-5), (near, best)

def text():
    return f"{' '.join(chance.sample(['tea', 'rain', 'milk', 'snow', 'wine'], 3))} {chance.randrange(10_000)}"

def act():
    user, known = chance.choice(users), plain.get(include=[], limit=200)["ids"]
    verb = chance.choice(["remember", "many", "rewrite", "forget", "recall", "add", "update", "delete", "supersede"])
    if verb == "remember" or not known:
        user.remember(text())
    elif verb == "many":
        user.remember_many([text() for _ in range(20)])
    elif verb == "rewrite":
        user.remember(text(), id=f"fixed {chance.randrange(5)}")
    elif verb == "forget":
        [user.forget(one) for one in user.recall("tea", k=1).ids]
    elif verb == "recall":
        user.recall(text(), k=5)
    elif verb == "add":
        said = text()
        plain.add(ids=[said], documents=[said], metadatas=[{"user_id": user.user}], embeddings=word_vectors([said]))
    elif verb == "update":
        said = text()
        plain.update(ids=[chance.choice(known)], documents=[said], embeddings=word_vectors([said]))
    elif verb == "delete":
        plain.delete(ids=[chance.choice(known)])
    elif verb == "supersede":
        user.remember(text(), supersedes=user.remember(text()))

check()
print("whole", flush=True)
if writes:
    sys.stdin.readline()  # until all lanes are whole: what is written, and compared by the next one, has a bound
while writes:
    act()
memory.close()
'''


def test_after_each_of_many_kills_the_mirror_is_as_the_collection(tmp_path: Path) -> None:
    chance = random.Random(1)
    lanes = [tmp_path / name for name in "abcd"]
    for kill in range(KILLS // len(lanes)):
        running = [forked.source(PROCESS, lane, 10 * kill + place, "writes") for place, lane in enumerate(lanes)]
        for one in running:
            assert one.stdout.readline() == "whole\n", one.stderr.read()
        for one in running:
            one.stdin.write("go\n")
            one.stdin.flush()
        time.sleep(chance.uniform(0.0, 0.5))  # the moment of the kill is what is tried
        for one in running:
            one.kill()
            one.communicate()
    for lane in lanes:
        last = forked.source(PROCESS, lane, 0, "looks")
        said, wrong = last.communicate(timeout=60)
        assert (said, last.returncode) == ("whole\n", 0), wrong
