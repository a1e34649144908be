"""What do the questions say together? Means with intervals, and differences from the baseline question by question."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from adaptive_memory_core.evaluate.comparison import Difference, Result
from adaptive_memory_core.evaluate.intervals import Interval, bootstrap, paired_difference
from adaptive_memory_core.evaluate.labelled import Question
from adaptive_memory_core.evaluate.spread import spread

FEWEST = 2  # clusters without which there is no interval
Rows = Sequence[Mapping[str, float]]  # of one system, a row a question


def clusters_of(questions: Sequence[Question]) -> list[Hashable]:
    """What succeeds and fails together: the questions of one user, or else those with one gold.

    >>> clusters_of([Question("1", "?", ("a",), tenant="ana"), Question("2", "?", ("b",), tenant="ben")])
    ['ana', 'ben']
    >>> clusters_of([Question("1", "?", ("a",)), Question("2", "?", ("a",))])
    [('a',), ('a',)]
    """
    users = [question.tenant for question in questions]
    return list(users) if len(set(users)) >= FEWEST else [question.gold_ids for question in questions]


def results(data: str, system: str, rows: Rows, clusters: Sequence[Hashable], *, seed: int) -> Iterator[Result]:
    """Each measure of one system, over the questions of which it is known."""
    for name in dict.fromkeys(name for row in rows for name in row):
        known = [(row[name], cluster) for row, cluster in zip(rows, clusters, strict=True) if name in row]
        values, own = [value for value, _ in known], [cluster for _, cluster in known]
        between = bootstrap(values, seed=seed, clusters=own) if len(set(own)) >= FEWEST else None
        lies = spread(values)
        low, high = _bounds(between)
        yield Result(
            data, system, name, lies.mean, low, high, lies.median, lies.p95, lies.deviation, lies.count, len(set(own))
        )


def differences(
    data: str, system: str, rows: Rows, base: Rows, clusters: Sequence[Hashable], *, seed: int
) -> Iterator[Difference]:
    """Each measure of one system less the baseline's, over the questions of which both know it."""
    for name in dict.fromkeys(name for row in rows for name in row):
        pairs = [
            (ours[name], theirs[name], cluster)
            for ours, theirs, cluster in zip(rows, base, clusters, strict=True)
            if name in ours and name in theirs
        ]
        if pairs:
            yield _difference(data, system, name, pairs, seed)


def _difference(
    data: str, system: str, name: str, pairs: Sequence[tuple[float, float, Hashable]], seed: int
) -> Difference:
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    clusters = [pair[2] for pair in pairs]
    between = None
    if len(set(clusters)) >= FEWEST:
        between = paired_difference(ours, theirs, seed=seed, clusters=clusters)
    low, high = _bounds(between)
    mean = sum(ours) / len(ours) - sum(theirs) / len(theirs)
    return Difference(data, system, name, mean, low, high, len(pairs), between is not None and between.excludes_zero)


def _bounds(between: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if between is None else (between.low, between.high)
