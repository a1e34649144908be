"""What does a recall over everyone's records cost? Thread CPU beside a recall over as many records of the user's own.

    python -m benchmarks.speed_over_everyone [--size 1000] [--rounds 200] [--others 0 30]

Embedded Chroma, texts of made-up words, vectors and words both, calls taken in turn. Half of the reader's records are
everyone's; `others` are further users with 20 records each, whom a search over everyone's has to look past.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, UserMemory
from benchmarks.report import print_table
from benchmarks.speed import clustered
from benchmarks.speed_words import LENGTH, MEMORIES, WARM, opened, spoken

OWN_OF_OTHERS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--others", type=int, nargs="+", default=[0, 30])
    arguments = parser.parse_args()
    rows = [one for others in arguments.others for one in rows_of(arguments.size, arguments.rounds, others)]
    print_table(rows, title="Recalls over everyone's records (ratio = thread CPU over / own)")


def rows_of(size: int, rounds: int, others: int) -> Iterator[dict[str, Any]]:
    texts = spoken(2 * size + OWN_OF_OTHERS * others, LENGTH, seed=0)
    cues = spoken(rounds + WARM, 6, seed=1)
    vectors = dict(zip([*texts, *cues], clustered(len(texts) + len(cues)).values(), strict=True))
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), vectors, MEMORIES["words"]) as memory:
        _fill(memory, texts, size, others)
        scopes = {"own": memory.for_user("solo"), "over": memory.for_user("reader", over="everyone")}
        took = _recalled(scopes, cues)
    own, over = (float(np.median(took[name])) for name in ("own", "over"))
    yield {"records": size, "others": others, "own ms": own, "over ms": over, "ratio": over / own}


def _fill(memory: AdaptiveMemory, texts: list[str], size: int, others: int) -> None:
    left = iter(texts)
    for scope, count in (
        (memory.for_user("solo"), size),
        (memory.for_user("reader"), size // 2),
        (memory.for_everyone(), size - size // 2),
        *((memory.for_user(f"other {one}"), OWN_OF_OTHERS) for one in range(others)),
    ):
        scope.remember_many([next(left) for _ in range(count)])
    memory.flush()


def _recalled(scopes: dict[str, UserMemory], cues: list[str]) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {name: [] for name in scopes}
    for number, cue in enumerate(cues):
        for name, scope in scopes.items():
            began = time.thread_time()
            scope.recall(cue, k=5)
            if number >= WARM:
                took[name].append(1000.0 * (time.thread_time() - began))
    return took


if __name__ == "__main__":
    main()
