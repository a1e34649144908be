"""What becomes of a memory whose PostgreSQL has no room left? It says so, keeps nothing by half, and works on later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Keeping, UserMemory
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.postgres import lost_connections, postgres_database
from tests.conftest import Clock, word_vectors
from tests.pgbouncer_server import until
from tests.postgres_nodes import Node, folder_for_servers
from tests.small_disk import full, small_disk
from tests.store.reader import EVERY_READ_COUNTS

pytestmark = pytest.mark.hard("full disk")
SAID = (  # which, depends on where the server fails: it refuses the write, ends, or ends amid a commit
    "has room", "cannot be reached", "can be reached", "may have been kept, or not",
)  # fmt: skip
LONG = " ".join(f"word{number}" for number in range(2_000))


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


@pytest.fixture(params=[pytest.param("tables", marks=pytest.mark.sample), "write-ahead log"])
def small(request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[Node, Path]]:
    """A server with what the parameter names on a small disk, and the disk."""
    tables = request.param == "tables"
    with small_disk(folder / "disk", 70 if tables else 10) as disk:
        node = Node(disk if tables else folder / "node")
        log = (folder / "elsewhere") if tables else disk
        node.own(log)
        node.make("--wal-segsize=1", f"--waldir={log / 'wal'}")
        node.start("min_wal_size=2MB", "max_wal_size=1GB")  # no checkpoint makes room
        yield node, disk
        node.kill()


def test_a_full_disk_is_said_and_nothing_is_half_kept(
    small: tuple[Node, Path], collection: Collection, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in (postgres_database, lost_connections):
        monkeypatch.setattr(one, "RETRIED_SECONDS", 0.5)
    monkeypatch.setattr(lost_connections, "LEASE_SECONDS", 3.0)  # one that cannot be given back lapses
    monkeypatch.setattr(lost_connections, "RENEWED_SECONDS", 1.0)
    node, disk = small
    with memory_over(node, collection, clock) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"id": "tea", "text": "green tea"}, {"id": "rain", "text": "rain on monday"}])
        before = alice.recall("tea", k=1)
        with full(disk):
            error = filled(alice)
            assert any(one in str(error) for one in SAID)
            assert any("was not counted" in " ".join(alice.recall("tea", k=1).trace) for _ in range(300))
        until(node.stands)
        alice.feedback(before, helpful=["tea"])
        alice.remember("after", id="after")
        alice.recall("tea", k=1)
        log = alice.recalls(limit=100)
        assert sorted(one.step for one in log) == list(range(1, len(log) + 1))
        assert alice.get("tea").read.retrieval_count == len(log)
        assert alice.get("tea").read.helpful == 1
        ids = {one.id for one in alice.records(limit=1_000, current=True)}
        assert {"tea", "rain", "after"} <= ids
        memory.flush()
        assert memory.check().ok


def memory_over(node: Node, collection: Collection, clock: Clock) -> AdaptiveMemory:
    given: dict[str, Any] = {"embedder": word_vectors, "clock": clock, "policy": EVERY_READ_COUNTS}
    return AdaptiveMemory(collection, ledger=node.address(), keeping=Keeping(wait_seconds=1.0), **given)
