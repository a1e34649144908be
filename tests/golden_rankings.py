"""Rankings that people agreed on: what recalls over a few small memories returned when they were last recorded.

python -m tests.golden_rankings     # records them again, in tests/golden_rankings.json: only if a change is meant
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path

import chromadb

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Recall, UserMemory
from tests.golden_ways import every_way

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden_rankings.json"
NOW, DAY = 1_780_000_000.0, 86_400.0
NAMES = ("Ilke", "Omid", "Prisca", "Tamsin", "Wendel", "Grit", "Kofi", "Lucan")
PLACES = ("Lisbon", "Oslo", "Quito", "Turin", "Hanoi", "Perth", "Leeds", "Osaka", "Lagos", "Riga")
SENTENCES = ("{name} lives in {place}.", "{name} has moved to {place}.", "{name} settled in {place} this spring.")
QUESTIONS = ("where does {name} live?", "in which city is {name}?", "where did {name} live first?")
Rankings = dict[str, dict[str, float]]  # each question's ids, best first, with their scores


def main() -> None:
    GOLDEN.write_text(json.dumps(recalled(), indent=1) + "\n", "utf-8")


def recorded() -> Rankings:
    rankings: Rankings = json.loads(GOLDEN.read_text("utf-8"))
    return rankings


def recalled() -> Rankings:
    embedder = LocalEmbedder()
    parts = (changed_facts, similar_facts, all_ways)
    return {question: ranked for part in parts for question, ranked in part(embedder)}


def changed_facts(embedder: LocalEmbedder) -> Iterator[tuple[str, dict[str, float]]]:
    """Facts that newer ones contradict."""
    order = random.Random(2)
    with opened(embedder, [NOW]) as memory:
        user = memory.for_user("ana")
        for name in NAMES:
            for number, place in enumerate(order.sample(PLACES, 3)):
                text = SENTENCES[number].format(name=name, place=place)
                user.remember(text, id=f"{name}{number}", created_at=NOW - (200 - 90 * number) * DAY)
        for name in NAMES:
            for question in QUESTIONS:
                yield answer("changed facts", user, question.format(name=name))


def similar_facts(embedder: LocalEmbedder) -> Iterator[tuple[str, dict[str, float]]]:
    """Many facts about similar things: before anything was learned, and after reads and feedback."""
    lines = (ROOT / "benchmarks" / "similar_facts.tsv").read_text("utf-8").splitlines()
    facts = [line.split("\t") for line in lines if line and not line.startswith("#")]
    clock = [NOW]
    with opened(embedder, clock) as memory:
        user = memory.for_user("ana")
        user.remember_many(
            [
                {"id": f"f{number}", "text": text, "importance": (number % 9 + 1) / 10}
                for number, (_, text, _) in enumerate(facts)
            ]
        )
        clock[0] += 3_600
        questions = [asked.split("|") for _, _, asked in facts]
        for each in questions[::6]:
            yield answer("similar facts", user, each[0])
        for number, each in enumerate(questions[::6]):
            clock[0] += 600
            recall: Recall = user.recall(each[0], k=3)
            user.feedback(recall, helpful=[one for one in recall.ids if one == f"f{6 * number}"])
        clock[0] += 5 * 3_600
        for each in [*questions[::6], *questions[3::12]]:
            yield answer("similar facts, learned", user, each[1])


def all_ways(embedder: LocalEmbedder) -> Iterator[tuple[str, dict[str, float]]]:
    """Filters, earlier days, shared records, fading, the graph, shapes, and each part of a policy."""
    clock = [DAY]
    with opened(embedder, clock) as memory:
        yield from every_way(memory, clock)


def opened(embedder: LocalEmbedder, clock: list[float]) -> AdaptiveMemory:
    collection = chromadb.EphemeralClient().create_collection(
        f"golden-{uuid.uuid4()}", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    return AdaptiveMemory(collection, embedder=embedder, clock=lambda: clock[0])


def answer(part: str, user: UserMemory, question: str) -> tuple[str, dict[str, float]]:
    recall = user.recall(question, k=5, reinforce=False)
    return f"{part}: {question}", {hit.id: round(hit.score, 7) for hit in recall}


if __name__ == "__main__":
    main()
