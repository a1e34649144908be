"""How long does a recall wait while another call does something that takes long?

    python -m benchmarks.waits_beside [--records 10000] [--lines 5000] [--keep FOLDER]

One thread recalls as a user with so many records and so many lines in the log, 100 times a second at the most; the main
thread makes one call after the other. `--keep` names the folder of `benchmarks.fast_path`, of which a copy is used.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, UserMemory
from benchmarks.fast_path import CUES, MILLISECONDS, WITH_WORDS, Case, fill, near, text_of, vectors_of
from benchmarks.report import percentiles, print_table

BETWEEN_SECONDS, BEFORE_SECONDS, AFTER_SECONDS = 0.01, 0.3, 0.6
OTHERS, FORGOTTEN, LOOKED_AT = 500, 10, 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--lines", type=int, default=5_000)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    vectors = vectors_of(given.records)
    cues = {f"{text_of(number)}?": near(vectors[number]) for number in range(CUES)}

    def embed(texts: list[str]) -> list[Any]:
        return [cues[text] if text in cues else vectors[len(text) % len(vectors)] for text in texts]

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "memory"
        kept = given.keep and given.keep / f"{given.records}x1"
        if kept and kept.exists():
            shutil.copytree(kept, place)
        else:
            fill(place, Case(given.records, 1), vectors)
        with AdaptiveMemory.open(place, embedder=embed, policy=WITH_WORDS) as memory:
            rows = list(measured(memory, list(cues), given.lines, Path(folder)))
    print_table(rows, title=f"Recalls of a user with {given.records:,} records beside other calls")


def measured(memory: AdaptiveMemory, cues: list[str], lines: int, folder: Path) -> Any:
    user, other = memory.for_user("user 0"), memory.for_user("zoe")
    other.remember_many([f"Zoe said {text_of(number)}" for number in range(OTHERS)])
    for number in range(max(0, lines - user.stats().logged_recalls)):
        user.recall(cues[number % len(cues)], k=5)
    memory.flush()
    took: list[tuple[float, float]] = []
    ending = threading.Event()
    recalling = threading.Thread(target=recall_on, args=(user, cues, took, ending), daemon=True)
    recalling.start()
    for name, call in calls(memory, user, other, folder).items():
        time.sleep(BEFORE_SECONDS)
        began = time.perf_counter()
        call()
        ended = time.perf_counter()
        time.sleep(AFTER_SECONDS)
        waits = [seconds for at, seconds in list(took) if at >= began]
        yield {
            "call": name,
            "took ms": round((ended - began) * MILLISECONDS),
            "recalls": len(waits),
            "median ms": round(percentiles(waits)["p50"] * MILLISECONDS, 1),
            "longest ms": round(max(waits) * MILLISECONDS),
        }
    ending.set()
    recalling.join()


def recall_on(user: UserMemory, cues: list[str], took: list[tuple[float, float]], ending: threading.Event) -> None:
    while not ending.wait(BETWEEN_SECONDS):
        began = time.perf_counter()
        user.recall(cues[len(took) % len(cues)], k=5)
        took.append((began, time.perf_counter() - began))


def calls(memory: AdaptiveMemory, user: UserMemory, other: UserMemory, folder: Path) -> dict[str, Callable[[], object]]:
    """What others do meanwhile, the least first."""
    return {
        "nothing": lambda: time.sleep(2),
        "remember_many": lambda: other.remember_many([f"new {text_of(number)}" for number in range(OTHERS)]),
        "recalls": lambda: user.recalls(limit=LOOKED_AT),
        "stats": user.stats,
        "export_state": user.export_state,
        "forget": lambda: [user.forget(f"m{number}") for number in range(FORGOTTEN)],
        "what is due after it": lambda: time.sleep(15),
        "check": memory.check,
        "backup": lambda: memory.backup(folder / "backup"),
    }


if __name__ == "__main__":
    main()
