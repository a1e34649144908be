"""Is a ledger that moved from SQLite to PostgreSQL, and back, the same in every row, and does it go on from there?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, SQLiteLedger
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.moving.move import move
from adaptive_memory_core.store.moving.tables import STAYS
from adaptive_memory_core.store.postgres.dialect import tables
from adaptive_memory_core.store.postgres.ledger import PostgresLedger
from tests.conftest import Clock
from tests.postgres_server import new_database

EVERYTHING = Policy(channels=("dense", "lexical", "graph"))


def rows(ledger: Any) -> dict[str, list[tuple[Any, ...]]]:
    """All that stands in it, without what only one of the two has."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    with ledger.file.reading() as sql:
        for name in sorted(set(tables()) - STAYS):
            cursor = sql.execute(f"SELECT * FROM {name}")
            names = [column[0] for column in cursor.description]
            kept = [number for number, one in enumerate(names) if one != "version" or name != "collections"]
            order = sorted(kept, key=lambda number: names[number])
            found[name] = sorted((tuple(row[number] for number in order) for row in cursor.fetchall()), key=repr)
    return found


def used(memory: AdaptiveMemory, clock: Clock) -> None:
    alice = memory.for_user("alice")
    alice.observe([{"role": "user", "text": f"I met Ana {n} in the Blue Cafe.", "id": f"m{n}"} for n in range(6)])
    alice.remember_many([f"Ana {n} likes tea number {n}" for n in range(20)])
    memory.for_everyone().remember("the house rule", id="rule")
    for n in range(5):
        clock.pass_seconds(3_600)
        found = alice.recall(f"who likes tea number {n}?")
        alice.feedback(found, helpful=found.ids[:1], unhelpful=found.ids[-1:])
    alice.pin(found.ids[0])
    alice.forget(found.ids[-1])
    memory.for_user("bob", over="everyone").recall("rule")
    memory.flush()


def test_there_and_back_every_row_is_the_same(
    collection: Collection, embed: Callable[..., Any], clock: Clock, tmp_path: Path
) -> None:
    first = SQLiteLedger(str(tmp_path / "first.sqlite3"))
    with AdaptiveMemory(collection, embedder=embed, clock=clock, ledger=first, policy=EVERYTHING) as memory:
        used(memory, clock)
        before = memory.for_user("alice").stats()
        first.close()
    first = SQLiteLedger(str(tmp_path / "first.sqlite3"))
    there, back = PostgresLedger(new_database()), SQLiteLedger(str(tmp_path / "back.sqlite3"))
    told: list[tuple[int, int]] = []
    count = move(first, there, lambda done, total: told.append((done, total))).rows
    assert told[-1] == (count, count)
    assert rows(there) == rows(first)
    assert move(there, back, source_stays=True).rows == count
    assert rows(back) == rows(first)
    with AdaptiveMemory(collection, embedder=embed, clock=clock, ledger=there, policy=EVERYTHING) as memory:
        alice = memory.for_user("alice")
        assert alice.stats().recalls == before.recalls
        alice.remember("a last giraffe", id="giraffe")  # numbers go on behind those that came along
        assert alice.recall("giraffe").ids[0] == "giraffe"
    first.close()
    back.close()


def test_nothing_moves_onto_a_ledger_that_is_in_use(tmp_path: Path) -> None:
    source, target = SQLiteLedger(str(tmp_path / "a.sqlite3")), SQLiteLedger(str(tmp_path / "b.sqlite3"))
    for one in (source, target):
        one.attach("uuid", "memories")
    with pytest.raises(InvalidInputError, match="rows in collections"):
        move(source, target)
    source.close()
    target.close()
