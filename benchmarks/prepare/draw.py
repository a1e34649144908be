"""Which questions of a set are taken? All, or so many that a seed draws."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Draw:
    """How many questions, and by which seed; None takes all."""

    questions: int | None = None
    seed: int = 0

    def of(self, rows: Sequence[T]) -> list[T]:
        """The rows that are drawn, in the order in which they are published.

        >>> Draw(3, seed=1).of("abcdefgh"), Draw().of("ab"), Draw(9).of("ab")
        (['a', 'c', 'e'], ['a', 'b'], ['a', 'b'])
        """
        if self.questions is None or self.questions >= len(rows):
            return list(rows)
        picked = random.Random(self.seed).sample(range(len(rows)), self.questions)
        return [rows[number] for number in sorted(picked)]
