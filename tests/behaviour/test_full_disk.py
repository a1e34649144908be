"""What becomes of a memory whose PostgreSQL has no room left? It says so, keeps nothing by half, and works on afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.store.postgres import outcome
from tests.conftest import Clock, word_vectors
from tests.postgres_nodes import Node, folder_for_servers
from tests.small_disk import full, small_disk
from tests.store.reader import EVERY_READ_COUNTS

pytestmark = pytest.mark.slow
LONG = " ".join(f"word{number}" for number in range(2_000))
WAL = ("wal_segment_size_is_1=on",)


@pytest.fixture
def folder() -> Iterator[Path]:
    with folder_for_servers() as made:
        yield made


def filled(alice: UserMemory) -> LedgerError:
    """The error that comes once nothing fits any more."""
    for number in range(400):
        try:
            alice.remember(f"{LONG} {number}", id=f"long{number}")
        except LedgerError as error:
            return error
    raise AssertionError("everything fitted")


def test_a_full_disk_is_said_and_nothing_is_half_kept(folder: Path, collection: Collection, clock: Clock) -> None:
    with small_disk(folder / "disk", 70) as disk:
        node = Node(disk)
        node.own(folder / "elsewhere")
        node.make("--wal-segsize=1", f"--waldir={folder / 'elsewhere' / 'wal'}")
        node.start()
        given: dict[str, Any] = {"embedder": word_vectors, "clock": clock, "policy": EVERY_READ_COUNTS}
        with AdaptiveMemory(collection, ledger=node.address(), **given) as memory:
            alice = memory.for_user("alice")
            alice.remember_many([{"id": "tea", "text": "green tea"}, {"id": "rain", "text": "rain on monday"}])
            with full(disk):
                began = time.monotonic()
                error = filled(alice)
                print(error, time.monotonic() - began)
                r = alice.recall("tea"); print(r.ids, r.step, r.trace)
            alice.remember("after", id="after")
            print(memory.check())
        node.kill()
