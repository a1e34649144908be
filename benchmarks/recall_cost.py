"""The cost of a recall next to that of Chroma's own query, and where its time goes. Ratios of one run, calls in turn.

    python -m benchmarks.recall_cost [--records 1000 10000 100000] [--rounds 140] [--steps]

One user's notes, embedded with the bundled model, everything on: words and vectors, ledger, log, words about time,
newest first. Chroma's query is `collection.query(n_results=20, where={"user_id": user})`; every call of either embeds
its question. Questions come as they come: one in seven names a time. "of Chroma's" is a time divided by the median of
Chroma's filtered query. With `--steps` each step of `flow/recall.py` is timed within whole recalls, in processor time.
"""

from __future__ import annotations

import argparse
import functools
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import chromadb

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, UserMemory
from adaptive_memory_core.flow import recall as straight
from benchmarks.report import percentiles, print_table, write_json

USER, TOPICS, PAGE, WARM_UP = "ana", 20, 2_000, 30
MILLISECONDS, DAY = 1_000.0, 86_400.0
NAMES = [
    "Ana",
    "Ben",
    "Chen",
    "Dora",
    "Emil",
    "Fatima",
    "Goran",
    "Hana",
    "Ivo",
    "June",
    "Karl",
    "Lena",
    "Milan",
    "Nora",
    "Otto",
    "Petra",
    "Quinn",
    "Rosa",
    "Sven",
    "Tara",
]
VERBS = ["moved", "ordered", "repaired", "sold", "described", "painted", "measured", "borrowed", "sent", "photographed"]
THINGS = [
    "bicycle",
    "server",
    "invoice",
    "kayak",
    "piano",
    "sensor",
    "garden",
    "contract",
    "lamp",
    "database",
    "tent",
    "camera",
    "sofa",
    "report",
    "oven",
]
PLACES = [
    "Bergen",
    "Lisbon",
    "Graz",
    "Osaka",
    "Quito",
    "Tallinn",
    "Leeds",
    "Nairobi",
    "Porto",
    "Denver",
    "Kyoto",
    "Malmo",
    "Turin",
    "Lima",
    "Perth",
]
REASONS = (
    "because the old one broke",
    "after the meeting with the suppliers",
    "since the rent went up",
    "for the spring exhibition",
    "as a present for a friend",
    "to save money on electricity",
    "before the auditors arrived",
    "while the office was closed",
)
TIMES = ("last month", "in March", "yesterday", "two weeks ago", "in 2025", "last summer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=140)
    parser.add_argument("--steps", action="store_true", help="where the time of a counted recall goes")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row for size in arguments.records for row in measured(size, arguments.rounds, steps=arguments.steps)]
    print_table(rows, title="Steps of a recall" if arguments.steps else "A recall next to Chroma's query")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def measured(size: int, rounds: int, *, steps: bool) -> list[dict[str, Any]]:
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        AdaptiveMemory.open(folder, embedder=LocalEmbedder()) as memory,
    ):
        fill(memory.for_user(USER), size)
        memory.flush()
        if steps:
            return step_rows(size, memory.for_user(USER), rounds)
        return cost_rows(size, in_turn(memory, rounds))


def fill(user: UserMemory, size: int) -> None:
    chance, now = random.Random(0), time.time()
    for start in range(0, size, PAGE):
        numbers = range(start, min(start + PAGE, size))
        user.remember_many(
            [
                {
                    "text": f"{note(chance)} (note {number})",
                    "created_at": now - chance.uniform(1.0, 700.0) * DAY,
                    "metadata": {"topic": number % TOPICS},
                }
                for number in numbers
            ]
        )


def note(chance: random.Random) -> str:
    name, other = chance.sample(NAMES, 2)
    thing, place = chance.choice(THINGS), chance.choice(PLACES)
    return f"{name} {chance.choice(VERBS)} the {thing} of {other} in {place} {chance.choice(REASONS)}."


def questions(count: int) -> list[str]:
    """One in seven names a time."""
    chance = random.Random(1)
    asked = []
    for number in range(count):
        about = f"What happened to the {chance.choice(THINGS)} of {chance.choice(NAMES)} in {chance.choice(PLACES)}"
        asked.append(f"{about} {chance.choice(TIMES)}?" if number % 7 == 3 else f"{about}?")
    return asked


def in_turn(memory: AdaptiveMemory, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds of each way, on the clock and of this thread's processor time; in each round every way is asked."""
    user, embed, collection = memory.for_user(USER), LocalEmbedder(), plain_copy(memory)
    asked = questions(rounds + WARM_UP)
    timed_ones = [f"{one.rstrip('?')} {TIMES[number % len(TIMES)]}?" for number, one in enumerate(asked)]

    def chroma(question: str, where: dict[str, Any] | None) -> None:
        collection.query(query_embeddings=[embed([question])[0]], n_results=20, where=where)

    taken: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number, question in enumerate(asked):
        ways: dict[str, Callable[[], object]] = {
            "Chroma, filtered": functools.partial(chroma, question, {"user_id": USER}),
            "Chroma, unfiltered": functools.partial(chroma, question, None),
            "recall": functools.partial(user.recall, question),
            "recall, not counted": functools.partial(user.recall, question, reinforce=False),
            "recall, names a time": functools.partial(user.recall, timed_ones[number]),
            "recall, filter=": functools.partial(user.recall, question, filter={"topic": number % TOPICS}),
            "recall, right after a write": functools.partial(user.recall, question),
        }
        for name, way in ways.items():
            if name == "recall, right after a write":
                user.remember(f"{note(random.Random(number))} (later {number})")
            else:
                memory.flush()
            spent = cost_of(way)
            if number >= WARM_UP:
                taken[name].append(spent)
    return taken


def plain_copy(memory: AdaptiveMemory) -> Any:
    """A collection of a directory of its own with the same records, which no memory uses."""
    of_memory: Any = memory.ports().records.collection
    copy = chromadb.PersistentClient(tempfile.mkdtemp()).create_collection("plain", metadata=of_memory.metadata)
    for start in range(0, of_memory.count(), PAGE):
        page = of_memory.get(limit=PAGE, offset=start, include=["embeddings", "documents", "metadatas"])
        copy.add(**{name: page[name] for name in ("ids", "embeddings", "documents", "metadatas")})
    return copy


def cost_of(call: Callable[[], object]) -> tuple[float, float]:
    began, worked = time.perf_counter(), time.thread_time()
    call()
    return time.perf_counter() - began, time.thread_time() - worked


def cost_rows(size: int, taken: dict[str, list[tuple[float, float]]]) -> list[dict[str, Any]]:
    usual = percentiles([wall for wall, _ in taken["Chroma, filtered"]])["p50"]
    rows = []
    for name, samples in taken.items():
        wall, cpu = percentiles([one for one, _ in samples]), percentiles([one for _, one in samples])
        rows.append(
            {
                "records": size,
                "way": name,
                "p50 ms": round(wall["p50"] * MILLISECONDS, 2),
                "p95 ms": round(wall["p95"] * MILLISECONDS, 2),
                "CPU p50 ms": round(cpu["p50"] * MILLISECONDS, 2),
                "p50 of Chroma's": round(wall["p50"] / usual, 2),
                "p95 of Chroma's p50": round(wall["p95"] / usual, 2),
            }
        )
    return rows


def step_rows(size: int, user: UserMemory, rounds: int) -> list[dict[str, Any]]:
    """The median of each step that `flow/recall.py` names, and of the whole call."""
    spent: dict[str, list[float]] = defaultdict(list)
    steps = dict(_steps())
    try:
        for name, step in steps.items():
            setattr(straight, name, _watched(step, spent[name]))
        for number, question in enumerate(questions(rounds + WARM_UP)):
            if number == WARM_UP:
                for samples in spent.values():
                    samples.clear()
            spent["the whole recall"].append(cost_of(functools.partial(user.recall, question))[1])
    finally:
        for name, step in steps.items():
            setattr(straight, name, step)
    whole = statistics.median(spent["the whole recall"])
    return [
        {"records": size, "step": name, "us": round(median * 1e6), "share": f"{median / whole:.0%}"}
        for name, median in ((name, statistics.median(samples)) for name, samples in spent.items() if samples)
    ]


def _steps() -> Iterator[tuple[str, FunctionType]]:
    """The functions that the recall calls itself."""
    called = {*straight.recall.__code__.co_names, *straight.look_for.__code__.co_names} - {"look_for"}
    return ((name, one) for name, one in vars(straight).items() if isinstance(one, FunctionType) and name in called)


def _watched(step: FunctionType, samples: list[float]) -> Callable[..., Any]:
    def watched(*given: Any, **named: Any) -> Any:
        began = time.thread_time()
        try:
            return step(*given, **named)
        finally:
            samples.append(time.thread_time() - began)

    return watched


if __name__ == "__main__":
    main()
