"""How many recalls a second does the ledger count, by threads and by processes, and how large is its log of writes?

    python -m benchmarks.ledger_writes [--seconds 4] [--think-ms 0]

Only the ledger's part of a recall, with a full line of the log each: 5 hits and 35 other candidates of 10,000 records
a user, every read counted, one user a worker. `tail` is the 99.9th percentile of a count; "reader" has another process
in one long read after another, a second each, so that the log of writes can only be emptied in between. `lost` are
counts that were acknowledged and are not in the file.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from adaptive_memory_core import Policy, ReadState, Record, Scope, Scored, SQLiteLedger
from adaptive_memory_core.flow.ports.ledger_values import RecallEntry
from adaptive_memory_core.learn import decay
from adaptive_memory_core.policy.learning import Phase, Regime
from adaptive_memory_core.records import Dropped, Hit, Seen
from adaptive_memory_core.store.background import Background
from adaptive_memory_core.store.background_chores import checkpoints_of
from benchmarks.report import print_table, write_json

Durability = Literal["normal", "full"]
EVERY = Policy(refresh_floor_seconds=0.0)
REGIME = Regime((Phase(EVERY.pace, 0.0),))
RECORDS, KEPT, CANDIDATES, PREPARED = 10_000, 5, 40, 200
PARTS = ("similarity", "words", "recency", "importance", "useful", "session")
SHARES = (("p50", 0.5), ("p99", 0.99), ("tail", 0.999), ("max", 1.0))
READER = """
import sqlite3, sys, time
while True:
    sql = sqlite3.connect(sys.argv[1], isolation_level=None)
    sql.execute("BEGIN")
    sql.execute("SELECT count(*) FROM recalls").fetchone()
    time.sleep(1.0)
    sql.execute("COMMIT")
    sql.close()
    time.sleep(0.05)
"""


class Case(NamedTuple):
    """What is measured: how many processes with how many threads each, and beside what."""

    processes: int
    threads: int
    durability: Durability
    reader: bool = False


CASES = (
    Case(1, 1, "normal"),
    Case(1, 8, "normal"),
    Case(4, 1, "normal"),
    Case(1, 1, "full"),
    Case(1, 8, "full"),
    Case(4, 1, "full"),
    Case(4, 2, "full"),
    Case(1, 4, "normal", reader=True),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--think-ms", type=float, default=0.0, help="between two counts of a worker, on average")
    parser.add_argument("--cases", type=int, nargs="+", default=list(range(len(CASES))))
    parser.add_argument("--no-checkpoints", action="store_true", help="without those of the background")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.worker:
        _work_alone(arguments)
        return
    rows = [measured(CASES[number], arguments) for number in arguments.cases]
    print_table(rows, title=f"Counts of the ledger, {arguments.seconds:g} s a case")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def measured(case: Case, arguments: argparse.Namespace) -> dict[str, Any]:
    """One case, in a ledger of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "ledger.sqlite3"
        opened(path, "normal").close()
        with _reader(path, wanted=case.reader), _largest_log(path) as sizes:
            workers = [_process(path, case, number, arguments) for number in range(case.processes)]
            seconds = sorted(one for worker in workers for one in _said(worker))
        with sqlite3.connect(path) as sql:
            counted = sql.execute("SELECT sum(steps) FROM users").fetchone()[0]
    return {
        "processes": case.processes,
        "threads": case.threads,
        "durability": case.durability,
        "reader": "yes" if case.reader else "no",
        "recalls/s": round(len(seconds) / arguments.seconds),
        **{f"{name} ms": round(1000 * seconds[int(share * (len(seconds) - 1))], 2) for name, share in SHARES},
        "log MB": round(max(sizes) / 2**20, 1),
        "lost": len(seconds) - counted,
    }


@contextmanager
def _largest_log(path: Path) -> Iterator[list[int]]:
    """The sizes of the log of writes meanwhile."""
    log, over, sizes = path.with_name(path.name + "-wal"), threading.Event(), [0]

    def look() -> None:
        while not over.wait(0.02):
            if log.exists():
                sizes.append(log.stat().st_size)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield sizes
    finally:
        over.set()
        thread.join()


@contextmanager
def _reader(path: Path, *, wanted: bool) -> Iterator[None]:
    if not wanted:
        yield
        return
    reading = subprocess.Popen([sys.executable, "-c", READER, str(path)])
    try:
        yield
    finally:
        reading.kill()
        reading.wait()


def _process(path: Path, case: Case, number: int, arguments: argparse.Namespace) -> subprocess.Popen[str]:
    more = ["--no-checkpoints"] if arguments.no_checkpoints else []
    command = [sys.executable, "-m", "benchmarks.ledger_writes", "--seconds", str(arguments.seconds), *more]
    command += ["--think-ms", str(arguments.think_ms)]
    command += ["--worker", str(path), case.durability, str(case.threads), str(number)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _said(worker: subprocess.Popen[str]) -> Iterator[float]:
    output, _ = worker.communicate()
    yield from map(float, output.split())


def _work_alone(arguments: argparse.Namespace) -> None:
    """The part of one process, which says how many seconds each count took."""
    path, durability, threads, number = arguments.worker
    ledger = opened(Path(path), cast("Durability", durability))
    background = Background()
    background.start(() if arguments.no_checkpoints else checkpoints_of(ledger, background.wake), lambda: None)
    took: list[float] = []
    start = time.time() + 1.0
    workers = [
        threading.Thread(target=_count, args=(ledger, f"{number}-{thread}", start, arguments, took))
        for thread in range(int(threads))
    ]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    background.stop()
    ledger.close()
    print(*took, sep="\n")


def _count(ledger: SQLiteLedger, user: str, start: float, arguments: argparse.Namespace, took: list[float]) -> None:
    scope, chance = Scope(user), random.Random(user)
    entries = [entry_of(chance, number) for number in range(PREPARED)]
    time.sleep(max(0.0, start - time.time()))
    number, end = 0, time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        entry = entries[number % PREPARED]._replace(id=f"{user}-{number}", at=float(number))
        seen = {one.hit._stored_id: Seen(ReadState(), None) for one in entry.kept}
        began = time.perf_counter()
        ledger.recalls.count(scope, entry, seen, partial(decay.states_after_read, policy=EVERY, now=entry.at))
        took.append(time.perf_counter() - began)
        number += 1
        if arguments.think_ms:
            time.sleep(chance.expovariate(1000.0 / arguments.think_ms))


def entry_of(chance: random.Random, number: int) -> RecallEntry:
    """A recall as it goes into the log, of candidates by chance."""
    scored = [_scored(chance, one) for one in chance.sample(range(RECORDS), CANDIDATES)]
    dropped = [Dropped(one.id, "beyond k", one) for one in scored[KEPT:]]
    name, json = EVERY.hash, EVERY.to_json()
    words = " ".join(f"word{chance.randrange(2_000)}" for _ in range(8))
    return RecallEntry(
        str(number), 0.0, words, KEPT, name, json, scored[:KEPT], dropped, REGIME, EVERY.pace, None, {}, None, True
    )


def _scored(chance: random.Random, number: int) -> Scored:
    parts, signals = ({name: round(chance.random(), 6) for name in PARTS} for _ in range(2))
    name = f"record {number}"
    return Scored(Hit(Record(name, name), 0.5, name), chance.random(), parts, signals)


def opened(path: Path, durability: Durability) -> SQLiteLedger:
    ledger = SQLiteLedger(str(path), durability=durability)
    ledger.attach("uuid of a collection", "memories")
    return ledger


if __name__ == "__main__":
    main()
