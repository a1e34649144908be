"""Which records have a word, and how often? All lists one behind the other, in the order of the words' numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Array = Any


class Said(NamedTuple):
    """Words of some records: for each its number, the record that has it, and how often."""

    terms: Array
    docs: Array
    counts: Array


class FrozenLists(NamedTuple):
    """The records with the word `known[i]` are `docs[bounds[i]:bounds[i + 1]]`, which have it so many `times`."""

    known: Array
    bounds: Array
    docs: Array
    times: Array

    @property
    def nbytes(self) -> int:
        total: int = sum(one.nbytes for one in self)
        return total


def nothing() -> FrozenLists:
    """Before the first record."""
    whole = np.empty(0, dtype=np.int64)
    return FrozenLists(np.empty(0, dtype="<i8"), np.zeros(1, dtype=np.int64), whole, np.empty(0))


def merged(lists: FrozenLists, more: Sequence[Said]) -> FrozenLists:
    """The lists with the words of later records, each behind those that it stands among.

    >>> one = merged(nothing(), [Said(np.array([7, 3]), np.array([0, 0]), np.array([1, 2]))])
    >>> two = merged(one, [Said(np.array([7, 5]), np.array([1, 1]), np.array([4, 1]))])
    >>> two.known.tolist(), two.bounds.tolist(), two.docs.tolist(), two.times.tolist()
    ([3, 5, 7], [0, 1, 2, 4], [0, 1, 0, 1], [2.0, 1.0, 1.0, 4.0])
    """
    if not more:
        return lists
    terms, docs, counts = (np.concatenate(column) for column in zip(*more, strict=True))
    order = terms.argsort(kind="stable")
    in_order = terms[order]
    begins = begins_of_runs(in_order)
    new, sizes = in_order[begins], np.diff(begins, append=len(terms))
    behind = lists.bounds[lists.known.searchsorted(in_order, side="right")]
    both = np.sort(np.concatenate((lists.known, new)))
    known = both[begins_of_runs(both)].astype("<i8")
    spread = np.zeros(len(known), dtype=np.int64)
    spread[known.searchsorted(lists.known)] = np.diff(lists.bounds)
    spread[known.searchsorted(new)] += sizes
    return FrozenLists(
        known,
        np.concatenate(([0], np.cumsum(spread))),
        np.insert(lists.docs, behind, docs[order]),
        np.insert(lists.times, behind, counts[order].astype(float)),
    )


def begins_of_runs(in_order: Array) -> Array:
    """Where each different number begins, of numbers in order. `numpy.unique`, which knows more cases, has the first
    recall of a process wait for a part of numpy that nothing else here needs.

    >>> begins_of_runs(np.array([3, 3, 5, 7, 7])).tolist(), begins_of_runs(np.array([], dtype=int)).tolist()
    ([0, 2, 3], [])
    """
    differs = np.ones(len(in_order), dtype=bool)
    np.not_equal(in_order[1:], in_order[:-1], out=differs[1:])
    return np.flatnonzero(differs)


def without(lists: FrozenLists, alive: Array) -> FrozenLists:
    """The lists of those records alone that are alive, which move up.

    >>> whole = merged(nothing(), [Said(np.array([3, 3, 7]), np.array([0, 1, 0]), np.array([1, 2, 1]))])
    >>> left = without(whole, np.array([False, True]))
    >>> left.known.tolist(), left.bounds.tolist(), left.docs.tolist(), left.times.tolist()
    ([3], [0, 1], [0], [2.0])
    """
    kept = alive[lists.docs]
    number = np.cumsum(alive) - 1
    terms = np.repeat(lists.known, np.diff(lists.bounds))[kept]
    starts = begins_of_runs(terms)
    return FrozenLists(terms[starts], np.append(starts, len(terms)), number[lists.docs[kept]], lists.times[kept])
