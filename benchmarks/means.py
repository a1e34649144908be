"""What is the mean of measures that are not known of every question? Over those of which they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from adaptive_memory_core.evaluate.datasets import Question
from adaptive_memory_core.evaluate.metrics import mean

Measures = Mapping[str, float]


def means(rows: Sequence[Measures]) -> Measures:
    """The mean of each measure over the questions of which it is known."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: mean([row[name] for row in rows if name in row]) for name in names}


def beside(rows: Sequence[Measures], base: Sequence[Measures], name: str) -> float | None:
    """The mean over the questions of which both know it, as a share of the base's; None where there are none.

    >>> beside([{"a": 1.0}, {"a": 9.0}], [{"a": 2.0}, {}], "a")
    0.5
    """
    both = [(row[name], other[name]) for row, other in zip(rows, base, strict=True) if name in row and name in other]
    return sum(one for one, _ in both) / sum(other for _, other in both) if both else None


def by_category(
    questions: Sequence[Question], rows: Sequence[Measures], name: str, category: Callable[[Question], str]
) -> Mapping[str, float]:
    """The mean of one measure for each kind of question."""
    kinds: dict[str, list[float]] = {}
    for question, row in zip(questions, rows, strict=True):
        kinds.setdefault(category(question), []).append(row[name])
    return {kind: mean(values) for kind, values in sorted(kinds.items())}
