"""Is a ledger in PostgreSQL exact for many processes, a pooler and a standby, when they are killed, or the server?"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psutil
import psycopg
import pytest

from adaptive_memory_core.store.postgres import lost_connections
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests import postgres_server
from tests.behaviour.random_kills import World, strike_often
from tests.behaviour.recalling_processes import RecallingProcesses
from tests.behaviour.test_interrupts import broken_off_at, in_another_thread
from tests.chroma_server import ChromaServer
from tests.pgbouncer_server import PgBouncer, pgbouncer, until
from tests.postgres_nodes import Pair, folder_for_servers
from tests.store.postgres.test_database import Cut, count, counted, cut

__all__ = ["cut"]  # fixtures

EVERY = 211  # functions that begin, or are through in C, between two tries


@pytest.fixture
def world(chroma_server: ChromaServer) -> Iterator[World]:
    made = World(chroma_server)
    yield made
    made.memory.close()


def acknowledged(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines if len(line.split()) == 2]


@pytest.mark.hard("PostgreSQL")
def test_four_processes_lose_and_double_nothing(world: World) -> None:
    processes = [world.reader(seed, 20) for seed in range(4)]
    lines = [line for process in processes for line in process.communicate(timeout=240)[0].splitlines()]
    assert [process.returncode for process in processes] == [0] * 4
    ids, returned = world.logged()
    assert sorted(acknowledged(lines)) == sorted(ids)
    assert len(set(ids)) == 160
    assert world.counted() == returned == world.shown()


@pytest.mark.hard("PostgreSQL")
def test_killed_processes_lose_nothing_that_was_acknowledged(world: World) -> None:
    chance, lines = random.Random(5), list[str]()
    for seed in range(3):
        process = world.reader(seed, 1_000_000)
        lines.append(process.stdout.readline())  # it is ready
        killer = threading.Timer(0.5 + chance.uniform(0, 1.5), process.kill)
        killer.start()
        lines += process.communicate(timeout=120)[0].splitlines()
    ids, returned = world.logged()
    assert set(acknowledged(lines)) <= set(ids)
    assert len(ids) - len(acknowledged(lines)) <= 2 * 3  # committed, but killed before it could return: one a thread
    assert world.counted() == returned == world.shown()


@pytest.mark.hard("PostgreSQL")
def test_a_killed_server_loses_nothing_that_was_acknowledged(world: World) -> None:
    readers = RecallingProcesses([world.reader(seed, 60) for seed in range(2)])
    for _ in range(2):
        readers.have_returned(60)
        postgres_server.kill()
        postgres_server.start_again()
    assert readers.ended() == [0, 0]
    ids, returned = world.logged()
    assert sorted(readers.acknowledged()) == sorted(ids)
    assert len(set(ids)) == 240
    assert world.counted() == returned == world.shown()


@pytest.mark.hard("PostgreSQL")
@pytest.mark.hard("server")
@pytest.mark.sample
def test_what_one_machine_writes_another_finds_at_once_and_forgets_with_it(world: World) -> None:
    with world.another() as elsewhere:
        theirs = elsewhere.for_user("alice")
        theirs.remember("memory 7", id="m7")
        assert "m7" in world.alice.recall("memory 7", k=7).ids
        world.alice.pin("m7")
        assert theirs.get("m7").read.pinned
        world.alice.forget("m7")
        assert "m7" not in theirs.recall("memory 7", k=7).ids


@pytest.mark.hard("PostgreSQL")
def test_wherever_calls_are_broken_off_the_memory_works_on(world: World) -> None:
    answer = world.alice.recall("memory 3", reinforce=False)
    calls: tuple[Callable[[], object], ...] = (
        lambda: world.alice.remember("memory 8", id="m8"),
        lambda: world.alice.recall("memory 3"),
        lambda: world.alice.feedback(answer, helpful=answer.ids[:1]),
    )
    for step in range(1, 100_000, EVERY):
        answer = world.alice.recall("memory 3", reinforce=False)
        places = [broken_off_at(step, call) for call in calls]
        if places == [None] * 3:
            break
    in_another_thread(lambda: world.alice.remember("memory 9", id="m9"))
    assert "m9" in in_another_thread(lambda: world.alice.recall("memory 9", k=9)).ids
    assert world.memory.check().ok
    world.logged()  # no step is missing, none is there twice


@pytest.fixture
def pooler() -> Iterator[PgBouncer]:
    with pgbouncer(postgres_server.server().get_uri(), size=3) as made:
        yield made


@pytest.fixture
def pooled(chroma_server: ChromaServer, pooler: PgBouncer) -> Iterator[World]:
    made = World(chroma_server, pooler.address(postgres_server.new_database()))
    yield made
    made.memory.close()


@pytest.mark.hard("pooler")
def test_four_processes_share_three_connections_through_kills_of_pooler_and_server(
    pooled: World, pooler: PgBouncer
) -> None:
    readers = RecallingProcesses([pooled.reader(seed, 20) for seed in range(4)])
    readers.have_returned(30)
    most = connections(pooled, since="-infinity")
    pooler.kill()
    begun = clock()  # the server may not have noticed yet that nobody asks those from before any more
    pooler.start()
    readers.have_returned(30)
    most = max(most, connections(pooled, since=begun))
    postgres_server.kill()
    postgres_server.start_again()
    assert readers.ended() == [0] * 4
    ids, returned = pooled.logged()
    assert sorted(readers.acknowledged()) == sorted(ids)
    assert len(set(ids)) == 160
    assert pooled.counted() == returned == pooled.shown()
    assert most == 3


def connections(pooled: World, *, since: str) -> int:
    """How many that were made since then the server has to the ledger's database."""
    name = pooled.address.rpartition("/")[2]
    return int(asked("SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND backend_start > %s", (name, since)))


def clock() -> str:
    """What time it is to the server."""
    return str(asked("SELECT clock_timestamp()"))


def asked(query: str, values: Sequence[str] = ()) -> Any:
    with psycopg.connect(postgres_server.server().get_uri()) as connection:
        return connection.execute(query, values).fetchone()[0]  # type: ignore[index]


@pytest.fixture
def pair() -> Iterator[Pair]:
    with folder_for_servers() as folder:
        made = Pair(folder)
        try:
            made.start()
            yield made
        finally:
            made.close()


@pytest.mark.hard("PostgreSQL")
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


@pytest.mark.hard("PostgreSQL")
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


KILLS, SEED = 3, 2  # one of each


@pytest.mark.hard("kill")
def test_what_was_acknowledged_is_there_once_after_kills_at_random(chroma_server: ChromaServer) -> None:
    world = World(chroma_server)
    found = strike_often(world, KILLS, SEED)
    assert all(found[one] for one in ("worker", "PostgreSQL", "Chroma", "recalled", "remembered"))
    world.memory.close()
