"""Does a recall wait for the write-back? Recalls that arrive at random times, with and without it.

    python -m benchmarks.write_back_waits [--records 10000] [--rate 20] [--seconds 20] [--channels dense lexical]

An open loop: arrivals are a Poisson process and do not wait for one another, and a recall's time counts from when it
was due, so one that came while the process stood still is late by as much (a closed loop would ask less often just
then, and hide it). Every read counts and cues do not repeat, so there is always something to write. `stalls` are the
times that a thread that wants to run every half millisecond did not, for longer than 50 ms, and the longest. In the
last case another process has opened the directory before: it alone touches Chroma, and counts what it writes.
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
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy
from benchmarks.report import print_table, write_json
from benchmarks.speed import clustered, near

USER = "ana"
NEVER = Keeping(lag_seconds=3_600.0)
SHARES = (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
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
    vectors.update(near(vectors, cues))
    policy = Policy(refresh_floor_seconds=0.0, channels=tuple(arguments.channels))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with opened(folder, vectors, policy, NEVER) as memory:
            memory.for_user(USER).remember_many(texts)
        for name in arguments.cases:
            with (
                _holder(folder, arguments.records, policy, name),
                opened(folder, vectors, policy, CASES[name]) as memory,
            ):
                memory.flush()
                written = memory.for_user(USER).stats().projection.written
                with _stalls() as stalls:
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
def _holder(folder: str, records: int, policy: Policy, case: str) -> Iterator[None]:
    """In one case another process holds Chroma, and writes back what this one reads."""
    if case != ELSEWHERE:
        yield
        return
    context = get_context("spawn")
    begun, over = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(folder, records, policy, begun, over))
    process.start()
    try:
        begun.wait()
        yield
    finally:
        over.set()
        process.join()


def _hold(folder: str, records: int, policy: Policy, begun: Any, over: Any) -> None:
    with opened(folder, clustered(records), policy, CASES[ELSEWHERE]):
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


def opened(folder: str, vectors: dict[str, Any], policy: Policy, keeping: Keeping) -> AdaptiveMemory:
    return AdaptiveMemory.open(
        folder, embedder=lambda texts: [vectors[text] for text in texts], policy=policy, keeping=keeping
    )


if __name__ == "__main__":
    main()
