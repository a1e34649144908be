"""Is a ledger in PostgreSQL exact behind PgBouncer in transaction pooling, with fewer connections than processes?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest

from tests import postgres_server
from tests.behaviour.recalling_processes import RecallingProcesses
from tests.behaviour.test_postgres import World
from tests.chroma_server import ChromaServer
from tests.pgbouncer_server import PgBouncer, pgbouncer

pytestmark = pytest.mark.hard("pooler")


@pytest.fixture
def pooler() -> Iterator[PgBouncer]:
    with pgbouncer(postgres_server.server().get_uri(), size=3) as made:
        yield made


@pytest.fixture
def world(chroma_server: ChromaServer, pooler: PgBouncer) -> Iterator[World]:
    made = World(chroma_server, pooler.address(postgres_server.new_database()))
    yield made
    made.memory.close()


def test_four_processes_share_three_connections_through_kills_of_pooler_and_server(
    world: World, pooler: PgBouncer
) -> None:
    readers = RecallingProcesses([world.reader(seed, 20) for seed in range(4)])
    readers.have_returned(30)
    most = connections(world, since="-infinity")
    pooler.kill()
    begun = clock()  # the server may not have noticed yet that nobody asks those from before any more
    pooler.start()
    readers.have_returned(30)
    most = max(most, connections(world, since=begun))
    postgres_server.kill()
    postgres_server.start_again()
    assert readers.ended() == [0] * 4
    ids, returned = world.logged()
    assert sorted(readers.acknowledged()) == sorted(ids)
    assert len(set(ids)) == 160
    assert world.counted() == returned == world.shown()
    assert most == 3


def connections(world: World, *, since: str) -> int:
    """How many that were made since then the server has to the ledger's database."""
    name = world.address.rpartition("/")[2]
    return int(asked("SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND backend_start > %s", (name, since)))


def clock() -> str:
    """What time it is to the server."""
    return str(asked("SELECT clock_timestamp()"))


def asked(query: str, values: Sequence[str] = ()) -> Any:
    with psycopg.connect(postgres_server.server().get_uri()) as connection:
        return connection.execute(query, values).fetchone()[0]  # type: ignore[index]
