"""Diversity among the returned hits: maximal marginal relevance, places drawn at random, and further members of a set.

Statements about a set are usually far apart, so each further candidate of a session that is shown counts less.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.policy.advanced import BASELINE
from adaptive_memory_core.records import Dropped, Scored
from adaptive_memory_core.score.ranking import BEYOND_K
from adaptive_memory_core.score.surprise import Baseline, similarities_to

Vectors = Mapping[str, Any]  # by id in the collection


def in_turn(ranked: Sequence[Scored], strength: float, k: int, vectors: Vectors) -> list[Scored]:
    """Maximal marginal relevance: each next candidate maximises lambda * score - (1 - lambda) * its greatest similarity
    to the chosen ones. Source: Carbonell and Goldstein, SIGIR 1998."""
    likeness = _likeness(ranked, vectors)
    scores = np.array([one.score for one in ranked])
    nearest = np.zeros(len(ranked))
    free = np.ones(len(ranked), dtype=bool)
    order: list[int] = []
    while len(order) < min(k, len(ranked)):
        worth = np.where(free, (1.0 - strength) * scores - strength * nearest, -np.inf)
        order.append(int(worth.argmax()))
        free[order[-1]] = False
        nearest = np.maximum(nearest, likeness[order[-1]]) if len(order) > 1 else likeness[order[-1]]
    return [ranked[one] for one in order]


def _likeness(ranked: Sequence[Scored], vectors: Vectors) -> Any:
    """The similarity of each pair, above the baseline of unrelated texts if it was measured; 0 without a vector."""
    known = [number for number, one in enumerate(ranked) if one.hit._stored_id in vectors]
    rows = np.array([vectors[ranked[one].hit._stored_id] for one in known], dtype=np.float64)
    likeness = np.zeros((len(ranked), len(ranked)))
    if known:
        baseline = Baseline(ranked[0].signals.get(BASELINE, 0.0))
        likeness[np.ix_(known, known)] = baseline.above(similarities_to(rows, rows, "cosine"))
    return likeness


TIMES = 3  # candidates per drawn place: those that would be returned, and the next best; guess


class Drawn(NamedTuple):
    """The returned and dropped candidates after the draw, and each one's probability of being returned, by id. The
    probabilities are empty if nothing was drawn."""

    kept: Sequence[Scored]
    dropped: Sequence[Dropped]
    propensities: Mapping[str, float] = {}


def with_random_tail(kept: Sequence[Scored], dropped: Sequence[Dropped], *, tail: int, recall_id: str) -> Drawn:
    """Fill the last `tail` places by a random draw from three times as many candidates, with equal chances. The draw is
    seeded by the recall id, so a replay makes the same draw.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> def hit(name): return Scored(Hit(Record(name, name), 0.5, name), 0.5, {}, {})
    >>> drawn = with_random_tail(
    ...     (hit("a"), hit("b")), [Dropped("c", BEYOND_K, hit("c"))], tail=1, recall_id="r1"
    ... )
    >>> drawn.propensities, len(drawn.kept), drawn.kept[0].id
    ({'a': 1.0, 'b': 0.5, 'c': 0.5}, 2, 'a')
    """
    places = min(tail, len(kept) - 1)
    beyond = [one.scored for one in dropped if one.reason == BEYOND_K and one.scored is not None]
    spare = beyond[: max(0, TIMES * tail - places)]
    if places < 1 or not spare:
        return Drawn(kept, dropped)
    certain, drawn = kept[:-places], [*kept[-places:], *spare]
    chosen = {one.id for one in sorted(drawn, key=lambda one: _lot(recall_id, one.id))[:places]}
    returned = (*certain, *(one for one in drawn if one.id in chosen))
    ids = {one.id for one in drawn}
    lost = [Dropped(one.id, BEYOND_K, one) for one in drawn if one.id not in chosen]
    others = [one for one in dropped if one.id not in ids]
    chances = {**{one.id: 1.0 for one in certain}, **dict.fromkeys((one.id for one in drawn), places / len(drawn))}
    return Drawn(returned, [*lost, *others], chances)


def _lot(recall_id: str, record_id: str) -> bytes:
    said = f"{recall_id}\n{record_id}".encode(errors="replace")
    return hashlib.blake2b(said, digest_size=16).digest()


class Member(NamedTuple):
    """A candidate's score and session (None without a session)."""

    score: float
    session: str | None


def members(among: Sequence[Member], shown: int, most: int, *, cover: float) -> list[int]:
    """The numbers of at most `most` more candidates, best first; the first `shown` are already shown. A candidate
    counts by its score above the lowest one, divided by `1 + cover * others` for the others of its session.

    >>> among = [Member(0.9, "a"), Member(0.8, "a"), Member(0.79, "b"), Member(0.5, "b"), Member(0.1, "c")]
    >>> members(among, 1, 3, cover=0.1), members(among, 1, 3, cover=0.0), members(among, 5, 3, cover=0.1)
    ([2, 1, 3], [1, 2, 3], [])
    """
    low = min((one.score for one in among), default=0.0)
    seen: Counter[str] = Counter(one.session for one in among[:shown] if one.session is not None)
    left, chosen = list(range(shown, len(among))), list[int]()

    def worth(number: int) -> tuple[float, int]:
        score, session = among[number]
        others = 0 if session is None else seen[session]
        return (score - low) / (1.0 + cover * others), -number

    while left and len(chosen) < most:
        best = max(left, key=worth)
        left.remove(best)
        chosen.append(best)
        session = among[best].session
        if session is not None:
            seen[session] += 1
    return chosen
