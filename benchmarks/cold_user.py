"""How long does the first recall of a user take that a process has not seen? `python -m benchmarks.cold_user`.

Each time a process of its own opens the directory, recalls as a user without records, so that what is imported and made
once is there, and then as the user: with the files beside the ledger, and without them, in turn.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Keeping
from benchmarks.fast_path import DIMENSION, MILLISECONDS, WITH_WORDS, Case, fill, resident_bytes, vectors_of
from benchmarks.report import percentiles, print_table

WAITED_SECONDS = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="a folder of benchmarks.fast_path")
    given = parser.parse_args()
    rows = [row for records in given.records for row in measured(records, given.rounds, given.keep)]
    print_table(rows, title="The first recall of a user (median)")


def measured(records: int, rounds: int, keep: Path | None) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        place = (keep or Path(folder)) / f"{records}x1"
        if not place.exists():
            fill(place, Case(records, 1), vectors_of(records))
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            pool.apply(written, (place,))
            found = [pool.apply(once, (place, files)) for _ in range(rounds) for files in (True, False)]
    return [
        {
            "records": records,
            "files": files,
            **{name: middle(found, name, files) for name in found[0] if name != "files"},
        }
        for files in (True, False)
    ]


def middle(found: list[dict[str, Any]], name: str, files: bool) -> float:
    return round(percentiles([one[name] for one in found if one["files"] is files])["p50"], 1)


def opened(place: Path, files: bool) -> AdaptiveMemory:
    vector = np.random.default_rng(1).normal(size=DIMENSION).astype(np.float32)
    keeping = Keeping() if files else Keeping(file_records=0)
    return AdaptiveMemory.open(
        place, embedder=lambda texts: [vector for _ in texts], policy=WITH_WORDS, keeping=keeping
    )


def written(place: Path) -> None:
    """Have the files made, where the user has so many records."""
    with opened(place, files=True) as memory:
        user, until = memory.for_user("user 0"), time.monotonic() + WAITED_SECONDS
        user.recall("word5 word77?", k=5)
        while user.stats().records >= Keeping().file_records and time.monotonic() < until:
            if len([one for one in place.glob("*.copies/*") if not one.suffix]) >= 2:
                return
            time.sleep(0.1)


def once(place: Path, files: bool) -> dict[str, Any]:
    began = time.perf_counter()
    memory = opened(place, files)
    took = time.perf_counter() - began
    with memory:
        memory.for_user("nobody").recall("word5 word77?", k=5)
        user, before = memory.for_user("user 0"), resident_bytes()
        began, cpu = time.perf_counter(), time.thread_time()
        user.recall("word5 word77?", k=5, reinforce=False)
        cold, cpu = time.perf_counter() - began, time.thread_time() - cpu
        grown = resident_bytes() - before
    told = {"first ms": cold, "first CPU ms": cpu, "open ms": took}
    return {"files": files, **{name: seconds * MILLISECONDS for name, seconds in told.items()}, "MB": grown / 1e6}


if __name__ == "__main__":
    main()
