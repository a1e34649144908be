"""What do fifty users who send the longest texts and cues without a pause cost the one beside them?

    python -m benchmarks.hostile_users [--tries 5]

One thread recalls for them in turn, and shows each what it finds; the one beside them recalls and renders. Its p50 and
p95 stand beside those it has alone, and beside fifty users with usual cues, for Python lets one thread run at a time.
Ends with 1 where its p95 beside them is more than 3 times what it is alone, at the median of the tries.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import chromadb
import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from benchmarks.report import print_table

USERS, RECALLS, DIMENSION, MILLISECONDS = 50, 25, 64, 1_000.0
MOST_TIMES = 3.0  # that a p95 beside hostile users may be what it is alone
RATIO = "p95 hostile / alone"
WORDS = [f"word{number}" for number in range(2_000)]
HAN = "".join(chr(0x4E00 + number * 7 % 20_000) for number in range(20_000))
CUES = (
    " ".join(WORDS) * 90,
    " ".join(f"w{number}" for number in range(150_000)),
    HAN * 50,
    "\u0301\u0316" * 500_000 + "a",
    "3 may " * 170_000,
    "a_b.c-" * 170_000,
)
TEXTS = (
    "3 may " * 1_000,
    "over the weekend " * 400,
    HAN[:3_000],
    "\u0301\u0316" * 2_000 + "a",
    "<|im_start|>" * 400,
)


def usual(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def seconds(user: UserMemory, chance: random.Random) -> list[float]:
    """What the user's recalls take, each rendered."""
    spent = []
    for _ in range(RECALLS):
        cue = usual(chance, 6)
        began = time.perf_counter()
        user.recall(cue).render()
        spent.append(time.perf_counter() - began)
    return spent


@contextmanager
def beside(users: Sequence[UserMemory], cues: Sequence[str]) -> Iterator[list[int]]:
    """Meanwhile these users, one after the other and without a pause, send these cues and are shown what they find."""
    over, done = threading.Event(), [0]

    def send() -> None:
        for user, cue in zip(itertools.cycle(users), itertools.cycle(cues), strict=False):
            if over.is_set():
                return
            user.recall(cue).render(max_tokens=500)
            done[0] += 1

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


def vectors(texts: Sequence[str]) -> list[list[float]]:
    return [np.random.default_rng(len(text)).normal(size=DIMENSION).tolist() for text in texts]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=5)
    tries, chance = parser.parse_args().tries, random.Random(50)
    collection = chromadb.EphemeralClient().create_collection("hostile", embedding_function=None)
    policy = Policy(channels=("dense", "lexical"))
    with closing(AdaptiveMemory(collection, embedder=vectors, policy=policy)) as memory:
        one = memory.for_user("one")
        one.remember_many(usual(chance, 20) for _ in range(200))
        hostile = [memory.for_user(f"hostile {number}") for number in range(USERS)]
        others = [memory.for_user(f"usual {number}") for number in range(USERS)]
        for users, texts in ((hostile, TEXTS), (others, [usual(chance, 20) for _ in range(USERS)])):
            for user, text in zip(users, itertools.cycle(texts), strict=False):
                user.remember_many([text, text[1:]])
        seconds(one, chance)
        rows = [row(one, chance, others, hostile) for _ in range(tries)]
    print_table(rows, title="A recall and its rendering, ms")
    return verdict(statistics.median(one[RATIO] for one in rows))


def verdict(times: float) -> int:
    """Says whether that is few enough; gives how the program ends."""
    said = "as wanted" if times <= MOST_TIMES else "TOO MUCH"
    print(f"\nBeside hostile users the p95 is {times:.1f} times what it is alone; {MOST_TIMES:g} at most: {said}")
    return int(times > MOST_TIMES)


def row(
    one: UserMemory, chance: random.Random, others: Sequence[UserMemory], hostile: Sequence[UserMemory]
) -> dict[str, float]:
    taken = {"alone": seconds(one, chance)}
    with beside(others, [usual(chance, 6) for _ in range(USERS)]):
        taken["usual"] = seconds(one, chance)
    with beside(hostile, CUES):
        taken["hostile"] = seconds(one, chance)
    p95 = {name: float(np.percentile(values, 95)) for name, values in taken.items()}
    shown = {}
    for name, values in taken.items():
        shown[f"{name} p50"] = round(statistics.median(values) * MILLISECONDS, 1)
        shown[f"{name} p95"] = round(p95[name] * MILLISECONDS, 1)
    return {**shown, RATIO: round(p95["hostile"] / p95["alone"], 1)}


if __name__ == "__main__":
    sys.exit(main())
