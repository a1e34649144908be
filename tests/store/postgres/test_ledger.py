"""Is a ledger in PostgreSQL opened by its address or a pool, made once, and shown without secrets?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from chromadb import Collection
from psycopg_pool import ConnectionPool

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.errors import InvalidInputError, LedgerError, LedgerVersionError
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from adaptive_memory_core.store.postgres.postgres_tables import tables
from tests.conftest import Clock
from tests.postgres_server import empty_database, new_database

pytestmark = pytest.mark.hard("PostgreSQL")


def test_a_memory_takes_the_address_of_a_database(
    collection: Collection, embed: Callable[..., Any], clock: Clock
) -> None:
    address = new_database()
    with AdaptiveMemory(collection, embedder=embed, clock=clock, ledger=address) as memory:
        alice = memory.for_user("alice")
        tea = alice.remember("green tea")
        found = alice.recall("tea")
        assert found.ids == (tea,)
        assert alice.feedback(found, helpful=[tea]) == 1
        memory.flush()
        assert memory.check().ok
    with AdaptiveMemory(collection, embedder=embed, clock=clock, ledger=address) as memory:
        assert memory.for_user("alice").get(tea).read.retrieval_count == 1
        assert memory.for_user("bob").recall("tea").ids == ()
        assert memory.for_user("alice").forget(tea).ledger
    with psycopg.connect(address) as connection:
        left = connection.execute("SELECT count(*) FROM adaptive_memory.records").fetchone()
    assert left == (0,)


def test_a_pool_of_the_callers_is_used_as_it_is_and_stays_open(
    collection: Collection, embed: Callable[..., Any], clock: Clock
) -> None:
    with ConnectionPool(new_database(), min_size=1, max_size=2, open=True) as pool:
        with AdaptiveMemory(collection, embedder=embed, clock=clock, ledger=pool) as memory:  # type: ignore[arg-type]
            memory.for_user("alice").remember("green tea", id="tea")
            assert memory.for_user("alice").recall("tea").ids == ("tea",)
        with pool.connection() as connection:
            assert not connection.autocommit
            assert connection.execute("SELECT 'a'::text").fetchone() == ("a",)


def test_whoever_comes_first_makes_the_tables_and_nobody_else() -> None:
    address, done, failed = empty_database(), list[bool](), list[BaseException]()

    def create() -> None:
        try:
            done.append(AdaptiveMemory.create_tables(address))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=create) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(done) == [False] * 9 + [True]


@pytest.mark.parametrize("version", [0, 999])
def test_another_schema_version_is_refused(version: int) -> None:
    address = new_database()
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE adaptive_memory.schema_version SET version = %s", (version,))
    for use in (PostgresLedger, AdaptiveMemory.create_tables):
        with pytest.raises(LedgerVersionError, match=f"schema version {version}.* reads version 1"):
            use(address)


def test_a_role_that_may_make_no_tables_is_told_what_to_do() -> None:
    address = empty_database()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS reader_of_memories")
        connection.execute("CREATE ROLE reader_of_memories LOGIN")
    theirs = address.replace("//postgres:@", "//reader_of_memories@")
    with pytest.raises(LedgerError, match=r"Call AdaptiveMemory\.create_tables"):
        PostgresLedger(theirs)


def test_a_role_that_may_not_look_at_the_tables_is_told_what_it_lacks() -> None:
    address = new_database()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS stranger_to_memories")
        connection.execute("CREATE ROLE stranger_to_memories LOGIN")
    theirs = address.replace("//postgres:@", "//stranger_to_memories@")
    with pytest.raises(LedgerError, match="grant this one the use of the schema 'adaptive_memory'"):
        PostgresLedger(theirs)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("GRANT USAGE ON SCHEMA adaptive_memory TO stranger_to_memories")
    with pytest.raises(LedgerError, match="grant this one the use"):
        PostgresLedger(theirs)


def test_what_cannot_be_reached_is_said_without_its_password(collection: Collection, embed: Callable[..., Any]) -> None:
    address = "postgresql://ana:secret@127.0.0.1:1/memories?connect_timeout=1"
    with pytest.raises(LedgerError, match="cannot be reached") as told:
        PostgresLedger(address, wait_seconds=1.0)
    assert "secret" not in str(told.value)
    with pytest.raises(InvalidInputError, match="ledger is 'mysql://"):
        AdaptiveMemory(collection, embedder=embed, ledger="mysql://somewhere/memories")


def test_whatever_may_stand_in_a_text_comes_back() -> None:
    ledger = PostgresLedger(new_database())
    ledger.attach("uuid", "memories")
    texts = {"zero": "a\x00b\x00", "mark": "\ufdd0 and \ufdd00", "quotes": "'; DROP TABLE x; -- %s ? :own \\"}
    rows = [MirrorRow(one, text, {"said": text}, b"\0\1") for one, text in texts.items()]
    ledger.mirror.put({Scope("alice"): rows})
    assert {one: (text, metadata) for one, text, metadata in ledger.mirror.rows(list(texts))} == {
        one: (text, {"said": text}) for one, text in texts.items()
    }
    ledger.close()


def test_every_table_of_sqlite_is_there(tmp_path: Any) -> None:
    from adaptive_memory_core import SQLiteLedger

    ledger = SQLiteLedger(str(tmp_path / "ledger.sqlite3"))
    with ledger.file.reading() as sql:
        names = [row[0] for row in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {
            name: {row[1] for row in sql.execute(f"PRAGMA table_info({name})")}
            for name in names
            if not name.startswith("sqlite_")
        }
    ledger.close()
    assert columns.pop("file_version") == {"version"}  # a collection's own, in PostgreSQL
    assert set(columns) == set(tables()) - {"leases", "writers"}
    with psycopg.connect(new_database()) as connection:
        query = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'adaptive_memory'"
        there: dict[str, set[str]] = {}
        for table, column in connection.execute(query):
            there.setdefault(table, set()).add(column)
    there["collections"].remove("version")
    assert {name: there[name] for name in columns} == columns
