"""Does a deletion hold up recalls? What was deleted is removed from every byte of the file while nobody writes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping
from adaptive_memory_core.store.ledger import purge
from adaptive_memory_core.store.ledger.purge import Purge
from adaptive_memory_core.store.locations import LEDGER_NAME
from adaptive_memory_core.store.sqlite_connection import connect
from tests import forked
from tests.behaviour.conftest import eventually
from tests.conftest import Open, word_vectors

SOON = Keeping(lag_seconds=0.05)


def marks(memory: AdaptiveMemory) -> list[str]:
    ledger: Any = memory.ports().ledger
    with ledger.file.reading() as sql:
        return [row[0] for row in sql.execute("SELECT why FROM to_purge")]


def holds(directory: Path, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in directory.glob(f"{LEDGER_NAME}*") if file.is_file())


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When the write-back said that something may have to be removed."""
    seen, soon = list[float](), Purge.soon

    def noted(self: Purge) -> None:
        soon(self)
        seen.append(time.monotonic())

    monkeypatch.setattr(Purge, "soon", noted)
    return seen


def filled(open_memory: Open) -> tuple[AdaptiveMemory, Callable[[], object]]:
    """A memory out of which something was forgotten, and a recall that is counted and written back."""
    memory = open_memory(keeping=SOON)
    alice = memory.for_user("alice")
    alice.remember_many([{"text": "the password is a secret", "id": "secret-1"}, "green tea"])
    alice.recall("password")
    memory.flush()
    alice.forget("secret-1")
    numbers = count()

    def recall() -> None:
        note = f"note {next(numbers)}"
        alice.remember(note)
        alice.recall(note, k=1)

    return memory, recall


def test_the_file_is_written_anew_once_nobody_writes(
    open_memory: Open, looks: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge, "QUIET_SECONDS", 1_000.0)
    memory, recall = filled(open_memory)
    looks.clear()
    until = time.monotonic() + 60
    while len(looks) < 3 and time.monotonic() < until:
        recall()
        time.sleep(0.02)
    assert len(looks) >= 3
    assert "forgotten" in marks(memory)
    monkeypatch.setattr(purge, "QUIET_SECONDS", 0.1)
    recall()
    assert eventually(lambda: not marks(memory))
    assert eventually(lambda: not holds(tmp_path / "memory", "secret-1"))


def test_a_relative_path_is_that_of_the_directory_at_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else later connections and locks would be those of another directory."""
    own, later = tmp_path / "own", tmp_path / "later"
    own.mkdir()
    later.mkdir()
    monkeypatch.chdir(own)
    client = chromadb.PersistentClient(str(own / "theirs"))
    theirs = client.create_collection("notes", embedding_function=None)
    memories = (AdaptiveMemory.open("./ours"), AdaptiveMemory(theirs, embedder=word_vectors, ledger="./reads.sqlite3"))
    monkeypatch.chdir(later)
    for memory in memories:
        alice = memory.for_user("alice")
        alice.remember_many([{"text": "the password is a secret", "id": "secret-1"}, "green tea"])
        alice.recall("password")
        memory.flush()
        alice.forget("secret-1")
        memory.flush()
        memory.close()
    assert [*later.rglob("adaptive_memory*"), *later.glob("reads*")] == []
    assert not holds(own / "ours", "secret-1")
    assert b"secret-1" not in (own / "reads.sqlite3").read_bytes()


def test_it_does_not_wait_without_end(open_memory: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge, "QUIET_SECONDS", 1_000.0)
    monkeypatch.setattr(purge, "LOOKS", 10_000)
    monkeypatch.setattr(purge, "LATEST_SECONDS", 0.5)
    memory, recall = filled(open_memory)

    def gone() -> bool:
        recall()
        return not marks(memory) and not holds(tmp_path / "memory", "secret-1")

    assert eventually(gone)


def test_flush_does_it_at_once(open_memory: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge, "QUIET_SECONDS", 1_000.0)
    memory, recall = filled(open_memory)
    recall()
    memory.flush()
    assert marks(memory) == []
    assert not holds(tmp_path / "memory", "secret-1")


def test_flush_waits_for_one_who_reads(open_memory: Open, tmp_path: Path) -> None:
    """What was deleted stands in the log of writes for as long."""
    memory, recall = filled(open_memory)
    recall()
    path = tmp_path / "memory" / LEDGER_NAME
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchone()
        done = threading.Timer(0.3, reader.execute, ["COMMIT"])
        done.start()
        memory.flush()
        done.join()
    assert not holds(tmp_path / "memory", "secret-1")
    assert marks(memory) == []


def test_flush_waits_for_a_thread_that_does_it(
    open_memory: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, recall = filled(open_memory)
    recall()
    begun, go_on = threading.Event(), threading.Event()

    def held(path: str) -> sqlite3.Connection:
        begun.set()
        assert go_on.wait(60)
        return connect(path)

    monkeypatch.setattr(purge, "connect", held)
    ledger: Any = memory.ports().ledger
    other = threading.Thread(target=ledger.retention.purge.now)
    other.start()
    assert begun.wait(60)
    threading.Timer(0.3, go_on.set).start()
    memory.flush()
    assert not holds(tmp_path / "memory", "secret-1")
    other.join()


KILLED_AMID_IT = """
import os, sys
from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.store.ledger import purge
from tests.conftest import word_vectors

memory = AdaptiveMemory.open(path=sys.argv[1], embedder=word_vectors)
alice = memory.for_user("alice")
alice.remember("the password is a secret", id="secret-1")
alice.recall("password")
memory.flush()
alice.forget("secret-1")
purge.connect = lambda path: os._exit(9)
memory.flush()
"""


@pytest.mark.hard("kill")
def test_what_a_process_that_was_killed_had_begun_is_done_by_the_next(open_memory: Open, tmp_path: Path) -> None:
    directory = tmp_path / "memory"
    assert forked.source(KILLED_AMID_IT, directory).wait(60) == 9
    assert holds(directory, "secret-1")
    memory = open_memory()
    memory.for_user("alice").remember("green tea")
    memory.flush()
    assert not holds(directory, "secret-1")
    assert marks(memory) == []


def test_where_nothing_was_deleted_the_file_is_not_written_anew(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process that began would hold up all recalls once, for seconds where the file is large."""
    written, anew = list[str](), Purge._write_anew

    def noted(self: Purge) -> None:
        written.append(self.name)
        anew(self)

    monkeypatch.setattr(Purge, "_write_anew", noted)
    for text in ("green tea", "black tea"):
        memory = open_memory()
        alice = memory.for_user("alice")
        alice.remember(text)
        alice.recall("tea")
        memory.flush()
        memory.close()
    assert written == []


def test_what_another_process_left_is_seen_to(open_memory: Open, tmp_path: Path) -> None:
    memory, recall = filled(open_memory)
    memory.flush()
    ledger: Any = memory.ports().ledger
    with ledger.file.writing() as sql:
        purge.mark_for_purge(sql, "forgotten")
    recall()
    assert eventually(lambda: not marks(memory))
    assert not holds(tmp_path / "memory", "secret-1")
