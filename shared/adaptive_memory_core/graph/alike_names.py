"""Which names are taken for one? Those whose vectors are alike above a floor, and whose spelling allows it.

Nothing is merged for good: both names stay, and one leads to what mentions the other as far as they are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from adaptive_memory_core.graph.alike_spelling import may_be_one
from adaptive_memory_core.graph.names import INSIDE, names
from adaptive_memory_core.graph.ports import Alike, Array, Graph
from adaptive_memory_core.score.surprise import Baseline, baseline_of, for_query, sample_of

MOST_ALIKE = 5  # names that one is taken for; guess
MOST_SPELLED = 50  # of the nearest names, whose spelling is looked at; guess
MOST_UNKNOWN = 8  # names in a cue that the graph does not know and that are compared with those it knows; guess


def unknown_names(cue: str, linked: Collection[str]) -> list[str]:
    """The names in a cue that none of the known ones in it covers, whole or word by word.

    >>> unknown_names("Did Jon Smith meet Ada and Bob?", ["ada", "bob"])
    ['jon smith']
    >>> unknown_names("Did Ada and Bob meet?", ["ada", "bob"])
    []
    """
    covered = {word for name in linked for word in name.split()} | INSIDE
    return [one for one in names(cue) if not set(one.split()) <= covered][:MOST_UNKNOWN]


def alike_of_untitled(graph: Graph, names: Collection[str], least: float) -> Mapping[str, Mapping[str, float]]:
    """What each of these names may be taken for; one that titles a passage leads to it, and is taken for nothing."""
    titled = graph.titled(names)
    return graph.alike([name for name in names if not len(titled.get(name, ()))], least)


def with_alike(
    active: Mapping[str, float], alike: Mapping[str, Mapping[str, float]], *, without: Collection[str]
) -> tuple[dict[str, float], dict[str, Alike]]:
    """The active names and those that they are taken for, each with what it is worth; and which these are.

    >>> with_alike({"jon": 0.5}, {"jon": {"john": 0.8, "ada": 0.9}}, without=["ada"])
    ({'jon': 0.5, 'john': 0.4}, {'john': Alike(of='jon', likeness=0.8)})
    """
    together, taken = dict(active), dict[str, Alike]()
    for name, value in active.items():
        for other, likeness in alike.get(name, {}).items():
            worth = value * likeness
            if other not in active and other not in without and worth > together.get(other, 0.0):
                together[other], taken[other] = worth, Alike(name, likeness)
    return together, taken


def at_least(alike: Mapping[str, Mapping[str, float]], least: float) -> dict[str, dict[str, float]]:
    """
    >>> at_least({"jon": {"john": 0.8, "jan": 0.7}}, 0.75)
    {'jon': {'john': 0.8}}
    """
    return {name: {one: like for one, like in found.items() if like >= least} for name, found in alike.items()}


class Known(NamedTuple):
    """The known names: pages of keys and unit vectors, and what stands under keys."""

    pages: Iterable[tuple[Array, Array]]
    named: Callable[[Sequence[int]], Mapping[int, str]]


def alike_above(
    least: float, asked: Sequence[str], vectors: Array, known: Known
) -> Iterator[tuple[int, int, str, float]]:
    """Of each name that is asked for, by its place: the key of a known name that may be the same, that name, and how
    alike the vectors are, best first: 0 is as alike as it is to known names in general, 1 the same.

    >>> said = {7: "jon smith", 8: "john smith", 9: "john smyth"}
    >>> page = np.array([7, 8, 9]), np.float32([[1, 0], [0.8, 0.6], [0, 1]])
    >>> list(alike_above(0.7, ["jon smith"], np.float32([[1, 0]]), Known([page], lambda keys: said)))
    [(0, 8, 'john smith', 0.7293)]
    """
    near: dict[int, list[tuple[float, int]]] = {}
    baselines: list[Baseline] = []
    for keys, rows in known.pages:
        baselines = baselines or _baselines(vectors, rows[sample_of(len(rows))])
        likeness = np.array([one.above(row) for one, row in zip(baselines, vectors @ rows.T, strict=True)])
        places, others = np.nonzero(likeness >= least)
        found = zip(places.tolist(), likeness[places, others].tolist(), keys[others].tolist(), strict=True)
        for place, like, key in found:
            near.setdefault(place, []).append((-like, key))
    for place, found_ in near.items():
        nearest = sorted(found_)[:MOST_SPELLED]
        said = known.named([key for _, key in nearest])
        same = [(key, like) for like, key in nearest if key in said and may_be_one(asked[place], said[key])]
        for key, like in same[:MOST_ALIKE]:
            yield place, key, said[key], round(min(1.0, -like), 4)


def _baselines(asked: Array, sample: Array) -> list[Baseline]:
    """What each has in common with known names that are others: with all but the nearest, which may be the same."""
    of_names = baseline_of(sample, "cosine")
    return [for_query(of_names, row[:-1]) for row in np.sort(asked @ sample.T, axis=1)]


def unit_rows(vectors: Array) -> Array:
    """Each of length 1; zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = np.asarray(vectors, dtype=np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))
