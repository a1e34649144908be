"""Does it help to know when is asked about? Recall@5 of a made-up diary, and recall@10 of LoCoMo's dated questions.

    python -m benchmarks.asked_time [--data DIR]

In the diary the same few things happen again and again for three years, so that only the time tells the right entry;
"on topic" is the share of what is returned that is about the thing asked for. Its questions without a time are to rank
exactly as before. LoCoMo's half that is "tuned on" was looked at when the weight was chosen, the other was not.
"""

from __future__ import annotations

import argparse
import random
import sys
import uuid
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import chromadb

from adaptive_memory_core import AdaptiveMemory, English, LocalEmbedder, Policy, UserMemory
from adaptive_memory_core.cue.time.intent import understand
from adaptive_memory_core.evaluate.metrics import mean
from benchmarks.data import halves, load
from benchmarks.report import print_table, write_json

NOW = datetime(2026, 5, 13, 12, tzinfo=timezone.utc)
DAY = 86_400.0
TOPICS = {
    "what did I do at the gym": (
        "lifted weights at the gym",
        "a spin class at the gym",
        "the gym was closed, so I ran",
    ),
    "what did the dentist do": ("the dentist filled a tooth", "the dentist cleaned my teeth", "the dentist was ill"),
    "what did we decide about the budget": (
        "the budget was cut",
        "the budget meeting was put off",
        "more budget for staff",
    ),
    "what did I have for dinner": ("dinner at the Thai place", "cooked lasagne for dinner", "leftovers for dinner"),
    "what was done with the car": (
        "brakes of the car repaired",
        "the car failed inspection",
        "winter tyres for the car",
    ),
    "which book was I busy with": ("finished a book on bees", "the book club chose a thriller", "returned a book"),
    "where did the trip go": ("a trip to Lisbon with mum", "a hiking trip in the Alps", "a weekend trip to Prague"),
    "what did I do in the garden": (
        "planted tomatoes in the garden",
        "the garden flooded",
        "roses pruned in the garden",
    ),
}
VECTORS = Policy(channels=("dense",))
POLICIES = {
    "no rules": VECTORS.replace(time_words="off"),
    **{f"time {weight:g}": VECTORS.replace(advanced={"time_weight": weight}) for weight in (0.1, 0.3, 0.5, 0.9)},
    "default": VECTORS,
    "strict": VECTORS.replace(time_words="filter"),
    "equal, no rules": Policy.preset("equal").replace(time_words="off"),
    "equal": Policy.preset("equal"),
}


class Entry(NamedTuple):
    id: str
    topic: str
    text: str
    at: datetime


class Asked(NamedTuple):
    kind: str
    text: str
    topic: str
    gold: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of data folders; format: benchmarks/data.py")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = diary_rows()
    print_table(rows, title="A made-up diary: recall@5, and the share on topic")
    if arguments.data:
        conversations = locomo_rows(arguments.data)
        print_table(conversations, title="LoCoMo, questions that name a time: recall@10, vectors only")
        rows += conversations
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def diary_rows(policies: Iterable[str] = tuple(POLICIES), entries_each: int = 36) -> list[dict[str, object]]:
    entries = diary(entries_each)
    asked = questions(entries)
    with closing(_memory()) as memory:
        alice = memory.for_user("alice")
        alice.remember_many({"id": one.id, "text": one.text, "created_at": one.at} for one in entries)
        return [{"policy": name, **judged(alice, asked, entries, POLICIES[name])} for name in policies]


def judged(user: UserMemory, asked: Sequence[Asked], entries: Sequence[Entry], policy: Policy) -> dict[str, object]:
    """Recall@5 for each kind of question, and the share on topic over all."""
    topics = {one.id: one.topic for one in entries}
    found: dict[str, list[float]] = {}
    on_topic: list[float] = []
    for question in asked:
        ids = user.recall(question.text, k=5, reinforce=False, policy=policy).ids
        hits = len(question.gold.intersection(ids)) / min(5, len(question.gold))
        found.setdefault(question.kind, []).append(hits)
        on_topic += [float(topics[one] == question.topic) for one in ids]
    return {**{kind: mean(values) for kind, values in found.items()}, "on topic": mean(on_topic)}


def diary(entries_each: int) -> list[Entry]:
    chance = random.Random(7)
    return [
        Entry(f"{number}-{topic}", topic, f"{chance.choice(texts)}{chance.choice(['', ' again', ', as planned'])}", at)
        for topic, texts in TOPICS.items()
        for number in range(entries_each)
        for at in [NOW - timedelta(days=chance.uniform(1, 1_095))]
    ]


def questions(entries: Sequence[Entry]) -> list[Asked]:
    asked: list[Asked] = []
    for topic in TOPICS:
        own = sorted((one for one in entries if one.topic == topic), key=lambda one: one.at)
        for back in (2, 5, 9, 14, 20, 27, 33):
            month = NOW - timedelta(days=30.44 * back)
            same = [one.id for one in own if f"{one.at:%Y-%m}" == f"{month:%Y-%m}"]
            asked.append(Asked("month", f"{topic} in {month:%B %Y}?", topic, frozenset(same)))
        for count, word in ((2, "two"), (3, "three")):
            edges = [(NOW - timedelta(days=30.44 * (count + side))) for side in (0.5, -0.5)]
            then = [one.id for one in own if edges[0] <= one.at < edges[1]]
            asked.append(Asked("ago", f"{topic} {word} months ago?", topic, frozenset(then)))
        asked += [
            Asked("year", f"{topic} in {year}?", topic, frozenset(one.id for one in own if one.at.year == year))
            for year in (2024, 2025)
        ]
        asked.append(Asked("lately", f"{topic} lately?", topic, frozenset(one.id for one in own[-5:])))
        asked.append(Asked("originally", f"{topic} originally?", topic, frozenset(one.id for one in own[:5])))
        asked.append(Asked("no time", f"{topic}?", topic, frozenset(one.id for one in own)))
    return [one for one in asked if one.gold]


def locomo_rows(folder: Path) -> list[dict[str, object]]:
    data = load(folder, "locomo")
    ends = {one.tenant: max(item.ts or 0.0 for item in data.items if item.tenant == one.tenant) for one in data.items}
    dated = [
        one
        for one in data.scorable
        if understand(one.query, [English()], now=ends[one.tenant] + DAY).windows and one.type != "5"
    ]
    with closing(_memory()) as memory:
        for tenant in ends:
            own = [item for item in data.items if item.tenant == tenant]
            memory.for_user(str(tenant)).remember_many(
                {"id": item.id, "text": item.text, "created_at": item.ts} for item in own
            )
        rows: list[dict[str, object]] = []
        for name in ("no rules", "time 0.1", "time 0.3", "time 0.5", "default", "strict"):
            row: dict[str, object] = {"policy": name}
            for half, asked in zip(("tuned on", "held out"), halves(dated, seed=1), strict=True):
                found = [
                    memory.for_user(str(one.tenant)).recall(
                        one.query, k=10, now=ends[one.tenant] + DAY, reinforce=False, policy=POLICIES[name]
                    )
                    for one in asked
                ]
                shares = [
                    len({*one.gold_ids} & {*hits.ids}) / len(one.gold_ids)
                    for one, hits in zip(asked, found, strict=True)
                ]
                row |= {f"{half}, n": len(asked), half: mean(shares)}
            rows.append(row)
        return rows


def _memory() -> AdaptiveMemory:
    collection = chromadb.EphemeralClient().create_collection(
        f"asked-time-{uuid.uuid4()}", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    return AdaptiveMemory(collection, embedder=LocalEmbedder(), clock=NOW.timestamp)


if __name__ == "__main__":
    main()
