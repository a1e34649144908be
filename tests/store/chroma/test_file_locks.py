"""Does anything that waits for one of our threads hold a lock on Chroma's file?

Chroma's `add` keeps the GIL while it waits for that file, so that such a thread would never go on.
"""

from __future__ import annotations

import selectors
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest

from adaptive_memory_core.store import locations
from adaptive_memory_core.store.chroma import chroma_database
from adaptive_memory_core.store.chroma.chroma_changes import reader_command, written_since

RECORDS = 1_000
PIPE_BYTES = 65_536


class Filled:
    """Chroma's directory with a collection, which nobody has open."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.ids = directory, [f"{n:04d}-{'x' * 100}" for n in range(RECORDS)]
        client = chromadb.PersistentClient(str(directory))
        collection = client.create_collection("memories", embedding_function=None)
        vectors = np.ones((RECORDS, 4), dtype=np.float32)
        collection.add(ids=self.ids, embeddings=vectors, metadatas=[{"n": n + 0.5} for n in range(RECORDS)])
        self.collection_id = str(collection.id)
        locations.close_client(client)

    def writer(self, patience_seconds: float) -> sqlite3.Connection:
        place = self.directory / chroma_database.DATABASE
        return sqlite3.connect(place, timeout=patience_seconds, isolation_level=None)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return Filled(tmp_path_factory.mktemp("chroma"))


def lock(writer: sqlite3.Connection) -> bool:
    """Whether nobody else has a lock on the file."""
    try:
        writer.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        return False
    writer.execute("ROLLBACK")
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="select() is for sockets there")
def test_a_reader_that_prints_more_than_a_pipe_holds_has_given_the_file_back(filled: Filled) -> None:
    """As many ids as a bulk load writes between two looks; whoever empties the pipe comes only after the writer."""
    command = reader_command(filled.directory, filled.collection_id, 0)
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,
        closing(filled.writer(patience_seconds=5.0)) as writer,
    ):
        assert process.stdout is not None
        with selectors.DefaultSelector() as waiting:  # select() refuses numbers of files from 1,024 on
            waiting.register(process.stdout, selectors.EVENT_READ)
            assert waiting.select(60.0)  # it has begun to print
        locked = lock(writer)
        printed, _ = process.communicate()
    assert locked
    assert len(printed) > PIPE_BYTES
    written = written_since(filled.directory, filled.collection_id, 0)
    assert written is not None
    assert set(written.ids) == set(filled.ids)


READINGS: dict[str, Callable[[Filled], Any]] = {
    "contents": lambda one: chroma_database.contents(one.directory, one.collection_id),
    "last_write": lambda one: chroma_database.last_write(one.directory, one.collection_id),
    "logged_vectors": lambda one: chroma_database.logged_vectors(one.directory, one.collection_id),
    "collection_id": lambda one: chroma_database.collection_id(one.directory, "memories"),
    "size_as_of": lambda one: chroma_database.size_as_of(one.directory, one.collection_id, 0, apart=""),
    "has_records": lambda one: chroma_database.has_records(one.directory, one.collection_id),
    "collection_ids": lambda one: chroma_database.collection_ids(one.directory),
    "faults": lambda one: chroma_database.database_faults(one.directory),
    "refuse_torn": lambda one: chroma_database.refuse_torn(one.directory),
}


@contextmanager
def after_each_call(act: Callable[[], object]) -> Iterator[None]:
    """Do this whenever the thread returns from a function of SQLite: it has the GIL again by then."""

    def profile(_frame: object, event: str, _called: object) -> None:
        if event == "c_return":
            act()

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("name", READINGS)
def test_what_is_read_in_this_process_leaves_no_lock_to_be_given_back_by_python(name: str, filled: Filled) -> None:
    with closing(filled.writer(patience_seconds=0.0)) as writer:
        locked: list[bool] = []
        with after_each_call(lambda: locked.append(lock(writer))):
            READINGS[name](filled)
    assert len(locked) > 2
    assert all(locked)


def test_what_is_read_is_what_chroma_wrote(filled: Filled) -> None:
    held = chroma_database.contents(filled.directory, filled.collection_id)
    assert held is not None
    assert list(held.ids) == filled.ids
    logged = chroma_database.logged_vectors(filled.directory, filled.collection_id)
    assert [one.stored_id for _, one in held.log] == list(logged)
    assert chroma_database.database_faults(filled.directory) == []
    last = chroma_database.last_write(filled.directory, filled.collection_id)
    assert last is not None
    assert chroma_database.size_as_of(filled.directory, filled.collection_id, last, apart="") == RECORDS
