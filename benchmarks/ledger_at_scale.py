"""What does a recall ask of a large ledger in PostgreSQL? `python -m benchmarks.ledger_at_scale --kept FOLDER`.

A memory over a real Chroma server remembers 100 records of each of 100 users; their rows in the ledger are then copied
for further collections of 100 users, up to 10,000 users and a million records, with all indexes. Recalls of the first
collection's users are measured: the ledger's part of each (all that is asked of it, from taking a connection to giving
it back), and the messages that are sent to the server. "Others too" has another memory recall as somebody else in
between; "first" are first recalls of users that the process had not met. CPU is of the asking thread for the ledger's
part, and of the server for all that it did: on a machine with nothing else to do their sum is what a recall waits for,
on a busy one the clock tells more of the others. The databases stay in the folder for another run. `--lines` measures
how long a day of so many lines of the log takes to be dropped.
"""

from __future__ import annotations

import argparse
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg

from adaptive_memory_core import UserMemory
from adaptive_memory_core.store.postgres.postgres_database import LedgerDatabase
from benchmarks.copied_collections import copy_collections
from benchmarks.ledger_engines import WORDS, chroma, opened, postgres, text_of
from benchmarks.log_days import measured_days
from benchmarks.report import percentiles, print_table

USERS, RECORDS = 100, 100  # of a collection, and of each of them
ASKED, RECALLS, WARM = 8, 160, 20
MILLISECONDS = 1_000.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, required=True, help="a folder for the servers' files")
    parser.add_argument("--users", type=int, nargs="*", default=[100, 1_000, 10_000])
    parser.add_argument("--lines", type=int, nargs="*", default=[])
    given = parser.parse_args()
    given.kept.mkdir(parents=True, exist_ok=True)
    with postgres(given.kept / "postgres", None) as address:
        if given.users:
            fill_first(given.kept, address)
            rows = [row for users in given.users for row in measured(given.kept, address, users)]
            print_table(rows, title=f"The ledger's part of a recall, {RECORDS} records a user")
        if given.lines:
            print_table([measured_days(address, lines) for lines in given.lines], title="A day of the log")


def fill_first(kept: Path, address: str) -> None:
    """The collection that all databases begin with, as a memory has it after some recalls."""
    if exists(address, "first"):
        return
    shutil.rmtree(kept / "first", ignore_errors=True)
    create(address, "unfinished", "template1")
    with chroma(kept / "first") as port, opened("first", port, at(address, "unfinished")) as memory:
        for number in range(USERS):
            user = memory.for_user(f"user {number}")
            user.remember_many([text_of(number * RECORDS + one) for one in range(RECORDS)])
            asked(user, 3)
    asked_of(address, "ALTER DATABASE unfinished RENAME TO first")


def fill(kept: Path, address: str, users: int) -> str:
    """A database with so many users, and a folder for Chroma of its own, which recalls write back to."""
    name, unfinished = f"users_{users}", f"unfinished_{users}"
    if not exists(address, name):
        shutil.copytree(kept / "first", kept / name, dirs_exist_ok=True)
        create(address, unfinished, "first")
        copy_collections(at(address, unfinished), users // USERS - 1)
        asked_of(address, f"ALTER DATABASE {unfinished} RENAME TO {name}")
    return name


def at(address: str, database: str) -> str:
    return address.replace("/memories?", f"/{database}?")


def asked(user: UserMemory, count: int) -> None:
    for number in range(count):
        user.recall(f"the {WORDS[number % 10]} of day {number % 13}", k=5)


def exists(address: str, name: str) -> bool:
    with psycopg.connect(address) as connection:
        return connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is not None


def create(address: str, name: str, template: str) -> None:
    asked_of(address, f"DROP DATABASE IF EXISTS {name}")
    asked_of(address, f"CREATE DATABASE {name} TEMPLATE {template}")


def asked_of(address: str, statement: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement)


def measured(kept: Path, address: str, users: int) -> list[dict[str, Any]]:
    name = fill(kept, address, users)
    with ExitStack() as stack:
        watch = stack.enter_context(watched(kept))
        given = ("first", stack.enter_context(chroma(kept / name)), at(address, name))
        memory, another = stack.enter_context(opened(*given)), stack.enter_context(opened(*given))
        for one in (memory, another):
            one.sync()  # else the first recalls ask Chroma
        met, unmet = ([memory.for_user(f"user {n}") for n in range(start, start + ASKED)] for start in (0, ASKED))
        somebody = another.for_user(f"user {USERS - 1}")
        for user in met:
            asked(user, WARM)
        told = {"users": users, "records": users * RECORDS}
        return [
            {**told, "recalls": "first", **row(watch, unmet, ASKED, lambda: None)},
            {**told, "recalls": "alone", **row(watch, met, RECALLS, lambda: None)},
            {**told, "recalls": "others too", **row(watch, met, RECALLS, lambda: asked(somebody, 1))},
        ]


def row(watch: Watch, users: list[UserMemory], count: int, before: Callable[[], object]) -> dict[str, Any]:
    """Recalls of these users in turn, with what happens before each of them."""
    spent, used, sent, server = list[float](), list[float](), list[float](), 0.0
    for number in range(count):
        before()
        watch.seconds, watch.cpu, watch.messages, began = 0.0, 0.0, 0, watch.server_cpu()
        users[number % len(users)].recall(f"the {WORDS[number % 10]} of day {number % 13}", k=5)
        server += watch.server_cpu() - began
        spent.append(watch.seconds * MILLISECONDS)
        used.append(watch.cpu * MILLISECONDS)
        sent.append(watch.messages)
    took, messages = percentiles(spent), percentiles(sent)
    return {
        "median ms": f"{took['p50']:.2f}",
        "p95 ms": f"{took['p95']:.2f}",
        "least ms": f"{took['min']:.2f}",
        "CPU ms": f"{percentiles(used)['p50']:.2f}",
        "server's CPU ms": f"{server / count * MILLISECONDS:.2f}",
        "messages": messages["p50"],
        "at most": max(sent),
    }


class Watch:
    """What this thread has asked of the ledger: how long, and with how many messages to the server."""

    def __init__(self, kept: Path) -> None:
        number = (kept / "postgres" / "postmaster.pid").read_text("ascii").split()[0]
        self._server = psutil.Process(int(number))
        self.seconds, self.cpu, self.messages, self._depth = 0.0, 0.0, 0, 0
        self._thread = threading.get_ident()

    def server_cpu(self) -> float:
        """Seconds of all processes of the server that are there, so far."""
        times = [one.cpu_times() for one in self._server.children() if one.is_running()]
        return float(sum(one.user + one.system for one in times))

    def again(self, original: Any) -> Any:
        def timed(database: LedgerDatabase, call: Any, *given: Any, **named: Any) -> Any:
            if threading.get_ident() != self._thread or self._depth:
                return original(database, call, *given, **named)
            began, cpu, self._depth = time.perf_counter(), time.thread_time(), 1
            try:
                return original(database, call, *given, **named)
            finally:
                self.seconds, self._depth = self.seconds + time.perf_counter() - began, 0
                self.cpu += time.thread_time() - cpu

        return timed

    def execute(self, original: Any) -> Any:
        def counted(connection: Any, *given: Any, **named: Any) -> Any:
            self.messages += threading.get_ident() == self._thread
            return original(connection, *given, **named)

        return counted


WATCHED = ((LedgerDatabase, "again"), (psycopg.Connection, "execute"))


@contextmanager
def watched(kept: Path) -> Iterator[Watch]:
    watch = Watch(kept)
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
