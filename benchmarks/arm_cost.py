"""What does a recall cost when the memory is full of stale records? Flat, beside Algorithm 1 as the paper prints it.

    python -m benchmarks.arm_cost [--sizes 1000 10000 100000] [--ledger-sizes 1000 10000 100000 1000000]

First with vectors: one user, all records faded but for fifty new ones, profile `aggressive`; a recall that widens until
nothing unseen could win, a plain `collection.query` and the naive sweep (numpy, the vectors of all stale records times
alpha after each query), in turn. Then the ledger alone, without vectors: the transaction of a recall (step, five reads,
log) and the naming of the records that are still strong, beside the naive sweep over as many strengths.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import chromadb
import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy, ReadState, Record, Scope, Scored, SQLiteLedger
from adaptive_memory_core.flow.ports.ledger_values import Extent, RecallEntry
from adaptive_memory_core.learn import decay as remembrance
from adaptive_memory_core.learn.decay import strong_since
from adaptive_memory_core.policy.learning import Phase, Regime
from adaptive_memory_core.records import NEVER_READ, Seen
from adaptive_memory_core.reports import Hit
from benchmarks.report import percentiles, print_table, write_json

DIMENSION, K, NEW, STEPS = 128, 5, 50, 60
FRESH = Seen(NEVER_READ, None)
ARM = Policy.preset("aggressive").replace(decay={"grace": 1})
REGIME = Regime((Phase(ARM.pace, 0.0),))
USER = Scope("user")
MILLISECONDS = 1_000.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--ledger-sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    recalls = [recall_row(size, arguments.rounds) for size in arguments.sizes]
    print_table(recalls, title="A recall among stale records (p50)")
    ledgers = [ledger_row(size, arguments.rounds) for size in arguments.ledger_sizes]
    print_table(ledgers, title="The ledger alone (p50)")
    if arguments.json:
        write_json(arguments.json, [*recalls, *ledgers], command=sys.argv, settings=vars(arguments))


def recall_row(size: int, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        vectors = _vectors(size + NEW)
        memory, collection = _opened(Path(folder), vectors)
        with memory:
            user = memory.for_user("user")
            user.remember_many([f"text {number}" for number in range(size)])
            for number in range(STEPS):
                user.recall(f"text {number}", k=K)
            user.remember_many([f"text {number}" for number in range(size, size + NEW)])
            naive = Naive(np.stack([vectors[f"text {number}"] for number in range(size)]))
            cues = [f"text {number}" for number in np.random.default_rng(2).integers(0, size, rounds + 5)]
            calls: dict[str, Callable[[str], object]] = {
                "ours": lambda cue: user.recall(cue, k=K),
                "plain": lambda cue: collection.query(
                    query_embeddings=[vectors[cue]], n_results=20, where={"user_id": "user"}
                ),
                "naive": lambda cue: naive.query(vectors[cue]),
            }
            times = _in_turn(calls, cues)
            update = memory.for_user("user").stats().update_ms
    return {
        "stale records": size,
        "recall ms": times["ours"],
        "of that, writing ms": round(update or 0.0, 2),
        "plain query ms": times["plain"],
        "recall / plain": round(times["ours"] / times["plain"], 2),
        "naive search and sweep ms": times["naive"],
    }


def ledger_row(size: int, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        ledger = SQLiteLedger(str(Path(folder) / "ledger.sqlite3"))
        ledger.attach("benchmark", "benchmark")
        for start in range(0, size, 10_000):
            ledger.states.enrol(
                USER, {f"old {number}": FRESH for number in range(start, min(size, start + 10_000))}, now=0.0
            )
        for number in range(STEPS):
            _record(ledger, f"fading {number}", number)
        ledger.states.enrol(USER, {f"new {number}": FRESH for number in range(NEW)}, now=0.0)
        naive = Naive(np.ones((size, 1), dtype=np.float32))
        calls: dict[str, Callable[[str], object]] = {
            "update": lambda name: _record(ledger, name, int(name) % size),
            "strong": lambda _: ledger.states.strong(
                USER,
                0.5,
                lambda timeline: strong_since(timeline, 0.5, now=1.0),
                extent=Extent(size + NEW, None),
                limit=2_000,
                turn=None,
            ),
            "naive": lambda _: naive.decay(),
        }
        times = _in_turn(calls, [str(number) for number in range(rounds + 5)])
        strong = calls["strong"]("")
        ledger.close()
    return {
        "stale records": size,
        "update ms": times["update"],
        "naming the strong ms": times["strong"],
        "strong": len(strong) if isinstance(strong, list) else "too many",
        "naive sweep of strengths ms": times["naive"],
    }


class Naive:
    """Algorithm 1: the vectors themselves, all of the stale ones multiplied after each query."""

    def __init__(self, vectors: Any) -> None:
        self.vectors, self.step = vectors, 10**6
        self.last, self.remembered = np.zeros(len(vectors), dtype=int), np.zeros(len(vectors), dtype=bool)

    def query(self, cue: Any) -> Any:
        found = np.argpartition(-(self.vectors @ cue), K)[:K]
        self.last[found] = self.step
        self.decay()
        return found

    def decay(self) -> None:
        self.step += 1
        stale = ~self.remembered & (self.step - self.last > ARM.decay.grace)
        self.vectors[stale] *= 0.999_999  # as costly as alpha, without running into denormal numbers


def _record(ledger: SQLiteLedger, name: str, number: int) -> None:
    ids = [f"old {number + offset}" for offset in range(K)]
    kept = [Scored(Hit(Record(one, one), 0.5, one), 0.5, {"similarity": 0.5}, {"similarity": 0.5}) for one in ids]
    entry = RecallEntry(name, 1.0, "cue", K, ARM.hash, ARM.to_json(), kept, [], REGIME, ARM.pace, None, {}, None, True)
    rule = partial(remembrance.states_after_read, policy=ARM, now=1.0)
    ledger.recalls.count(USER, entry, dict.fromkeys(ids, Seen(ReadState(), None)), rule)


def _in_turn(calls: dict[str, Callable[[str], object]], arguments: list[str]) -> dict[str, float]:
    """The median time of each call in milliseconds, the first five left out."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for argument in arguments:
        for name, call in calls.items():
            start = time.perf_counter()
            call(argument)
            samples[name].append(time.perf_counter() - start)
    return {name: round(percentiles(taken[5:])["p50"] * MILLISECONDS, 2) for name, taken in samples.items()}


def _vectors(size: int) -> dict[str, Any]:
    return dict(_clustered(size))


def _clustered(size: int) -> Iterator[tuple[str, Any]]:
    """Unit vectors around a hundred centres, so that every cue has many near neighbours."""
    chance = np.random.default_rng(0)
    centres = chance.normal(size=(100, DIMENSION))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows = centres[chance.integers(0, 100, size)] + 0.06 * chance.normal(size=(size, DIMENSION))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    for number, vector in enumerate(rows):
        yield f"text {number}", vector


def _opened(path: Path, vectors: dict[str, Any]) -> tuple[AdaptiveMemory, Any]:
    client = chromadb.PersistentClient(str(path))
    configuration: Any = {"hnsw": {"space": "cosine"}}
    collection = client.create_collection("arm", embedding_function=None, configuration=configuration)
    memory = AdaptiveMemory(collection, embedder=lambda texts: [vectors[text] for text in texts], policy=ARM)
    return memory, collection


if __name__ == "__main__":
    main()
