"""Does the preset "composite" rank as the article's `recall` does? Its code, written from the article, beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from adaptive_memory_core import Policy
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


@pytest.mark.parametrize("seed", range(5))
def test_five_recalls_in_a_row_find_what_the_article_finds(open_memory: Open, clock: Clock, seed: int) -> None:
    random = np.random.default_rng(seed)
    texts = [f"{' '.join(random.choice(WORDS, 4, replace=False))} {number}" for number in range(60)]
    salience = random.random(60).round(3).tolist()
    used = (clock() - random.random(60) * 30 * DAY).tolist()
    memory = open_memory(policy=Policy.preset("composite"))
    ana = memory.for_user("ana")
    given: list[Any] = [
        {"text": text, "id": str(number), "importance": worth, "created_at": at}
        for number, (text, worth, at) in enumerate(zip(texts, salience, used, strict=True))
    ]
    ana.remember_many(given)
    article = Article(texts, used, salience)
    for _ in range(5):
        clock.pass_seconds(3_600.0)
        cue = " ".join(random.choice(WORDS, 3, replace=False))
        found = ana.recall(cue, k=5)
        assert list(found.ids) == [str(one) for one in article.recall(cue, clock(), 5)]
        for hit in found:
            assert 0.0 <= hit.score <= 1.0
