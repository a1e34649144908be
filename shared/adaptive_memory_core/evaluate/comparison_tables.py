"""How is a comparison read in a terminal? As tables of a few columns each, and the differences from the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adaptive_memory_core.evaluate.comparison import Comparison, Difference
from adaptive_memory_core.evaluate.tables import Row, table

GROUPS = {  # which words a measure's name begins with; a table each
    "Rankings": ("NDCG@", "recall@", "precision@", "hit@1", "MRR@", "parameters", "NDCG per"),
    "Sessions, as others publish them": ("session R@5", "session R@10", "session NDCG@10", "session hit@1", "session"),
    "What is read": (
        "evidence",
        "answer covered",
        "tokens to",
        "blocks to",
        "redundancy",
        "contained",
        "terms",
        "page",
    ),
    "Replies of chat models": ("exact", "F1", "BLEU", "ROUGE", "contain-accuracy", "key-term", "input tokens"),
    "The memory at the end": ("remembered", "memory size", "stale norm", "reads per", "update ms"),
}
SPREADS = ("recall ms", "response s", "response words")  # of which median, p95 and deviation are told as well
COMPARED = ("NDCG@", "recall@", "session hit@1", "evidence in 1000", "recall ms", "F1", "key-term", "response s")


def summary(found: Comparison) -> str:
    """All tables as plain text, and after them what the differences from the baseline are."""
    parts = [found.title] if found.title else []
    for one in found.data:
        parts.append(f"{one.name}: {one.items} items, {one.users} users, {one.questions} questions")
        parts += [f"{title}\n{table(rows)}" for title, rows in _tables(found, one.name) if rows]
        if rows := list(_differences(found, one.name)):
            title = f"Less {found.baseline}, question by question, {found.confidence:.0%} intervals; * excludes 0"
            parts.append(f"{title}\n{table(rows)}")
    return "\n\n".join([*parts, *found.notes])


def _tables(found: Comparison, data: str) -> Iterator[tuple[str, Sequence[Row]]]:
    names = [one.name for one in found.measures]
    for title, begins in GROUPS.items():
        yield title, list(_means(found, data, [one for one in names if one.startswith(begins)]))
    for name in [one for one in SPREADS if one in names]:
        yield name, list(_spreads(found, data, name))


def _means(found: Comparison, data: str, names: Sequence[str]) -> Iterator[Row]:
    means = {(one.system, one.measure): one.mean for one in found.results if one.data == data}
    for system in found.systems:
        own = {name: means.get((system.name, name)) for name in names}
        if any(value is not None for value in own.values()):
            yield {"system": system.name, **own}


def _spreads(found: Comparison, data: str, name: str) -> Iterator[Row]:
    for one in found.results:
        if (one.data, one.measure) == (data, name):
            told = {"mean": one.mean, "median": one.median, "p95": one.p95, "deviation": one.deviation}
            yield {"system": one.system, **told, "questions": one.questions}


def _differences(found: Comparison, data: str) -> Iterator[Row]:
    for system in found.systems:
        own = [one for one in found.differences if (one.data, one.system) == (data, system.name)]
        if told := {one.measure: _told(one) for one in own if one.measure.startswith(COMPARED)}:
            yield {"system": system.name, **told}


def _told(one: Difference) -> str:
    """
    >>> _told(Difference("d", "s", "NDCG@10", 0.1, 0.05, 0.15, 10, True))
    '+0.100 [+0.050, +0.150]*'
    """
    interval = "" if one.low is None or one.high is None else f" [{one.low:+.3f}, {one.high:+.3f}]"
    return f"{one.mean:+.3f}{interval}{'*' if one.settled else ''}"
