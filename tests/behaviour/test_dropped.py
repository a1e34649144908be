"""Does a memory that nobody closes go away? Thread, files and lock, and what it learned is written back first."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from pathlib import Path

import pytest

from adaptive_memory_core import AdaptiveMemory
from tests.behaviour.conftest import eventually
from tests.conftest import Open, word_vectors

MEMORIES = 50


def background_threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "adaptive-memory-background"]


def wait_for(threads: list[threading.Thread]) -> None:
    for one in threads:
        one.join(timeout=60)
    assert not [one.name for one in threads if one.is_alive()]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def used_and_dropped(path: Path) -> None:
    memory = AdaptiveMemory.open(path, embedder=word_vectors)
    alice = memory.for_user("alice")
    alice.remember("green tea", id="tea")
    assert alice.recall("tea").ids == ("tea",)


@pytest.mark.hard("large")
def test_fifty_dropped_memories_leave_no_thread_and_no_descriptor(tmp_path: Path) -> None:
    used_and_dropped(tmp_path)  # what the first one of a process loads
    wait_for(background_threads())
    before = descriptors()
    for _ in range(MEMORIES):
        used_and_dropped(tmp_path)
    wait_for(background_threads())
    assert eventually(lambda: descriptors() <= before)  # Chroma closes its own a moment later


def test_a_dropped_memory_writes_back_what_is_due_and_frees_its_directory(tmp_path: Path) -> None:
    used_and_dropped(tmp_path)
    wait_for(background_threads())
    with AdaptiveMemory.open(tmp_path, embedder=word_vectors) as memory:
        stats = memory.for_user("alice").stats()
        assert (stats.reads, stats.projection.pending) == (1, 0)


def test_nothing_but_its_user_holds_a_memory(tmp_path: Path) -> None:
    """Neither a thread, nor the end of the interpreter, nor a cycle that only the collector could undo."""
    gc.disable()
    try:
        memory = AdaptiveMemory.open(tmp_path, embedder=word_vectors)
        alice = memory.for_user("alice")
        alice.remember("green tea")
        alice.recall("tea")
        seen, threads = weakref.ref(memory), background_threads()
        del memory, alice
        assert seen() is None
    finally:
        gc.enable()
    wait_for(threads)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_memory_dropped_by_a_child_is_still_the_parents(open_memory: Open) -> None:
    memory = open_memory()
    memory.for_user("alice").remember("green tea", id="tea")
    child = os.fork()
    if child == 0:
        del memory
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert memory.for_user("alice").recall("tea").ids == ("tea",)
