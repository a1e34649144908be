"""What do words cost beside vectors? Ratios to the plain collection from one run, calls taken in turn.

    python -m benchmarks.speed_words [--sizes 1000 10000] [--rounds 200]

Embedded Chroma, one user, texts of made-up words as rare and as common as words are, vectors looked up by text under
the name of the bundled embedder, so that the memory finds by words as it does by default. "plain" is
`collection.query(n_results=20)` with the same user filter, and `collection.add`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Policy
from adaptive_memory_core.models.embedder import as_embedder
from benchmarks.report import print_table, write_json
from benchmarks.speed import Samples, add, clustered, plain_collection, row, timed

VOCABULARY, LENGTH, BATCH, WARM = 20_000, 24, 500, 20
USER = "user 0"
MEMORIES = {"words": Policy(), "vectors": Policy(channels=("dense",))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [one for size in arguments.sizes for one in rows_of(size, arguments.rounds)]
    print_table(rows, title="Cost of words over plain Chroma (ratio = ours / plain)")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(size: int, rounds: int) -> Iterator[dict[str, Any]]:
    texts, cues = spoken(size, LENGTH, seed=0), spoken(rounds + WARM, 6, seed=1)
    vectors = dict(zip([*texts, *cues], clustered(size + len(cues)).values(), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        plain = plain_collection(Path(folder) / "plain")
        words, dense = (opened(Path(folder) / name, vectors, policy) for name, policy in MEMORIES.items())
        with closing(words), closing(dense):
            memories = {"words": words, "vectors": dense}
            written = filled(plain, memories, vectors, texts)
            asked = recalled(plain, memories, vectors, cues)
    for name in MEMORIES:
        whole = row(f"remember_many, {name}", size, [sum(written[name])], [sum(written["plain"])], "p50")
        yield {**whole, "calls": len(written[name])}
    for name in MEMORIES:
        for quantile in ("p50", "p95"):
            yield row(f"recall, {name}", size, asked[name], asked["plain"], quantile)


def spoken(count: int, length: int, *, seed: int) -> list[str]:
    """Texts whose n-th commonest word comes as often as its rank lets it (Zipf), no two alike."""
    chance = np.random.default_rng(seed)
    often = 1.0 / np.arange(1, VOCABULARY + 1)
    picked = chance.choice(VOCABULARY, size=(count, length), p=often / often.sum())
    return [" ".join([*(f"w{word:x}" for word in words), f"text{seed}n{n}"]) for n, words in enumerate(picked.tolist())]


def opened(path: Path, vectors: dict[str, Any], policy: Policy) -> AdaptiveMemory:
    embedder = as_embedder(lambda texts: [vectors[text] for text in texts], name=LocalEmbedder.name)
    return AdaptiveMemory(plain_collection(path), embedder=embedder, policy=policy)


def filled(
    plain: Any, memories: dict[str, AdaptiveMemory], vectors: dict[str, Any], texts: Sequence[str]
) -> dict[str, Samples]:
    """Seconds for each batch, by hand and through the memories."""
    seconds: dict[str, Samples] = {"plain": [], **{name: [] for name in memories}}
    for start in range(0, len(texts), BATCH):
        batch = list(texts[start : start + BATCH])
        seconds["plain"].append(timed(lambda batch=batch: add(plain, vectors, USER, batch)))  # type: ignore[misc]
        for name, memory in memories.items():
            user = memory.for_user(USER)
            seconds[name].append(timed(lambda user=user, batch=batch: user.remember_many(batch)))  # type: ignore[misc]
    return seconds


def recalled(
    plain: Any, memories: dict[str, AdaptiveMemory], vectors: dict[str, Any], cues: Sequence[str]
) -> dict[str, Samples]:
    """Seconds for each cue, by hand and through the memories, without the first few."""
    seconds: dict[str, Samples] = {"plain": [], **{name: [] for name in memories}}
    where: Any = {"user_id": USER}
    for cue in cues:
        ask: Any = {"query_embeddings": [vectors[cue]], "n_results": 20, "where": where}
        seconds["plain"].append(timed(lambda ask=ask: plain.query(**ask)))  # type: ignore[misc]
        for name, memory in memories.items():
            user = memory.for_user(USER)
            seconds[name].append(timed(lambda user=user, cue=cue: user.recall(cue, k=5)))  # type: ignore[misc]
    return {name: samples[WARM:] for name, samples in seconds.items()}


if __name__ == "__main__":
    main()
