"""Does a memory work with an async pool of the caller's, in and out of its event loop, and leave the pool alone?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from chromadb import Collection
from psycopg_pool import AsyncConnectionPool

from adaptive_memory_core import AdaptiveMemory
from tests.conftest import Clock
from tests.postgres_server import new_database

pytestmark = pytest.mark.hard("PostgreSQL")

OURS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'of the caller'"


def test_all_verbs_work_within_the_pools_loop_and_the_pool_stays_the_callers(
    collection: Collection, embed: Callable[..., Any], clock: Clock
) -> None:
    address = new_database()

    async def use() -> None:
        settings = {"application_name": "of the caller", "autocommit": False}
        async with AsyncConnectionPool(address, min_size=1, max_size=2, kwargs=settings, open=False) as pool:
            ledger: Any = pool
            with AdaptiveMemory(collection, embedder=embed, clock=clock, ledger=ledger) as memory:
                alice = memory.for_user("alice")
                await asyncio.gather(*(alice.aremember(f"green tea {n}", id=f"tea{n}") for n in range(6)))
                found = await alice.arecall("tea")
                assert await alice.afeedback(found, helpful=found.ids[:1]) == 1
                assert (await alice.aforget("tea1")).ledger
                alice.remember("said in the loop's own thread", id="own")
                assert alice.get("own").read.retrieval_count == 0
                with psycopg.connect(address) as elsewhere:
                    assert elsewhere.execute(OURS).fetchone()[0] <= 1 + 2 + 1  # type: ignore[index] # theirs, ours, one that is urgent
            async with pool.connection() as connection:
                assert not connection.autocommit
                assert await (await connection.execute("SELECT 'a'::text")).fetchone() == ("a",)

    asyncio.run(use())
    with psycopg.connect(address) as elsewhere:
        assert elsewhere.execute("SELECT count(*) FROM adaptive_memory.records").fetchone() == (6,)


def test_an_address_that_the_pool_asks_for_anew_is_asked_for_with_each_connection(
    collection: Collection, embed: Callable[..., Any], clock: Clock
) -> None:
    address, asked = new_database(), list[int]()

    async def with_a_new_password() -> str:
        await asyncio.sleep(0)
        asked.append(1)
        return address

    async def use() -> None:
        ledger: Any = AsyncConnectionPool(with_a_new_password, open=False)  # type: ignore[arg-type, unused-ignore]
        with AdaptiveMemory(collection, embedder=embed, clock=clock, ledger=ledger) as memory:
            await memory.for_user("alice").aremember("green tea")

    asyncio.run(use())
    assert len(asked) > 1


def test_what_is_no_pool_of_connections_is_refused(collection: Collection, embed: Callable[..., Any]) -> None:
    given: Any = psycopg.AsyncConnection
    with pytest.raises(ValueError, match="The ledger is"):
        AdaptiveMemory(collection, embedder=embed, ledger=given)
