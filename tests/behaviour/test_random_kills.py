"""Is anything lost or counted twice where workers, PostgreSQL and Chroma are killed at random? A few times here."""

from __future__ import annotations

import pytest

from tests.behaviour.random_kills import strike_often
from tests.behaviour.test_postgres import World
from tests.chroma_server import ChromaServer

pytestmark = pytest.mark.hard("kill")
KILLS, SEED = 3, 2  # one of each


def test_what_was_acknowledged_is_there_once_after_kills_at_random(chroma_server: ChromaServer) -> None:
    world = World(chroma_server)
    found = strike_often(world, KILLS, SEED)
    assert all(found[one] for one in ("worker", "PostgreSQL", "Chroma", "recalled", "remembered"))
    world.memory.close()
