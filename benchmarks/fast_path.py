"""How much faster than the query it replaces is a recall? In turn with Chroma's query and numpy.

    python -m benchmarks.fast_path [--cases 1000x1 10000x1 100000x1 100000x10 100000x1000] [--keep FOLDER]

A case is records x users. Each call is `recall(k=5)` of one user with vectors and words, ledger and log on, and then
`collection.query(n_results=20)` with that user as the filter and without a filter, and a bare numpy product over the
user's vectors with `argpartition`. The first recall of an opened memory is "cold": it loads what is the user's.
`--keep` keeps the filled directories, and fills none that is there.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import chromadb
import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy
from benchmarks.report import percentiles, print_table, write_json

DIMENSION, CUES, PAGE = 384, 200, 2_000
MILLISECONDS = 1_000.0
WITH_WORDS = Policy(channels=("dense", "lexical"))
LEXICON = 20_000  # different words, used as often as words are


class Case(NamedTuple):
    """So many records, spread over so many users."""

    records: int
    users: int


class Sample(NamedTuple):
    """Seconds that each way took."""

    recall: float
    recall_cpu: float
    filtered: float
    unfiltered: float
    numpy: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=case_of, nargs="+", default=[Case(1_000, 1), Case(10_000, 1)])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [measured(case, arguments.rounds, arguments.keep) for case in arguments.cases]
    print_table(rows, title="A recall beside the queries it replaces (median; ratio = query / recall)")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def case_of(text: str) -> Case:
    """
    >>> case_of("1000x10")
    Case(records=1000, users=10)
    """
    records, _, users = text.partition("x")
    return Case(int(records), int(users or 1))


def measured(case: Case, rounds: int, keep: Path | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        place = (keep or Path(folder)) / f"{case.records}x{case.users}"
        vectors = vectors_of(case.records)
        if not place.exists():
            fill(place, case, vectors)
        cues = {f"{text_of(number)}?": near(vectors[number]) for number in range(CUES)}
        began = time.perf_counter()
        memory = AdaptiveMemory.open(place, embedder=lambda texts: [cues[text] for text in texts], policy=WITH_WORDS)
        opened = time.perf_counter() - began
        with memory:
            memory.sync()
            user, own = memory.for_user("user 0"), np.ascontiguousarray(vectors[:: case.users])
            before = resident_bytes()
            cold = timed(lambda: user.recall(next(iter(cues)), k=5))
            grown = resident_bytes() - before
            samples = list(in_turn(memory, own, cues, rounds))
    return row(case, samples, cold=cold, opened=opened, grown=grown)


def row(case: Case, samples: list[Sample], *, cold: float, opened: float, grown: int) -> dict[str, Any]:
    spread = {name: percentiles([getattr(one, name) for one in samples]) for name in Sample._fields}
    middle = {name: one["p50"] for name, one in spread.items()}
    return {
        "records": case.records,
        "users": case.users,
        **{f"{name} ms": round(seconds * MILLISECONDS, 2) for name, seconds in middle.items()},
        **{f"{name} p95 ms": round(one["p95"] * MILLISECONDS, 2) for name, one in spread.items()},
        "x filtered": round(middle["filtered"] / middle["recall"], 1),
        "x unfiltered": round(middle["unfiltered"] / middle["recall"], 1),
        "cold ms": round(cold * MILLISECONDS, 1),
        "open ms": round(opened * MILLISECONDS, 1),
        "MB a user": round(grown / 1e6, 1),
        "calls": len(samples),
    }


def in_turn(memory: AdaptiveMemory, own: Any, cues: dict[str, Any], rounds: int) -> Iterator[Sample]:
    inside: Any = memory.ports().records
    user, collection, names = memory.for_user("user 0"), inside.collection, list(cues)
    where: Any = {"user_id": "user 0"}
    for number in range(rounds + 5):
        name = names[number % len(names)]
        vector = cues[name]
        cpu = time.thread_time()
        recall = timed(lambda name=name: user.recall(name, k=5))  # type: ignore[misc]
        cpu = time.thread_time() - cpu
        filtered = timed(lambda v=vector: collection.query(query_embeddings=[v], n_results=20, where=where))  # type: ignore[misc]
        unfiltered = timed(lambda v=vector: collection.query(query_embeddings=[v], n_results=20))  # type: ignore[misc]
        bare = timed(lambda v=vector: np.argpartition(own @ v, max(0, len(own) - 20)))  # type: ignore[misc]
        if number >= 5:
            yield Sample(recall, cpu, filtered, unfiltered, bare)


def fill(place: Path, case: Case, vectors: Any) -> None:
    """A collection as another program would have written it, and the copies of it that a memory makes."""
    client = chromadb.PersistentClient(str(place))
    configuration: Any = {"hnsw": {"space": "cosine"}}
    collection = client.create_collection("memories", embedding_function=None, configuration=configuration)
    for start in range(0, case.records, PAGE):
        numbers = range(start, min(start + PAGE, case.records))
        collection.add(
            ids=[f"m{number}" for number in numbers],
            documents=[text_of(number) for number in numbers],
            embeddings=vectors[start : start + PAGE],
            metadatas=[
                {"user_id": f"user {number % case.users}", "kind": "event", "created_at": 1.7e9 + number, "topic": "t"}
                for number in numbers
            ],
        )
    with AdaptiveMemory(collection, embedder=lambda texts: vectors[: len(texts)], policy=WITH_WORDS) as memory:
        memory.sync()


def vectors_of(size: int) -> Any:
    """Unit vectors around a thousand centres, as texts are, not spread evenly as no text is."""
    chance = np.random.default_rng(0)
    centres = chance.normal(size=(1_000, DIMENSION))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows = centres[chance.integers(0, 1_000, size)] + 0.06 * chance.normal(size=(size, DIMENSION))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def near(vector: Any) -> Any:
    noise = np.random.default_rng(abs(hash(vector.tobytes())) % 2**32).normal(size=DIMENSION)
    moved = vector + 0.03 * noise
    return (moved / np.linalg.norm(moved)).astype(np.float32)


def text_of(number: int) -> str:
    """Fifteen words, few of them often and most of them seldom."""
    drawn = np.random.default_rng(number).zipf(1.3, 15) % LEXICON
    return " ".join(f"word{one}" for one in drawn.tolist())


def resident_bytes() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
