"""What does a memory cost over the plain collection? Ratios from one run, calls taken in turn.

    python -m benchmarks.speed [--sizes 1000 10000 100000]

Embedded Chroma, 384 dimensions, ten users, ledger and log on. "plain" is `collection.query(n_results=20)` and
`collection.add` with the same vectors, metadata and user filter. While the projector writes, every read counts, so it
always has something to write.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chromadb
import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from benchmarks.report import percentiles, print_table, write_json

DIMENSION, USERS = 384, 10
MILLISECONDS = 1_000.0
EVERY_READ_COUNTS = Policy(refresh_floor_seconds=0.0)
Samples = list[float]


@dataclass(frozen=True)
class World:
    """A filled collection, plain and through a memory, with vectors looked up by text."""

    vectors: dict[str, Any]
    cues: Sequence[str]
    collection: Any
    memory: AdaptiveMemory

    @property
    def user(self) -> UserMemory:
        return self.memory.for_user("user 0")

    def plain(self, cue: str) -> Any:
        where: Any = {"user_id": "user 0"}
        return self.collection.query(query_embeddings=[self.vectors[cue]], n_results=20, where=where)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=20.0, help="of recalls while the projector writes")
    parser.add_argument("--most-added", type=int, default=10_000, help="records in the comparison of writing")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row for size in arguments.sizes for row in rows_of(size, arguments)]
    rows.append(row("importing", "-", imports("adaptive_memory_core.memory"), imports("chromadb"), "p50"))
    print_table(rows, title="Cost over plain Chroma (ratio = ours / plain)")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(size: int, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        vectors = clustered(size)
        cues = [f"cue {number}" for number in range(1_000)]
        vectors.update(near(vectors, cues))
        memory, collection = opened(Path(folder) / "ours", vectors)
        with memory:
            written, added = fill(memory, Path(folder) / "plain", vectors, size, arguments.most_added)
            world = World(vectors, cues, collection, memory)
            plain, recalls = in_turn(world, arguments.rounds)
            busy = while_writing(world, arguments.seconds)
    if added:
        yield row("remember_many", size, written, added, "p50")
        yield {**row("remember_many, all", size, [sum(written)], [sum(added)], "p50"), "calls": len(written)}
    yield row("recall", size, recalls, plain, "p50")
    yield row("recall", size, recalls, plain, "p95")
    yield row("recall while writing back", size, busy, plain, "p95")


def row(what: str, size: int | str, ours: Samples, plain: Samples, quantile: str) -> dict[str, Any]:
    one, other = percentiles(ours)[quantile], percentiles(plain)[quantile]
    return {
        "what": what,
        "records": size,
        "at": quantile,
        "plain ms": round(other * MILLISECONDS, 2),
        "ours ms": round(one * MILLISECONDS, 2),
        "ratio": round(one / other, 2),
        "added ms": round((one - other) * MILLISECONDS, 2),
        "calls": len(ours),
    }


def clustered(size: int) -> dict[str, Any]:
    """Unit vectors around a thousand centres, as texts are, not spread evenly as no text is."""
    chance = np.random.default_rng(0)
    centres = chance.normal(size=(1_000, DIMENSION))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows = centres[chance.integers(0, 1_000, size)] + 0.06 * chance.normal(size=(size, DIMENSION))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return {f"text {number}": vector for number, vector in enumerate(rows.astype(np.float32))}


def near(vectors: dict[str, Any], cues: Sequence[str]) -> dict[str, Any]:
    chance = np.random.default_rng(1)
    texts = list(vectors)
    picked = chance.integers(0, len(texts), len(cues))
    noise = 0.03 * chance.normal(size=(len(cues), DIMENSION)).astype(np.float32)
    return {cue: vectors[texts[at]] + noise[number] for number, (cue, at) in enumerate(zip(cues, picked, strict=True))}


def opened(path: Path, vectors: dict[str, Any]) -> tuple[AdaptiveMemory, Any]:
    collection = plain_collection(path)
    return AdaptiveMemory(collection, embedder=lambda texts: [vectors[text] for text in texts]), collection


def plain_collection(path: Path) -> Any:
    client = chromadb.PersistentClient(str(path))
    return client.create_collection("speed", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})


def users(size: int) -> Iterator[tuple[str, list[str]]]:
    for user in range(USERS):
        yield f"user {user}", [f"text {number}" for number in range(user, size, USERS)]


def fill(memory: AdaptiveMemory, plain: Path, vectors: dict[str, Any], size: int, most: int) -> tuple[Samples, Samples]:
    """Seconds for each batch that was remembered, and for the same one added plainly (not for large collections)."""
    collection = plain_collection(plain) if size <= most else None
    written: Samples = []
    added: Samples = []
    for user, texts in batches(size):
        if collection is not None:
            added.append(timed(lambda user=user, texts=texts: add(collection, vectors, user, texts)))  # type: ignore[misc]
        written.append(timed(lambda user=user, texts=texts: memory.for_user(user).remember_many(texts)))  # type: ignore[misc]
    return written, added


def batches(size: int) -> Iterator[tuple[str, list[str]]]:
    """What each user remembers, at most 500 at a time."""
    for user in range(USERS):
        own = [f"text {number}" for number in range(user, size, USERS)]
        for start in range(0, len(own), 500):
            yield f"user {user}", own[start : start + 500]


def add(collection: Any, vectors: dict[str, Any], user: str, texts: list[str]) -> None:
    """The same records by hand: ids, texts, vectors and as many keys of metadata."""
    ours = {
        "kind": "event",
        "importance": 0.5,
        "created_at": 1.7e9,
        "retrieval_count": 0,
        "remembered": 0,
        "strength": 1.0,
    }
    collection.add(
        ids=[str(uuid.uuid4()) for _ in texts],
        documents=texts,
        embeddings=[vectors[text] for text in texts],
        metadatas=[{"user_id": user, **ours} for _ in texts],
    )


def in_turn(world: World, rounds: int) -> tuple[Samples, Samples]:
    plain: Samples = []
    ours: Samples = []
    for number in range(rounds + 20):
        cue = world.cues[number % len(world.cues)]
        plain.append(timed(lambda cue=cue: world.plain(cue)))  # type: ignore[misc]
        ours.append(timed(lambda cue=cue: world.user.recall(cue, k=5)))  # type: ignore[misc]
    return plain[20:], ours[20:]


def while_writing(world: World, seconds: float) -> Samples:
    """Recalls that all count, so that the projector always has something to write."""
    samples: Samples = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        cue = world.cues[len(samples) % len(world.cues)]
        samples.append(timed(lambda cue=cue: world.user.recall(cue, k=5, policy=EVERY_READ_COUNTS)))  # type: ignore[misc]
    return samples


def imports(package: str) -> Samples:
    """Seconds that an interpreter takes to start and import a package or a module, five times."""
    command = [sys.executable, "-c", f"import {package}"]
    return [timed(lambda: subprocess.run(command, check=True)) for _ in range(5)]


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
