"""What does a machine write that stood still in the middle of a call, while another one took its turn?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import chromadb
import psycopg
import pytest

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.errors import LedgerError, NotFoundError
from adaptive_memory_core.store.chroma.records import ChromaRecords
from tests.postgres_server import new_database
from tests.store.reader import embed

pytestmark = pytest.mark.slow
COPIED = ("mirror", "records", "words")  # where the ledger has something of a record that stands


class Two:
    """Two machines over one collection and one ledger; one of them can be stopped once it has written in Chroma."""

    def __init__(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.address, self._patch = new_database(), monkeypatch
        client = chromadb.EphemeralClient()
        made = [client.get_or_create_collection(name, embedding_function=None) for _ in range(2)]
        self.memories = [AdaptiveMemory(one, embedder=embed, ledger=self.address) for one in made]
        self.stopped, self.other = (one.for_user("ana") for one in self.memories)

    def meanwhile(self, written: str, call: Callable[[UserMemory], Any], act: Callable[[UserMemory], Any]) -> list[Any]:
        """What comes of the call of a machine that stands still after it wrote, until its leases are over and the
        other one has acted."""
        reached, awake, came = threading.Event(), threading.Event(), list[Any]()
        real = getattr(ChromaRecords, written)

        def stops(*args: Any) -> None:
            real(*args)
            if threading.current_thread() is thread:
                reached.set()
                awake.wait(30.0)

        def calls() -> None:
            try:
                came.append(call(self.stopped))
            except LedgerError as error:
                came.append(error)

        thread = threading.Thread(target=calls)
        with self._patch.context() as patch:
            patch.setattr(ChromaRecords, written, stops)
            thread.start()
            try:
                assert reached.wait(30.0)
                with psycopg.connect(self.address) as connection:
                    connection.execute("UPDATE adaptive_memory.leases SET until = now() - interval '1 second'")
                act(self.other)
            finally:
                awake.set()
                thread.join()
        return came

    def rows(self, stored_id: str) -> dict[str, int]:
        """How many rows the ledger has of it."""
        with psycopg.connect(self.address) as connection:
            query = "SELECT count(*) FROM adaptive_memory.{} AS one WHERE to_jsonb(one) ->> 'stored_id' = %s"
            found = {one: connection.execute(query.format(one), (stored_id,)).fetchone() for one in COPIED}
        return {one: row[0] for one, row in found.items() if row is not None and row[0]}


@pytest.fixture
def two(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    made = Two(request.node.name, monkeypatch)
    yield made
    for one in made.memories:
        one.close()


def test_what_another_machine_forgot_meanwhile_stays_forgotten(two: Two) -> None:
    two.meanwhile("add", lambda one: one.remember("memory 1", id="x"), lambda one: one.forget("x"))
    assert two.rows("x") == {}
    assert [one.recall("memory 1").ids for one in (two.stopped, two.other)] == [(), ()]


def test_who_wrote_over_what_another_machine_forgot_is_told(two: Two) -> None:
    two.other.remember("memory 1", id="x")
    came = two.meanwhile("revise", lambda one: one.remember("memory 2", id="x"), lambda one: one.forget("x"))
    assert isinstance(came[0], LedgerError)
    assert "stood still" in str(came[0])
    assert two.rows("x") == {}
    assert [one.recall("memory 2").ids for one in (two.stopped, two.other)] == [(), ()]


def test_who_forgot_late_takes_nothing_from_what_another_machine_wrote_anew(two: Two) -> None:
    two.other.remember("memory 1", id="x")

    def anew(one: UserMemory) -> None:
        one.remember("memory 2", id="x")
        one.pin("x")

    came = two.meanwhile("remove", lambda one: one.forget("x"), anew)
    assert isinstance(came[0], LedgerError)
    for one in (two.stopped, two.other):
        assert one.get("x").read.pinned
        assert [hit.text for hit in one.recall("memory 2")] == ["memory 2"]


def test_who_lost_a_lease_that_nobody_took_is_through(two: Two) -> None:
    assert two.meanwhile("add", lambda one: one.remember("memory 1", id="x"), lambda _: None) == ["x"]
    assert two.rows("x")["words"] == 1
    two.other.forget("x")
    with pytest.raises(NotFoundError):
        two.stopped.get("x")
