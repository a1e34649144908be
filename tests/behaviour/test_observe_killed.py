"""Does the hierarchy fit together after a process that observes is killed, at whatever moment, and with two at once?"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests import forked
from tests.behaviour.other_process import OtherProcess

pytestmark = pytest.mark.hard("kill")
KILLS = 3
PROCESS = '''
import sys
from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.hierarchy import grow
from tests.behaviour.test_observe_killed import conversations
from tests.conftest import word_vectors

directory, name, manner = sys.argv[1:4]
policy = Policy().replace(advanced={"hierarchy": {"theme_semantics": 4}})
grow.PATIENCE = 5
memory = AdaptiveMemory.open(directory, embedder=word_vectors, policy=policy)
alice, rows = memory.for_user("alice"), memory.ports().ledger.hierarchy

def check():
    """Every message that is stored is in one episode, every semantic in one theme, and nothing is left over."""
    assert rows.faults() == [], rows.faults()
    memory.sync()
    alice.themes()
    assert rows.faults() == [], rows.faults()
    stored = {one for page in memory.ports().records.pages(alice.scope) for one, *_ in page}
    view = memory.ports().hierarchy.view(alice.scope)
    if view is None:
        assert stored == set()
        return
    assert set(view.episode_of) == stored
    assert sorted(message for one in view.episodes.values() for message in one.messages) == sorted(stored)
    assert sorted(key for one in view.themes.values() for key in one.semantics) == sorted(view.semantics)
    assert max([len(one.semantics) for one in view.themes.values()], default=0) <= 4

if manner != "beside":  # what another one has begun is not through
    check()
print("whole", flush=True)
for number, messages in enumerate([] if manner == "looks" else conversations(name)):
    ids = alice.observe(messages)
    alice.themes()
    if number % 3 == 2:
        alice.forget(ids[1])
print("done", flush=True)
memory.close()
'''
WORDS = [
    "tea",
    "rain",
    "milk",
    "snow",
    "wine",
    "boat",
    "bike",
    "train",
    "garden",
    "puppy",
    "server",
    "music",
    "painting",
    "river",
    "bread",
    "winter",
]


def conversations(name: str) -> list[list[dict[str, object]]]:
    """Twelve, of ten messages each, on a few things; the same for a name."""
    chance, made = random.Random(name), []
    for number in range(12):
        about = chance.sample(WORDS, 4)
        texts = [f"I saw the {' '.join(chance.sample(about, 3))} {chance.randrange(1000)}." for _ in range(10)]
        start = 1.7e9 + 1e5 * number
        made.append(
            [
                {"speaker": "Ana", "text": text, "at": start + 60.0 * place, "session": f"{name}-{number}"}
                for place, text in enumerate(texts)
            ]
        )
    return made


def started(directory: Path, name: str, manner: str) -> forked.Forked:
    return forked.source(PROCESS, directory, name, manner)


def test_a_process_that_is_killed_leaves_a_hierarchy_that_fits_together(tmp_path: Path) -> None:
    chance = random.Random(3)
    for number in range(KILLS):
        process = started(tmp_path, f"of {number}", "writes")
        assert process.stdout.readline() == "whole\n"  # after the kill before
        time.sleep(chance.uniform(0.05, 0.8))  # any moment will do
        process.kill()
        process.communicate()
    last = started(tmp_path, "last", "looks")
    said, error = last.communicate(timeout=100)
    assert said.split() == ["whole", "done"], error


def test_two_processes_that_observe_one_user_do_not_harm_each_other(tmp_path: Path) -> None:
    both = [started(tmp_path, name, "beside") for name in ("one", "other")]
    for process in both:
        said, error = process.communicate(timeout=200)
        assert said.split() == ["whole", "done"], error
    last = started(tmp_path, "last", "looks")
    said, error = last.communicate(timeout=100)
    assert said.split() == ["whole", "done"], error


def test_a_guest_observes_and_the_holder_sees_it(tmp_path: Path) -> None:
    with OtherProcess(tmp_path) as holder, OtherProcess(tmp_path) as guest:
        assert (holder.holds, guest.holds) == (True, False)
        message = "{'speaker': 'Ana', 'text': 'I adopted a puppy named Rex.', 'at': 1.7e9, 'session': 's'}"
        assert guest.do(f"len(alice.observe([{message}]))") == 1
        assert "Rex" in guest.do("str(alice.themes())")
        assert "Rex" in holder.do("str(alice.themes())")
        assert holder.do(f"tuple(alice.observe([{message}])) == alice.recall('puppy', k=3).ids") is True
        assert holder.do("alice.stats().records") == 1
        holder.do("alice.forget(alice.recall('puppy', k=1).ids[0]).collection")
        assert guest.do("str(alice.themes())") == ""
