"""How well do the words of texts match those of a question? BM25 as textbooks have it, over a few thousand texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.channels.words.words_of_text import words

SATURATION, LENGTH = 0.9, 0.4  # k1 and b, as in Anserini


class BM25:
    """Scores of all texts for a question, on stemmed words without stop words.

    >>> BM25(["green tea", "the blue room", "green leaves"])("What is blue?").argmax().item()
    1

    Source: Robertson and Zaragoza, The probabilistic relevance framework: BM25 and beyond (2009).
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(words(text)) for text in texts]
        long = np.array([sum(one.values()) for one in counts], dtype=float)
        self._held_back = SATURATION * (1 - LENGTH + LENGTH * long / max(1.0, long.mean())) if counts else long
        self._said: dict[str, dict[int, int]] = {}
        for number, one in enumerate(counts):
            for word, times in one.items():
                self._said.setdefault(word, {})[number] = times

    def __call__(self, query: str) -> Any:
        found = np.zeros(len(self._held_back))
        for word in words(query):
            own = self._said.get(word, {})
            places, times = np.array(list(own), dtype=int), np.array(list(own.values()), dtype=float)
            rare = np.log(1 + (len(found) - len(own) + 0.5) / (len(own) + 0.5))
            found[places] += rare * times * (1 + SATURATION) / (times + self._held_back[places])
        return found
