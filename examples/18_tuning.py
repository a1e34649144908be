"""Which policy serves better? Labelled questions find it, and questions that took no part in the search judge it."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory

TOPICS = ["garden", "invoice", "bicycle", "harbour", "piano", "kitchen", "library", "orchard", "tunnel", "violin"]
PLACES = ["Oslo", "Lima", "Kyoto", "Perth", "Quito", "Turin"]
NOTES = ["call back", "was moved", "is closed", "needs paint"]
WRITTEN = 1_767_600_000.0
Pairs = list[tuple[str, list[str]]]


def write(user: UserMemory) -> Pairs:
    """Four notes on each thing; the one that somebody marked as important is what is meant when it is asked about."""
    chance = random.Random(1)
    pairs: Pairs = []
    for topic in TOPICS:
        for place in PLACES:
            marked = chance.randrange(len(NOTES))
            name = f"{topic}-{place}"
            user.remember_many(
                [
                    {
                        "id": f"{name}-{number}",
                        "text": f"{topic} in {place}: {note}",
                        "importance": float(number == marked),
                        "created_at": WRITTEN,  # all at once: none of them is what holds now instead of another
                    }
                    for number, note in enumerate(chance.sample(NOTES, len(NOTES)))
                ]
            )
            pairs.append((f"what about the {topic} in {place}?", [f"{name}-{marked}"]))
    return pairs


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, AdaptiveMemory.open(folder) as memory:
        ana = memory.for_user("ana")
        pairs = write(ana)
        print(f"before: {ana.evaluate(pairs, k=4)}\n")
        print(f"few questions: {ana.tune(pairs[:10], k=4).refused}\n")

        tuning = ana.tune(pairs, k=4, prior=5)  # these questions are all alike, so few say as much as many
        print(f"{tuning}\n")
        file = Path(folder) / "ana.json"
        tuning.policy.save(file)
        ana = memory.for_user("ana", policy=Policy.load(file))  # kept: recalls of hers go by it from now on
        print(f"after: {ana.evaluate(pairs, k=4)}")


if __name__ == "__main__":
    main()
