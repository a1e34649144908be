"""Does a recall wait for the write-back? Recalls that arrive at random times, with and without it.

    python -m benchmarks.write_back_waits [--records 10000] [--rate 20] [--seconds 20] [--new 0] [--server]

An open loop: arrivals are a Poisson process and do not wait for one another, and a recall's time counts from when it
was due, so one that came while the process stood still is late by as much (a closed loop would ask less often just
then, and hide it). Every read counts and cues do not repeat, so there is always something to write. `stalls` are the
times that a thread that wants to run every half millisecond did not, for longer than 50 ms, and the longest. In the
last case another process has opened the directory before: it alone touches Chroma, and counts what it writes. `--new`
records a second are remembered meanwhile in all cases, and exported with the reads. `--server` has the collection on a
Chroma server; in the last case the other process alone writes to it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy
from benchmarks.ledger_engines import chroma
from benchmarks.report import print_table, write_json
from benchmarks.speed import clustered, near

USER = "ana"
NEVER = Keeping(lag_seconds=3_600.0)
SHARES = (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
WARM_SECONDS = 3.0
ELSEWHERE = "5 s, by another process"
CASES = {
    "without": NEVER,
    "5 s, the default": Keeping(),
    "1 s": Keeping(lag_seconds=1.0),
    "5 s, 500 records at once": Keeping(stall_ms=10_000.0),
    ELSEWHERE: Keeping(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=20.0, help="recalls a second")
    parser.add_argument("--seconds", type=float, default=20.0, help="a case")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--channels", nargs="+", default=["dense", "lexical"], choices=["dense", "lexical"])
    parser.add_argument("--new", type=float, default=0.0, help="records a second that are remembered meanwhile")
    parser.add_argument("--server", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = list(rows_of(arguments))
    print_table(rows, title=f"Recalls at random times, {arguments.rate:g} a second, {arguments.records} records")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """One memory, which every case opens again."""
    vectors = clustered(arguments.records)
    texts, cues = list(vectors), [f"cue {number}" for number in range(2_000)]
    new = [f"new {number}" for number in range(int(arguments.new * arguments.seconds * len(arguments.cases)))]
    vectors.update(near(vectors, [*cues, *new]))
    policy = Policy(refresh_floor_seconds=0.0, channels=tuple(arguments.channels))
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        port = stack.enter_context(chroma(Path(folder) / "chroma")) if arguments.server else None
        with opened(folder, port, vectors, policy, NEVER) as memory:
            memory.for_user(USER).remember_many(texts)
        for name in arguments.cases:
            keeping = NEVER if port is not None and name == ELSEWHERE else CASES[name]
            with (
                _holder(folder, port, arguments.records, policy, name),
                opened(folder, port, vectors, policy, keeping) as memory,
            ):
                waits(memory, cues, arguments.rate, WARM_SECONDS)  # what the first recalls load is not the subject
                memory.sync()
                memory.flush()
                written = memory.for_user(USER).stats().projection.written
                with _stalls() as stalls, _remembering(memory, new, arguments.new):
                    seconds = sorted(waits(memory, cues, arguments.rate, arguments.seconds))
                written = memory.for_user(USER).stats().projection.written - written
            yield {
                "write-back after": name,
                "recalls": len(seconds),
                **{f"{share} ms": round(1000 * seconds[int(at * (len(seconds) - 1))], 1) for share, at in SHARES},
                "stalls": len([one for one in stalls if one > 0.05]),
                "longest ms": round(1000 * max(stalls)),
                "written/s": round(written / arguments.seconds),
            }


def waits(memory: AdaptiveMemory, cues: list[str], rate: float, seconds: float) -> list[float]:
    """The seconds from when each recall was due until it was answered."""
    chance, user, took = random.Random(1), memory.for_user(USER), list[float]()

    def ask(due: float, cue: str) -> None:
        user.recall(cue, k=5)
        took.append(time.monotonic() - due)

    with ThreadPoolExecutor(max_workers=16) as threads:
        due = begin = time.monotonic()
        while due < begin + seconds:
            due += chance.expovariate(rate)
            time.sleep(max(0.0, due - time.monotonic()))
            threads.submit(ask, due, chance.choice(cues))
    return took


@contextmanager
def _remembering(memory: AdaptiveMemory, texts: list[str], rate: float) -> Iterator[None]:
    """Take texts from the end of the list and remember them, so many a second."""
    over, user = threading.Event(), memory.for_user(USER)

    def remember() -> None:
        while rate and texts and not over.wait(1.0 / rate):
            user.remember(texts.pop())

    thread = threading.Thread(target=remember)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _holder(folder: str, port: int | None, records: int, policy: Policy, case: str) -> Iterator[None]:
    """In one case another process holds Chroma, and writes back what this one reads."""
    if case != ELSEWHERE:
        yield
        return
    context = get_context("spawn")
    begun, over = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(folder, port, records, policy, begun, over))
    process.start()
    try:
        begun.wait()
        yield
    finally:
        over.set()
        process.join()


def _hold(folder: str, port: int | None, records: int, policy: Policy, begun: Any, over: Any) -> None:
    with opened(folder, port, clustered(records), policy, CASES[ELSEWHERE]):
        begun.set()
        over.wait()


@contextmanager
def _stalls() -> Iterator[list[float]]:
    """How long a thread that sleeps half a millisecond at a time was away beyond that, each time."""
    over, stalls = threading.Event(), [0.0]

    def tick() -> None:
        while not over.is_set():
            began = time.monotonic()
            time.sleep(0.0005)
            stalls.append(time.monotonic() - began - 0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield stalls
    finally:
        over.set()
        thread.join()


def opened(folder: str, port: int | None, vectors: dict[str, Any], policy: Policy, keeping: Keeping) -> AdaptiveMemory:
    given: dict[str, Any] = {"policy": policy, "keeping": keeping}
    given["embedder"] = lambda texts: [vectors[text] for text in texts]
    if port is None:
        return AdaptiveMemory.open(folder, **given)
    import chromadb

    client = chromadb.HttpClient("127.0.0.1", port)
    collection = client.get_or_create_collection("memories", embedding_function=None)
    return AdaptiveMemory(collection, ledger=Path(folder) / "ledger.sqlite3", **given)


if __name__ == "__main__":
    main()
