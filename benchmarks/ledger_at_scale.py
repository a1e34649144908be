"""What does a recall ask of a large ledger in PostgreSQL? `python -m benchmarks.ledger_at_scale --kept FOLDER`.

A memory over a real Chroma server remembers 100 records of each of 100 users; their rows in the ledger are then copied
for further collections of 100 users, up to 10,000 users and a million records, with all indexes. Recalls of the first
collection's users are measured: the ledger's part of each (all that is asked of it, from taking a connection to giving
it back), and the messages that are sent to the server. "Others too" has another memory recall as somebody else in
between; "first" are first recalls of users that the process had not met. The databases stay in the folder for another
run. `--lines` measures how long a day of so many lines of the log takes to be dropped.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from adaptive_memory_core import UserMemory
from adaptive_memory_core.store.postgres.database import LedgerDatabase
from benchmarks.copied_collections import copy_collections
from benchmarks.ledger_engines import WORDS, chroma, opened, postgres, text_of
from benchmarks.log_days import measured_days
from benchmarks.report import percentiles, print_table

USERS, RECORDS = 100, 100  # of a collection, and of each of them
ASKED, RECALLS = 20, 400
MILLISECONDS = 1_000.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, required=True, help="a folder for the servers' files")
    parser.add_argument("--users", type=int, nargs="*", default=[100, 1_000, 10_000])
    parser.add_argument("--lines", type=int, nargs="*", default=[])
    given = parser.parse_args()
    given.kept.mkdir(parents=True, exist_ok=True)
    with ExitStack() as servers:
        port = servers.enter_context(chroma(given.kept / "chroma"))
        address = servers.enter_context(postgres(given.kept / "postgres", None))
        if given.users:
            rows = [row for users in given.users for row in measured(port, filled(port, address, users), users)]
            print_table(rows, title=f"The ledger's part of a recall, {RECORDS} records a user")
        if given.lines:
            print_table([measured_days(address, lines) for lines in given.lines], title="A day of the log")


def filled(port: int, address: str, users: int) -> str:
    """The address of a database with so many users; the first collection's are real, the others are copies of it."""
    name = f"users_{users}"
    place = address.replace("/memories?", f"/{name}?")
    if not exists(address, "first"):
        create(address, "first", "template1")
        first = address.replace("/memories?", "/first?")
        with opened("first", port, first) as memory:
            for number in range(USERS):
                user = memory.for_user(f"user {number}")
                user.remember_many([text_of(number * RECORDS + one) for one in range(RECORDS)])
                asked(user, 3)
    if not exists(address, name):
        create(address, name, "first")
        copy_collections(place, users // USERS - 1)
    return place


def asked(user: UserMemory, count: int) -> None:
    for number in range(count):
        user.recall(f"the {WORDS[number % 10]} of day {number % 13}", k=5)


def exists(address: str, name: str) -> bool:
    with psycopg.connect(address) as connection:
        return connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is not None


def create(address: str, name: str, template: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")


def measured(port: int, address: str, users: int) -> Iterator[dict[str, Any]]:
    with opened("first", port, address) as memory, opened("first", port, address) as another:
        for one in (memory, another):
            one.sync()  # else the first recalls ask Chroma
        strangers = [memory.for_user(f"user {number}") for number in range(ASKED, 2 * ASKED)]
        friends = [memory.for_user(f"user {number}") for number in range(ASKED)]
        somebody = another.for_user(f"user {USERS - 1}")
        yield row(users, "first", lambda number: strangers[number], len(strangers), lambda: None)
        for friend in friends:
            asked(friend, 3)
        yield row(users, "alone", lambda number: friends[number % ASKED], RECALLS, lambda: None)
        yield row(users, "others too", lambda number: friends[number % ASKED], RECALLS, lambda: asked(somebody, 1))


def row(
    users: int, how: str, user_of: Callable[[int], UserMemory], count: int, before: Callable[[], object]
) -> dict[str, Any]:
    spent, sent = list[float](), list[float]()
    with watched() as watch:
        for number in range(count):
            before()
            watch.seconds, watch.messages = 0.0, 0
            user_of(number).recall(f"the {WORDS[number % 10]} of day {number % 13}", k=5)
            spent.append(watch.seconds * MILLISECONDS)
            sent.append(watch.messages)
    took, messages = percentiles(spent), percentiles(sent)
    return {
        "users": users,
        "records": users * RECORDS,
        "recalls": how,
        "median ms": round(took["p50"], 2),
        "p95 ms": round(took["p95"], 2),
        "messages": round(messages["p50"]),
        "most messages": round(max(sent)),
    }


class Watch:
    """What this thread has asked of the ledger: how long, and with how many messages to the server."""

    def __init__(self) -> None:
        self.seconds, self.messages, self._depth = 0.0, 0, 0
        self._thread = threading.get_ident()

    def again(self, original: Any) -> Any:
        def timed(database: LedgerDatabase, call: Any, *given: Any, **named: Any) -> Any:
            if threading.get_ident() != self._thread or self._depth:
                return original(database, call, *given, **named)
            began, self._depth = time.perf_counter(), 1
            try:
                return original(database, call, *given, **named)
            finally:
                self.seconds, self._depth = self.seconds + time.perf_counter() - began, 0

        return timed

    def execute(self, original: Any) -> Any:
        def counted(connection: Any, *given: Any, **named: Any) -> Any:
            self.messages += threading.get_ident() == self._thread
            return original(connection, *given, **named)

        return counted


WATCHED = ((LedgerDatabase, "again"), (psycopg.Connection, "execute"))


@contextmanager
def watched() -> Iterator[Watch]:
    watch = Watch()
    originals = [getattr(owner, name) for owner, name in WATCHED]
    for (owner, name), original in zip(WATCHED, originals, strict=True):
        setattr(owner, name, getattr(watch, name)(original))
    try:
        yield watch
    finally:
        for (owner, name), original in zip(WATCHED, originals, strict=True):
            setattr(owner, name, original)


if __name__ == "__main__":
    main()
