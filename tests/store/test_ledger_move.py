"""Is a ledger that moved from SQLite to PostgreSQL, and back, the same in every row, and does it go on from there?"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, SQLiteLedger, UserMemory
from adaptive_memory_core.errors import InvalidInputError, LedgerError, NotFoundError
from adaptive_memory_core.policy import Advanced, Graphs
from adaptive_memory_core.store import ledger_move as moving
from adaptive_memory_core.store.ledger.sql_ledger import Ledger
from adaptive_memory_core.store.ledger_move import move
from adaptive_memory_core.store.moved_tables import STAYS, VERSIONS, LedgerEnd, keys
from adaptive_memory_core.store.postgres import lost_connections
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from adaptive_memory_core.store.postgres.postgres_tables import tables
from tests.behaviour.conftest import eventually
from tests.conftest import Clock, word_vectors
from tests.postgres_server import new_database

pytestmark = pytest.mark.hard("PostgreSQL")
AT_THE_STOP = -1
EVERYTHING = Policy(channels=("dense", "lexical", "graph"), advanced=Advanced(graph=Graphs(names_alike=0.7)))


def rows(ledger: Any) -> dict[str, list[tuple[Any, ...]]]:
    """All that stands in it, without what only one of the two has."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    with ledger.file.reading() as sql:
        for name in sorted(set(tables()) - STAYS):
            cursor = sql.execute(f"SELECT * FROM {name}")
            names = [column[0] for column in cursor.description]
            kept = [number for number, one in enumerate(names) if (name, one) not in VERSIONS]
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
    alice.remember_many(["Anna Maria Ada Eve Lovelace met Anna Maria Ada Eve Lovelase.", "She likes tea."])
    alice.pin(found.ids[0])
    alice.forget(found.ids[-1])
    memory.for_user("bob", over="everyone").recall("rule")
    memory.flush()
    memory.sync()


def test_a_ledger_does_not_move_to_where_it_is(tmp_path: Path) -> None:
    file, address = tmp_path / "ledger.sqlite3", new_database()
    SQLiteLedger(str(file)).close()
    (tmp_path / "linked.sqlite3").symlink_to(file)
    for source, target in (
        (file, file),
        (file, tmp_path / "linked.sqlite3"),
        (address, f"{address}&connect_timeout=9"),
    ):
        with pytest.raises(InvalidInputError, match="Give two different places"):
            moving.move_between(source, target)


def test_there_and_back_every_row_is_the_same(collection: Collection, clock: Clock, tmp_path: Path) -> None:
    first = SQLiteLedger(str(tmp_path / "first.sqlite3"))
    with AdaptiveMemory(collection, embedder=word_vectors, clock=clock, ledger=first, policy=EVERYTHING) as memory:
        used(memory, clock)
        before = memory.for_user("alice").stats()
        first.close()
    first = SQLiteLedger(str(tmp_path / "first.sqlite3"))
    there, back = PostgresLedger(new_database()), SQLiteLedger(str(tmp_path / "back.sqlite3"))
    told: list[tuple[int, int]] = []
    count = move(first, there, lambda done, total: told.append((done, total))).rows
    assert told[-1] == (count, count)
    assert rows(first)["graph_alike"]
    assert rows(there) == rows(first)
    assert move(there, back, source_stays=True).rows == count
    assert rows(back) == rows(first)
    with AdaptiveMemory(collection, embedder=word_vectors, clock=clock, ledger=there, policy=EVERYTHING) as memory:
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


Opens = Callable[..., AdaptiveMemory]


class Ways:
    """From where to where, each time anew."""

    def __init__(self, directory: Path, *, to_server: bool) -> None:
        file, address = str(directory / "ledger.sqlite3"), new_database()
        self.places = (file, address) if to_server else (address, file)

    def open(self, number: int) -> Ledger:
        place = self.places[number]
        return PostgresLedger(place) if place.startswith("postgresql") else SQLiteLedger(place)

    def rows(self, number: int) -> dict[str, list[tuple[Any, ...]]]:
        ledger = self.open(number)
        try:
            return rows(ledger)
        finally:
            ledger.close()

    def moved(self, progress: Callable[[int, int], object] | None = None) -> int:
        old, new = self.open(0), self.open(1)
        try:
            return move(old, new, progress).rows
        finally:
            old.close()
            new.close()


@pytest.fixture(params=[True, False], ids=["to PostgreSQL", "to SQLite"])
def ways(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ways:
    monkeypatch.setattr(moving, "PAGE", 30)
    monkeypatch.setattr(moving, "FEW", 20)
    return Ways(tmp_path, to_server=request.param)


@pytest.fixture
def opened(ways: Ways, collection: Collection, clock: Clock) -> Callable[..., AdaptiveMemory]:
    def memory(number: int = 0) -> AdaptiveMemory:
        return AdaptiveMemory(
            collection, embedder=word_vectors, clock=clock, ledger=ways.places[number], policy=EVERYTHING
        )

    return memory


def test_what_is_written_between_two_pages_comes_along_and_what_is_forgotten_does_not(
    ways: Ways, opened: Opens, clock: Clock
) -> None:
    with opened() as memory:
        used(memory, clock)
        alice, done = memory.for_user("alice"), list[str]()

        def work(_done: int, _total: int) -> None:
            number = len(done)
            if number % 8 == 0:
                found = alice.recall(f"who likes tea number {number % 20}?")
                alice.feedback(found, helpful=found.ids[:1])
                alice.forget(found.ids[-1])
                alice.remember(f"Ana {number} likes milk", id=f"milk{number // 16}")
                memory.for_user(f"user {number}").remember("somebody new", id=f"new{number}")
            done.append("page")

        assert ways.moved(work) > 100
        assert len(done) > 40
        assert ways.rows(0) == ways.rows(1)
        found = alice.recall("milk")
        assert "was moved to" in " ".join(found.trace)
        with pytest.raises(LedgerError, match="this ledger was moved to"):
            alice.remember("too late")
        with pytest.raises(LedgerError, match=r"was moved to .* Open the memory with ledger= that one"):
            opened()
        with opened(1) as moved:
            there = moved.for_user("alice")
            assert there.recall("milk", reinforce=False).ids == found.ids
            there.remember("a last giraffe", id="giraffe")
            assert there.recall("giraffe").ids[0] == "giraffe"
            assert moved.check().ok


class Writer(threading.Thread):
    """Remembers, recalls and forgets, until it is told that the ledger has moved, or that it is over."""

    def __init__(self, user: UserMemory, over: threading.Event) -> None:
        super().__init__()
        self.user, self.over, self.kept, self.told = user, over, list[str](), ""
        self.begun = threading.Event()

    def run(self) -> None:
        try:
            for number in range(1_000):
                self._write(f"{self.user.user}{number}", again=number % 3 == 2)
                if self.over.is_set():
                    return
        except LedgerError as error:
            self.told = str(error)

    def _write(self, name: str, *, again: bool) -> None:
        self.user.remember(f"this is {name}", id=name)
        self.kept.append(name)
        self.begun.set()
        self.user.recall("this", k=2)
        if again:
            self.kept.remove(name)  # it may be half forgotten where that is broken off
            self.user.forget(name)


def test_threads_that_write_all_the_time_lose_nothing_that_was_acknowledged(
    ways: Ways, opened: Opens, clock: Clock
) -> None:
    over = threading.Event()
    with opened() as memory:
        used(memory, clock)
        writers = [Writer(memory.for_user(one), over) for one in ("bert", "cora")]
        for writer in writers:
            writer.start()
            assert writer.begun.wait(60)
        try:
            ways.moved()
        finally:
            over.set()
            for writer in writers:
                writer.join(60)
        assert all("moved to" in writer.told for writer in writers if writer.told)
        assert all(writer.kept for writer in writers)
        assert ways.rows(0) == ways.rows(1)
    with opened(1) as moved:
        for writer in writers:
            user = moved.for_user(str(writer.user.user))
            assert [user.get(one).id for one in writer.kept] == writer.kept


class Other(threading.Thread):
    """Takes up a table late in a transaction that has another one already."""

    def __init__(self, connection: psycopg.Connection[Any], table: str, mode: str) -> None:
        super().__init__()
        self.connection, self.table, self.mode, self.error = connection, table, mode, ""

    def run(self) -> None:
        try:
            self.connection.execute(f"LOCK TABLE adaptive_memory.{self.table} IN {self.mode} MODE")
            self.connection.rollback()
        except psycopg.Error as error:
            self.error = str(error)


@pytest.mark.parametrize("begins", ["SELECT 1 FROM adaptive_memory.collections FOR NO KEY UPDATE", "SELECT 1"])
def test_a_move_begins_beside_others_that_have_one_table_and_want_another(begins: str, tmp_path: Path) -> None:
    """Who writes, has the collection's row first; who drops days of the log, has not."""
    address = new_database()
    old, new = PostgresLedger(address), SQLiteLedger(str(tmp_path / "new.sqlite3"))
    first, *_, last = keys()
    with psycopg.connect(address) as connection, psycopg.connect(address, autocommit=True) as looking:
        connection.execute("SET deadlock_timeout = '10s'")  # the move is the one that is broken off
        connection.execute(begins)
        connection.execute(f"LOCK TABLE adaptive_memory.{last} IN ROW EXCLUSIVE MODE")
        other = Other(connection, first, "ROW EXCLUSIVE")
        moved: list[int] = []
        mover = threading.Thread(target=lambda: moved.append(move(old, new).rows))
        mover.start()
        assert eventually(lambda: looking.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None)
        other.start()
        other.join(60)
        mover.join(60)
    assert (other.error, bool(moved)) == ("", True)
    for ledger in (old, new):
        ledger.close()


@pytest.mark.hard("kill")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_move_that_is_killed_anywhere_goes_on_where_it_was(
    ways: Ways, opened: Opens, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_connections, "LEASE_SECONDS", 0.2)  # until what a killed process had is another's
    with opened() as memory:
        used(memory, clock)
    for turn, step in enumerate((2, 3, 4, 30, 120, AT_THE_STOP)):
        assert killed(ways, step) == 9
        with opened() as memory:  # it is in use meanwhile
            alice = memory.for_user("alice")
            alice.remember(f"more {turn}", id=f"more{turn}")
            alice.forget(f"more{turn - 1}" if turn else "m1")
            eventually(partial(names_are_compared, alice))
            assert alice.recall("tea").trace == ()
    with pytest.raises(LedgerError, match="not all here yet"):
        opened(1)
    steps = 1  # before and after each of the last transactions
    while killed(ways, steps) == 9:
        steps += 1
    assert steps > 4
    assert ways.rows(0) == ways.rows(1)
    with opened(1) as moved:
        assert moved.for_user("alice").get("more5").text == "more 5"
        with pytest.raises(NotFoundError):
            moved.for_user("alice").get("more4")


def names_are_compared(alice: UserMemory) -> bool:
    return not alice.recall("tea", reinforce=False).trace


def killed(ways: Ways, step: int) -> int:
    """Move in a process of its own that is gone before or after its n-th transaction; gives what it exits with."""
    child = os.fork()
    if child == 0:
        try:
            _die(step)
            ways.moved()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _die(step: int) -> None:
    left, writing = [step], LedgerEnd.writing

    def gone() -> None:
        left[0] -= 1
        if left[0] == 0:
            os._exit(9)

    @contextmanager
    def counted(place: LedgerEnd) -> Generator[Any, None, None]:
        gone()
        with writing(place) as sql:
            yield sql
        gone()

    LedgerEnd.writing = counted  # type: ignore[method-assign, assignment]
    if step == AT_THE_STOP:
        moving._Moving._stop = lambda *_, **__: os._exit(9)  # type: ignore[method-assign]
