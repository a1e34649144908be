"""Is a ledger in PostgreSQL exact behind PgBouncer in transaction pooling, with fewer connections than processes?"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests import postgres_server
from tests.behaviour.recalling_processes import RecallingProcesses
from tests.behaviour.test_postgres import World
from tests.chroma_server import ChromaServer
from tests.pgbouncer_server import PgBouncer, pgbouncer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres server")]  # which they kill


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
    most = 0
    for kill, start in ((pooler.kill, pooler.start), (postgres_server.kill, postgres_server.start_again)):
        readers.have_returned(30)
        most = max(most, connections(world))
        kill()
        start()
    assert readers.ended() == [0] * 4
    ids, returned = world.logged()
    assert sorted(readers.acknowledged()) == sorted(ids)
    assert len(set(ids)) == 160
    assert world.counted() == returned == world.shown()
    assert most == 3


def connections(world: World) -> int:
    """How many the server has to the ledger's database."""
    name = world.address.rpartition("/")[2]
    with psycopg.connect(postgres_server.server().get_uri()) as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        return int(connection.execute(query, (name,)).fetchone()[0])  # type: ignore[index]
