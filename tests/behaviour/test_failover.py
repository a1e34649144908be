"""Is anything lost or counted twice where PostgreSQL fails over to a standby?"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psutil
import pytest

from adaptive_memory_core.store.postgres import lost_connections
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests.behaviour.recalling_processes import RecallingProcesses
from tests.behaviour.test_postgres import World
from tests.chroma_server import ChromaServer
from tests.pgbouncer_server import until
from tests.postgres_nodes import Pair, folder_for_servers
from tests.store.postgres.test_database import Cut, count, counted, cut

__all__ = ["cut"]  # a fixture
pytestmark = pytest.mark.hard("PostgreSQL")


@pytest.fixture
def pair() -> Iterator[Pair]:
    with folder_for_servers() as folder:
        made = Pair(folder)
        try:
            made.start()
            yield made
        finally:
            made.close()


def test_a_standby_that_takes_over_has_all_that_was_acknowledged_once(chroma_server: ChromaServer, pair: Pair) -> None:
    world = World(chroma_server, pair.address())
    readers = RecallingProcesses([world.reader(seed, 30) for seed in range(2)])
    readers.have_returned(30)
    pair.primary.kill()
    pair.standby.promote()
    assert readers.ended() == [0, 0]
    ids, returned = world.logged()
    assert sorted(readers.acknowledged()) == sorted(ids)
    assert len(set(ids)) == 120
    assert world.counted() == returned == world.shown()
    world.memory.close()


def test_what_waits_for_the_standby_is_not_told_to_be_kept_before(
    pair: Pair, cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection breaks while its transaction stands on the primary alone."""
    monkeypatch.setattr(lost_connections, "GRACE_SECONDS", 0.1)
    ledger = PostgresLedger(pair.address(), wait_seconds=10.0)
    ledger.attach("uuid", "memories")
    walsender = psutil.Process(pair.primary.ask("SELECT pid FROM pg_stat_replication")[0][0])
    walsender.suspend()
    told: list[int] = []
    cut.at, cut.cut = "COMMIT", Cut.answer
    counting = threading.Thread(target=count, args=(ledger, told))
    counting.start()
    until(lambda: pair.primary.ask("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == [(1,)])
    counting.join(2.0)
    assert told == []
    walsender.resume()
    counting.join(30.0)
    assert (counted(ledger), told) == (1, [1])
    pair.primary.kill()
    pair.standby.promote()
    assert counted(ledger) == 1
    ledger.close()
