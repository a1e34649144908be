"""Latency of recalls compared with Chroma's own query, and the machine and versions it was measured on."""

from __future__ import annotations

import os
import platform
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.intervals import Spread, spread
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.models.extras import PACKAGE, installed_version
from adaptive_memory_core.store.chroma.chroma_calls import own_filter
from adaptive_memory_core.user_memory import UserMemory

WORDS = 8  # first words of a record, used as a question
MILLISECONDS = 1_000.0


@dataclass(frozen=True, slots=True)
class LatencyComparison:
    """Milliseconds of both, from a question's text to its hits, including the embedding."""

    records: int  # of the user
    k: int
    recall: Spread
    chroma: Spread


def compare_latency(user: UserMemory, embedder: Embedder, *, k: int, questions: int, seed: int) -> LatencyComparison:
    """Ask both the first words of records drawn by the seed. The first question is untimed; nothing counts as read."""
    memory: Any = user.memory
    with memory.opened.call():
        query = _query(user, embedder, k)
        texts = [row.text or "" for page in memory.ports().records.pages(user.scope.own) for row in page]
    asked = _asked(texts, questions, seed)
    taken = list(_in_turn(lambda text: user.recall(text, k=k, reinforce=False), query, [asked[0], *asked]))[1:]
    return LatencyComparison(len(texts), k, spread(one for one, _ in taken), spread(other for _, other in taken))


def _query(user: UserMemory, embedder: Embedder, k: int) -> Callable[[str], object]:
    """Chroma's own query for the user's records, as a program without this memory would write it."""
    memory, records = user.memory, user.memory.ports().records
    where: Any = own_filter(user.scope.own, memory.fields)
    if not records.holds_collection:
        raise InvalidInputError(
            "Another process holds this directory, so Chroma cannot be asked from here. Close it, and try again."
        )
    if where is None:
        raise InvalidInputError("Chroma has no filter for records without a user. Name a user.")
    collection: Any = records.collection
    return lambda text: collection.query(query_embeddings=[embedder.embed_query(text)], n_results=k, where=where)


def _asked(texts: Sequence[str], questions: int, seed: int) -> list[str]:
    own = [" ".join(text.split()[:WORDS]) for text in texts if text.strip()]
    if not own:
        raise InvalidInputError("This user has no record with a text, so there is nothing to ask. Remember some first.")
    return random.Random(seed).sample(own, min(questions, len(own)))  # noqa: S311 - a draw, not a secret


def _in_turn(
    recall: Callable[[str], object], query: Callable[[str], object], asked: Sequence[str]
) -> Iterator[tuple[float, float]]:
    """Milliseconds of both for each question; the two alternate in going first."""
    for number, text in enumerate(asked):
        if number % 2:
            one, other = _timed(recall, text), _timed(query, text)
        else:
            other, one = _timed(query, text), _timed(recall, text)
        yield one, other


def _timed(ask: Callable[[str], object], text: str) -> float:
    begun = time.perf_counter()
    ask(text)
    return (time.perf_counter() - begun) * MILLISECONDS


PACKAGES = (PACKAGE, "chromadb", "numpy")


def machine() -> dict[str, Any]:
    """The hardware, the platform and the load; None for values that the platform does not provide."""
    return {
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "platform": platform.platform(),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def package_versions() -> dict[str, str | None]:
    """Versions of Python, SQLite and the packages in PACKAGES; None for a package that is not installed."""
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{package: installed_version(package) for package in PACKAGES},
    }


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or None


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return None
