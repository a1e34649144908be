"""What does the LangChain retriever cost over the plain one? Ratios from one run, calls taken in turn.

    python -m benchmarks.langchain_speed [--size 10000] [--rounds 300]

Embedded Chroma, 384 dimensions, k=4, ledger and log on, every read counted, all records of one user. Over the same
records: plain `as_retriever(k=4)` of langchain_chroma with that user as its filter, as one must set it where a store
has several, and without a filter; and the time-weighted retriever of langchain_classic with its own settings (100
candidates; its state lives in RAM, ours in a file). The embeddings are looked up, so that they cost nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import chromadb
from langchain_chroma import Chroma
from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever

from adaptive_memory_core import Policy
from benchmarks.report import percentiles, print_table, write_json
from benchmarks.speed import clustered, near
from langchain_adaptive_memory import AdaptiveMemoryRetriever

K, AT_ONCE, WARM_UP, BATCH = 4, 20, 20, 2_000
MILLISECONDS = 1_000.0
USER = "ana"
EVERY_READ_COUNTS = Policy(refresh_floor_seconds=0.0)
Samples = list[float]


class Known(Embeddings):
    """Vectors that were made before."""

    def __init__(self, vectors: dict[str, Any]) -> None:
        self.vectors = {text: vector.tolist() for text, vector in vectors.items()}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self.vectors[text]
        return vector


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        rows = measured(Path(folder), arguments.size, arguments.rounds)
    print_table(
        rows, title="LangChain retrievers, k=4 (ratios = to plain as_retriever, without and with a user filter)"
    )
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def measured(folder: Path, size: int, rounds: int) -> list[dict[str, Any]]:
    vectors = clustered(size)
    cues = [f"cue {number}" for number in range(1_000)]
    vectors.update(near(vectors, cues))
    embeddings = Known(vectors)
    texts = [f"text {number}" for number in range(size)]
    store = filled(folder / "ours", embeddings, texts)
    plain = store.as_retriever(search_kwargs={"k": K})
    of_user = store.as_retriever(search_kwargs={"k": K, "filter": {"user_id": USER}})
    with AdaptiveMemoryRetriever.from_vectorstore(store, k=K, user_id=USER, policy=EVERY_READ_COUNTS) as ours:
        peers: dict[str, BaseRetriever] = {
            "plain": plain,
            "plain, of the user": of_user,
            "adaptive": ours,
            "time-weighted": time_weighted(folder / "theirs", embeddings, texts),
        }
        one_by_one = in_turn(peers, cues, rounds)
        at_once = asyncio.run(gathered(peers, cues, max(rounds // 10, 5)))
    return [*compared("invoke", one_by_one), *compared(f"ainvoke, {AT_ONCE} at once", at_once)]


def filled(path: Path, embeddings: Embeddings, texts: Sequence[str]) -> Chroma:
    """A vector store as a user of LangChain has it: nothing of ours in it."""
    client = chromadb.PersistentClient(str(path))
    cosine: Any = {"hnsw": {"space": "cosine"}}
    store = Chroma("speed", embeddings, client=client, collection_configuration=cosine)
    for start in range(0, len(texts), BATCH):
        batch = list(texts[start : start + BATCH])
        store.add_texts(batch, [{"source": "chat", "page": number, "user_id": USER} for number in range(len(batch))])
    return store


def time_weighted(path: Path, embeddings: Embeddings, texts: Sequence[str]) -> TimeWeightedVectorStoreRetriever:
    """The built-in one, over a store of its own: it fills it itself, and keeps a copy of all in RAM."""
    retriever = TimeWeightedVectorStoreRetriever(vectorstore=filled(path, embeddings, []), k=K)
    now = time.time()
    for start in range(0, len(texts), BATCH):
        keys: dict[str, Any] = {"source": "chat", "last_accessed_at": now, "created_at": now}
        retriever.add_documents([Document(text, metadata=dict(keys)) for text in texts[start : start + BATCH]])
    return retriever


def in_turn(peers: dict[str, BaseRetriever], cues: Sequence[str], rounds: int) -> dict[str, Samples]:
    """Seconds of each call; in each round every retriever is asked the same."""
    samples: dict[str, Samples] = {name: [] for name in peers}
    for number in range(rounds + WARM_UP):
        cue = cues[number % len(cues)]
        for name, retriever in turned(peers, number):
            samples[name].append(timed(lambda retriever=retriever, cue=cue: retriever.invoke(cue)))  # type: ignore[misc]
    return {name: taken[WARM_UP:] for name, taken in samples.items()}


async def gathered(peers: dict[str, BaseRetriever], cues: Sequence[str], rounds: int) -> dict[str, Samples]:
    """Seconds per call while so many are under way at once."""
    samples: dict[str, Samples] = {name: [] for name in peers}
    for number in range(rounds + 2):
        asked = [cues[(number * AT_ONCE + one) % len(cues)] for one in range(AT_ONCE)]
        for name, retriever in turned(peers, number):
            calls = [retriever.ainvoke(cue) for cue in asked]
            samples[name].append(await waited(calls) / AT_ONCE)
    return {name: taken[2:] for name, taken in samples.items()}


def turned(peers: dict[str, BaseRetriever], number: int) -> list[tuple[str, BaseRetriever]]:
    """Each of them first as often as the others: what one leaves in the caches must favour none."""
    listed = list(peers.items())
    first = number % len(listed)
    return listed[first:] + listed[:first]


def compared(what: str, samples: dict[str, Samples]) -> list[dict[str, Any]]:
    return [
        {
            "what": what,
            "retriever": name,
            "p50 ms": round(percentiles(taken)["p50"] * MILLISECONDS, 2),
            "p95 ms": round(percentiles(taken)["p95"] * MILLISECONDS, 2),
            "ratio": round(percentiles(taken)["p50"] / percentiles(samples["plain"])["p50"], 2),
            "to filtered": round(percentiles(taken)["p50"] / percentiles(samples["plain, of the user"])["p50"], 2),
            "ratio at p95": round(percentiles(taken)["p95"] / percentiles(samples["plain"])["p95"], 2),
            "calls": len(taken),
        }
        for name, taken in samples.items()
    ]


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


async def waited(calls: Sequence[Awaitable[object]]) -> float:
    start = time.perf_counter()
    await asyncio.gather(*calls)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
