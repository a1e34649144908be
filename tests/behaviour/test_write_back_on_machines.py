"""On several machines: does one write back at a time, a late write do no harm, and each see what the others write?"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.postgres import lost_connections
from tests.chroma_server import ChromaServer
from tests.postgres_server import new_database
from tests.store.reader import EVERY_READ_COUNTS, embed, server_collection

pytestmark = pytest.mark.hard("server")
ROOT = Path(__file__).parents[2]
BY_HAND = Keeping(lag_seconds=3_600)  # nothing is written back in the background
HOLDER = """
import sys, time
from adaptive_memory_core.store.postgres import lost_connections
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
lost_connections.LEASE_SECONDS = 1.5
ledger = PostgresLedger(sys.argv[1])
ledger.attach(sys.argv[2], "shared")
with ledger.outbox.alone(5.0):
    print("held", flush=True)
    time.sleep(60)
"""


class World:
    """Two memories, as on two machines, over a Chroma server and a ledger in PostgreSQL."""

    def __init__(self, chroma: ChromaServer) -> None:
        self.port, self.address = chroma.port, new_database()
        self.ours, self.theirs = self._opened(), self._opened()
        self.alice, self.hers = self.ours.for_user("alice"), self.theirs.for_user("alice")
        self.alice.remember_many([{"id": f"m{number}", "text": f"memory {number}"} for number in range(6)])
        for one in (self.ours, self.theirs):
            one.sync()

    def _opened(self) -> AdaptiveMemory:
        given: dict[str, Any] = {"embedder": embed, "policy": EVERY_READ_COUNTS, "keeping": BY_HAND}
        return AdaptiveMemory(server_collection(self.port), ledger=self.address, **given)

    def shown(self, one: str) -> int:
        """How often it was read, as any other program sees it."""
        found = server_collection(self.port).get(ids=[one], include=["metadatas"])["metadatas"]
        return int(found[0].get("retrieval_count", 0))

    def close(self) -> None:
        for one in (self.ours, self.theirs):
            one.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with closing(ChromaServer(tmp_path_factory.mktemp("chroma"))) as made:
        made.start()
        yield made


@pytest.fixture
def world(server: ChromaServer) -> Iterator[World]:
    made = World(server)
    yield made
    made.close()
    chromadb.HttpClient("127.0.0.1", server.port).delete_collection("shared")


def test_a_late_write_of_a_former_holder_does_no_harm(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_connections, "LEASE_SECONDS", 0.5)
    monkeypatch.setattr(lost_connections, "RENEWED_SECONDS", 60.0)  # as where the holder's machine stands still
    write, is_late, goes_on = ChromaRecords.update_metadata, threading.Event(), threading.Event()

    def late(records: ChromaRecords, changes: Any) -> None:
        if threading.current_thread().name == "late" and not is_late.is_set():
            is_late.set()
            assert goes_on.wait(30)
        write(records, changes)

    monkeypatch.setattr(ChromaRecords, "update_metadata", late)
    world.alice.recall("memory 3", k=1)
    holder = threading.Thread(target=world.ours.flush, name="late")
    holder.start()
    assert is_late.wait(30)  # the state of one read is about to be written
    for _ in range(2):
        world.hers.recall("memory 3", k=1)
    world.theirs.flush()  # takes over once the lease has lapsed
    assert world.shown("m3") == 3
    goes_on.set()
    holder.join(30)
    assert world.shown("m3") == 3
    assert world.ours.ports().ledger.outbox.waiting() == 0


def test_what_a_late_write_has_covered_is_written_again_in_the_background(world: World) -> None:
    world.alice.recall("memory 3", k=1)
    outbox = world.ours.ports().ledger.outbox
    old = outbox.due(10)
    world.hers.recall("memory 3", k=1)
    world.theirs.flush()
    assert outbox.waiting() == 0
    assert outbox.settle(old)
    assert [one.stored_id for one in outbox.due(10)] == ["m3"]
    assert not outbox.settle(outbox.due(10))


def test_a_killed_holder_is_followed_by_another(world: World) -> None:
    uuid = str(server_collection(world.port).id)
    command = [sys.executable, "-c", HOLDER, world.address, uuid]
    environment = {"PYTHONPATH": f"{ROOT / 'shared'}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        world.alice.recall("memory 3", k=1)
        holder.kill()
    world.ours.flush()
    assert world.shown("m3") == 1


def test_what_one_machine_changes_the_other_finds_with_its_next_call_and_each_its_own_at_once(world: World) -> None:
    for mine, yours in ((world.alice, world.hers), (world.hers, world.alice)):
        mine.remember("it opens at 7", id="harbour")
        for one in (mine, yours):
            assert one.recall("it opens at 7", k=1).ids == ("harbour",)
        mine.remember("it is closed until 9", id="harbour")
        for one in (mine, yours):
            assert [hit.text for hit in one.recall("it is closed until 9", k=1)] == ["it is closed until 9"]
        mine.forget("harbour")
        for one in (mine, yours):
            assert "harbour" not in one.recall("it is closed until 9", k=9).ids
