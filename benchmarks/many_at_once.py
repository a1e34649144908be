"""How many recalls a second do threads make, and processes? `python -m benchmarks.many_at_once [--keep FOLDER]`.

All recall as users with 10,000 records each, `k=5` with vectors and words, ledger and log on, one recall after the
other for some seconds. Before that one process asks all questions once and waits until its background has nothing left,
unless `--at-once` is given: of a collection that another program filled, that is above all writing down the words of
its records, once, a second of processor time. "CPU ms" is what one recall takes of a processor, by all threads of its
process: what the number of recalls comes to on a machine that nobody else uses.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory
from benchmarks.fast_path import CUES, MILLISECONDS, WITH_WORDS, Case, fill, near, text_of, vectors_of
from benchmarks.report import percentiles, print_table

RECORDS = 10_000
QUIET_LOOKS, LOOK_SECONDS = 20, 0.05  # at the background, until it is taken to have nothing left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--processes", type=int, nargs="+", default=[4])
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder of benchmarks.fast_path")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = (given.keep or Path(folder)) / f"{RECORDS}x1"
        vectors = vectors_of(RECORDS)
        if not place.exists():
            fill(place, Case(RECORDS, 1), vectors)
        cues = {f"{text_of(number)}?": near(vectors[number]) for number in range(CUES)}
        if not given.at_once:
            warm(place, cues)
        rows = [row(1, count, [worked(place, cues, count, given.seconds)]) for count in given.threads]
        rows += [row(count, 1, by_processes(place, cues, count, given.seconds)) for count in given.processes]
    print_table(rows, title=f"Recalls of users with {RECORDS:,} records")


def warm(place: Path, cues: dict[str, Any]) -> None:
    """Ask all questions once, and wait until the background has nothing left to do."""
    with AdaptiveMemory.open(place, embedder=lambda texts: [cues[text] for text in texts], policy=WITH_WORDS) as memory:
        user, quiet = memory.for_user("user 0"), 0
        for name in cues:
            user.recall(name, k=5)
        while quiet < QUIET_LOOKS:
            time.sleep(LOOK_SECONDS)
            quiet = 0 if user.stats().background.doing else quiet + 1


def row(processes: int, threads: int, found: list[dict[str, Any]]) -> dict[str, Any]:
    took = [one for each in found for one in each["took"]]
    told = percentiles(took)
    return {
        "processes": processes,
        "threads": threads,
        "recalls a second": round(sum(len(each["took"]) / each["seconds"] for each in found)),
        "median ms": round(told["p50"] * MILLISECONDS, 2),
        "p95 ms": round(told["p95"] * MILLISECONDS, 2),
        "most ms": round(max(took) * MILLISECONDS, 1),
        "CPU ms": round(sum(each["cpu"] for each in found) / len(took) * MILLISECONDS, 2),
    }


def by_processes(place: Path, cues: dict[str, Any], count: int, seconds: float) -> list[dict[str, Any]]:
    """What each of so many processes did, all at the same time."""
    spawning = multiprocessing.get_context("spawn")
    with spawning.Manager() as manager:
        ready = manager.Barrier(count)
        with spawning.Pool(count) as pool:
            return pool.starmap(worked, [(place, cues, 1, seconds, ready)] * count)


def worked(place: Path, cues: dict[str, Any], threads: int, seconds: float, ready: Any = None) -> dict[str, Any]:
    """Recalls by so many threads of this process: how long each took, and the processor's time of all."""

    def embed(texts: list[str]) -> list[Any]:
        return [cues[text] for text in texts]

    with AdaptiveMemory.open(place, embedder=embed, policy=WITH_WORDS) as memory:
        user = memory.for_user("user 0")
        for name in list(cues)[:20]:
            user.recall(name, k=5)
        if ready is not None:
            ready.wait()
        until, took = time.perf_counter() + seconds, list[list[float]]()
        running = [threading.Thread(target=recalls, args=(user, cues, until, took, which)) for which in range(threads)]
        began, cpu = time.perf_counter(), time.process_time()
        for one in running:
            one.start()
        for one in running:
            one.join()
        spent = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}
        if ready is not None:
            ready.wait()
    return {"took": [one for each in took for one in each], **spent}


def recalls(user: Any, cues: dict[str, Any], until: float, took: list[list[float]], which: int) -> None:
    names, own = list(cues), list[float]()
    order = np.random.default_rng(which).permutation(len(names)).tolist()
    while (began := time.perf_counter()) < until:
        user.recall(names[order[len(own) % len(names)]], k=5)
        own.append(time.perf_counter() - began)
    took.append(own)


if __name__ == "__main__":
    main()
