"""Is a move that the server breaks off, to let another through, taken up again with nothing lost and nothing twice?"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, SQLiteLedger
from adaptive_memory_core.store.ledger_move import move
from adaptive_memory_core.store.moved_tables import MoveSource, keys
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests.behaviour.conftest import eventually
from tests.conftest import Clock, word_vectors
from tests.postgres_server import new_database
from tests.store.test_ledger_move import EVERYTHING, Other, Ways, rows, used

pytestmark = pytest.mark.hard("PostgreSQL")
_WANTS_ALL = (
    "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock' AND relation = %s::regclass::oid"
)


def test_a_move_that_is_broken_off_at_its_end_copies_no_row_without_what_belongs_to_it(
    collection: Collection, clock: Clock, tmp_path: Path
) -> None:
    """The rows that are copied once more, such as of a record that was read, take none of those that are not along."""
    address = new_database()
    old, new = PostgresLedger(address), SQLiteLedger(str(tmp_path / "new.sqlite3"))
    first, *_, last = keys()
    with (
        psycopg.connect(address) as connection,
        psycopg.connect(address, autocommit=True) as looking,
        AdaptiveMemory(collection, embedder=word_vectors, clock=clock, ledger=address, policy=EVERYTHING) as memory,
    ):
        used(memory, clock)
        connection.execute("SET deadlock_timeout = '10s'")  # the move is the one that is broken off
        connection.execute(f"LOCK TABLE adaptive_memory.{last} IN ACCESS SHARE MODE")
        other = Other(connection, first, "ACCESS SHARE")
        clock.pass_seconds(3_600)
        asked: list[tuple[str, ...]] = []

        def ask(_done: int, _total: int) -> None:
            if not asked:
                asked.append(memory.for_user("alice").recall("who likes tea number 1?").ids)

        mover = threading.Thread(target=lambda: move(old, new, ask))
        mover.start()
        assert eventually(lambda: looking.execute(_WANTS_ALL, (f"adaptive_memory.{last}",)).fetchone() is not None)
        other.start()
        other.join(60)
        mover.join(60)
        assert (other.error, bool(asked)) == ("", True)
    assert rows(new) == rows(old)
    for ledger in (old, new):
        ledger.close()


@pytest.mark.parametrize("to_server", [True, False])
def test_a_move_that_is_interrupted_at_its_end_and_called_again_loses_nothing(
    collection: Collection, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, to_server: bool
) -> None:
    ways, asked = Ways(tmp_path, to_server=to_server), list[tuple[str, ...]]()
    with AdaptiveMemory(
        collection, embedder=word_vectors, clock=clock, ledger=ways.places[0], policy=EVERYTHING
    ) as memory:
        used(memory, clock)
        clock.pass_seconds(3_600)

        def ask(_done: int, _total: int) -> None:
            if not asked:
                asked.append(memory.for_user("alice").recall("who likes tea number 1?").ids)

        def interrupted(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(MoveSource, "end", interrupted)  # the target has kept its part, and the source has not
            with pytest.raises(KeyboardInterrupt):
                ways.moved(ask)
        ways.moved()
    assert asked
    assert ways.rows(1) == ways.rows(0)
