"""How are hits chosen that differ? Copies of better hits give way, and similarity to a chosen hit may cost score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.policy.fusion import BASELINE
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Dropped, Scored
from adaptive_memory_core.score.copies import leaders, plain
from adaptive_memory_core.score.gates import BEYOND_K
from adaptive_memory_core.score.ranking import LeftOut, Ranking, texts_of
from adaptive_memory_core.score.surprise import Baseline, similarities_to

Vectors = Mapping[str, Any]  # by id in the collection
Twins = Mapping[int, Scored]  # by rank, what says the same and stands for it
NO_TWINS: Twins = {}
NO_VECTORS: Vectors = {}


def pick(
    ranked: Sequence[Scored], policy: Policy, *, k: int, vectors: Vectors, same: bool = True
) -> tuple[tuple[Scored, ...], Sequence[Dropped]]:
    """The `k` to return of those that passed, and why the others are not among them.

    Of several that say the same, one competes. Those that are left over fill places that are free ("yield"), or go
    ("drop"). What has no vector is like nothing. `same=False` says that the same words may be different memories.
    """
    if not same or policy.advanced.duplicates == "keep" or (policy.advanced.duplicates == "yield" and len(ranked) <= k):
        distinct, twins = ranked, NO_TWINS
    else:
        distinct, twins = _distinct(ranked, policy.advanced.same_share)
    if not twins and not policy.diversity:
        return _first(ranked, k)
    in_turn = policy.diversity > 0 and bool(distinct)
    chosen: Sequence[Scored] = _in_turn(distinct, policy.diversity, k, vectors) if in_turn else distinct[:k]
    if twins:
        free = k - len(chosen) if policy.advanced.duplicates == "yield" else 0
        chosen = _with(chosen, ranked, free, in_turn=in_turn)
    return tuple(chosen), _left_out(ranked, chosen, twins)


def _first(ranked: Sequence[Scored], k: int) -> tuple[tuple[Scored, ...], Sequence[Dropped]]:
    if isinstance(ranked, Ranking):
        return ranked[:k], LeftOut(ranked, k, BEYOND_K)
    return tuple(ranked[:k]), [Dropped(one.id, BEYOND_K, one) for one in ranked[k:]]


def _distinct(ranked: Sequence[Scored], share: float) -> tuple[Sequence[Scored], Twins]:
    """One of each that say the same, in the order of the best of each; and for all others, by rank, the one it is."""
    first = leaders(texts_of(ranked), share)
    if first == list(range(len(ranked))):
        return ranked, NO_TWINS
    groups: dict[int, list[int]] = {}
    for number, leader in enumerate(first):
        groups.setdefault(leader, []).append(number)
    twins: dict[int, Scored] = {}
    spokesmen = []
    for members in groups.values():
        one = members[0] if len(members) == 1 else _spokesman(ranked, members)
        spokesmen.append(one)
        twins.update((number, ranked[one]) for number in members if number != one)
    return [ranked[one] for one in spokesmen], twins


def _spokesman(ranked: Sequence[Scored], members: Sequence[int]) -> int:
    """Of the same words the best; where the words differ, of the newest: it is what the others have become."""
    times = [ranked[one].record.created_at for one in members]
    known = [time for time in times if time is not None]
    if len(known) < len(times):
        return members[0]
    newest = plain(ranked[members[times.index(max(known))]].text)
    return next(one for one in members if plain(ranked[one].text) == newest)


def _in_turn(ranked: Sequence[Scored], strength: float, k: int, vectors: Vectors) -> list[Scored]:
    """Maximal marginal relevance: each next one has the most of lambda * score - (1 - lambda) * its likeness to the one
    it is most like of those before it. Source: Carbonell and Goldstein, SIGIR 1998."""
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
    """The similarity of each pair, from what unrelated texts score if that was measured; 0 without a vector."""
    known = [number for number, one in enumerate(ranked) if one.hit._stored_id in vectors]
    rows = np.array([vectors[ranked[one].hit._stored_id] for one in known], dtype=np.float64)
    likeness = np.zeros((len(ranked), len(ranked)))
    if known:
        baseline = Baseline(ranked[0].signals.get(BASELINE, 0.0))
        likeness[np.ix_(known, known)] = baseline.above(similarities_to(rows, rows, "cosine"))
    return likeness


def _with(chosen: Sequence[Scored], ranked: Sequence[Scored], free: int, *, in_turn: bool) -> list[Scored]:
    """The chosen with so many of the others, in the order of their ranks unless they were chosen in turn."""
    taken = {id(one) for one in chosen}
    more = [one for one in ranked if id(one) not in taken][:free]
    if in_turn:
        return [*chosen, *more]
    taken |= {id(one) for one in more}
    return [one for one in ranked if id(one) in taken]


def _left_out(ranked: Sequence[Scored], chosen: Sequence[Scored], twins: Twins) -> list[Dropped]:
    taken = {id(one) for one in chosen}
    return [
        Dropped(one.id, f"nearly the same as {twins[number].id}" if number in twins else BEYOND_K, one)
        for number, one in enumerate(ranked)
        if id(one) not in taken
    ]
