"""Do the articles' presets rank as `recall` of one and `retrieve` of the other do? Both are written from them alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from adaptive_memory_core import Policy, UserMemory, Weights
from tests.conftest import Clock, Open, word_vectors

DAY, FLOOR, WIDE = 86_400.0, 0.35, 30
WORDS = "tea rail garden server lisbon violin budget bread letters winter harbour candle museum".split()  # noqa: SIM905
WEIGHTS = (0.6, 0.25, 0.15)


class Article:
    """memory/score.py of the article, over vectors in RAM."""

    def __init__(self, texts: Sequence[str], used: Sequence[float], salience: Sequence[float]) -> None:
        self.vectors, self.used, self.salience = word_vectors(texts), list(used), salience

    def recall(self, cue: str, now: float, k: int) -> list[int]:
        (asked,) = word_vectors([cue])
        lengths = np.linalg.norm(self.vectors, axis=1) * np.linalg.norm(asked)
        close = self.vectors @ asked / np.where(lengths > 0.0, lengths, 1.0)
        wide = np.argsort(-close, kind="stable")[:WIDE]
        scores = {int(one): self.score(int(one), float(close[one]), now) for one in wide}
        best = sorted((one for one in scores if scores[one] >= FLOOR), key=lambda one: -scores[one])[:k]
        for one in best:
            self.used[one] = now
        return best

    def score(self, one: int, close: float, now: float) -> float:
        a, b, c = WEIGHTS
        return float(a * close + b * 0.5 ** ((now - self.used[one]) / (7 * DAY)) + c * self.salience[one])


def remembered(ana: UserMemory, random: Any, now: float, kinds: Sequence[str] = ("event",)) -> list[dict[str, Any]]:
    """Sixty records with a text, an importance, a time and a kind."""
    worths, days = random.random(60).round(3).tolist(), (random.random(60) * 30).tolist()
    given = [
        {
            "text": f"{' '.join(random.choice(WORDS, 4, replace=False))} {number}",
            "id": str(number),
            "importance": worths[number],
            "created_at": now - days[number] * DAY,
            "kind": str(random.choice(kinds)),
        }
        for number in range(60)
    ]
    ana.remember_many(given)
    return given


@pytest.mark.parametrize("seed", range(5))
def test_five_recalls_in_a_row_find_what_the_article_finds(open_memory: Open, clock: Clock, seed: int) -> None:
    random = np.random.default_rng(seed)
    ana = open_memory(policy=Policy.preset("composite")).for_user("ana")
    given = remembered(ana, random, clock())
    texts, used, salience = ([one[name] for one in given] for name in ("text", "created_at", "importance"))
    article = Article(texts, used, salience)
    for _ in range(5):
        clock.pass_seconds(3_600.0)
        cue = " ".join(random.choice(WORDS, 3, replace=False))
        found = ana.recall(cue, k=5)
        assert list(found.ids) == [str(one) for one in article.recall(cue, clock(), 5)]
        for hit in found:
            assert 0.0 <= hit.score <= 1.0


class Episodes:
    """`retrieve` of the article on retrieval policies, by cosine, with the weights of each tier."""

    def __init__(self, given: Sequence[dict[str, Any]], half_life_days: float, weights: dict[str, Any]) -> None:
        self.given, self.half_life, self.weights = given, half_life_days * DAY, weights
        self.vectors, self.reads = word_vectors([one["text"] for one in given]), [0] * len(given)
        self.read = [one["created_at"] for one in given]

    def retrieve(self, query: str, now: float, k: int) -> list[int]:
        close = self.vectors @ word_vectors([query])[0]
        wide = [int(one) for one in np.argsort(-close, kind="stable")[:20]]
        recency = stretched([0.5 ** ((now - self.read[one]) / self.half_life) for one in wide])
        importance = stretched([self.given[one]["importance"] + 0.05 * np.log1p(self.reads[one]) for one in wide])
        signals = zip(wide, recency, importance, stretched([close[one] for one in wide]), strict=True)
        scores = {one: float(np.dot(self.weights[self.given[one]["kind"]], signal)) for one, *signal in signals}
        best = sorted(wide, key=lambda one: -scores[one])[:k]
        for one in best:  # each recall is further than the refresh floor from the one before
            self.read[one], self.reads[one] = now, self.reads[one] + 1
        return best


def stretched(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [0.5] * len(values) if high - low < 1e-9 else [(value - low) / (high - low) for value in values]


TIERS = {"fact": (0.5, 0.5, 2.0), "reflection": (0.5, 2.0, 0.5)}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("preset", ["equal", "assistant", "support", "coding", "tiers"])
def test_so_do_the_presets_of_the_article_on_policies(open_memory: Open, clock: Clock, seed: int, preset: str) -> None:
    random = np.random.default_rng(seed)
    own = {kind: Weights(*weights) for kind, weights in TIERS.items()} if preset == "tiers" else {}
    policy = Policy.preset("equal" if preset == "tiers" else preset).replace(advanced={"kind_weights": own})
    ana = open_memory(policy=policy.replace(learning={"count_decay_per_day": 1.0})).for_user("ana")
    given = remembered(ana, random, clock(), ("fact", "reflection", "event"))
    usual = (policy.weights.recency, policy.weights.importance, policy.weights.similarity)
    weights = {kind: TIERS[kind] if kind in own else usual for kind in ("fact", "reflection", "event")}
    article = Episodes(given, policy.half_life_days, weights)
    for _ in range(5):
        clock.pass_seconds(3_600.0)
        cue = " ".join(random.choice(WORDS, 3, replace=False))
        assert list(ana.recall(cue, k=5).ids) == [str(one) for one in article.retrieve(cue, clock(), 5)]
