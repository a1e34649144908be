"""Selection of the hits to return: the k best, a diverse set, or a random tail."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.cue.time.intent import NO_INTENT, Intent
from adaptive_memory_core.policy.advanced import BASELINE
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Dropped, Hit, Scored
from adaptive_memory_core.score.blend import score
from adaptive_memory_core.score.copies import leaders, plain_words
from adaptive_memory_core.score.gates import BELOW_FLOOR, BEYOND_K, unfit, unfit_ones
from adaptive_memory_core.score.newest_first import NewestFirstQuery, newest_first
from adaptive_memory_core.score.ranking import Candidates, LeftOut, Ranking, as_candidates
from adaptive_memory_core.score.signals import NO_USE, Use
from adaptive_memory_core.score.surprise import Baseline, similarities_to
from adaptive_memory_core.score.time_match import OUTSIDE, attuned, timing

Vectors = Mapping[str, Any]  # by id in the collection
Twins = Mapping[int, Scored]  # by rank, the candidate with the same content that represents it
NO_TWINS: Twins = {}
NO_VECTORS: Vectors = {}


def pick(
    ranked: Sequence[Scored], policy: Policy, *, k: int, vectors: Vectors, same: bool = True
) -> tuple[Sequence[Scored], Sequence[Dropped]]:
    """The `k` candidates to return, and the others with the reason why not.

    Of several candidates with the same content, one competes. The others fill free places ("yield") or are dropped
    ("drop"). A candidate without a vector is not similar to any other. With `same=False`, equal texts count as
    different memories.
    """
    distinct, twins = ranked, NO_TWINS
    duplicates = policy.advanced.duplicates
    if same and (duplicates == "drop" or (duplicates == "yield" and len(ranked) > k)):
        distinct, twins = _distinct(ranked, policy.advanced.same_share)
    if not twins and not policy.diversity:
        if isinstance(ranked, Ranking):
            return ranked.best(k), LeftOut(ranked, k, BEYOND_K)
        return tuple(ranked[:k]), [Dropped(one.id, BEYOND_K, one) for one in ranked[k:]]
    in_turn = policy.diversity > 0 and bool(distinct)
    chosen: Sequence[Scored] = _in_turn(distinct, policy.diversity, k, vectors) if in_turn else distinct[:k]
    if twins:
        free = k - len(chosen) if duplicates == "yield" else 0
        chosen = _with(chosen, ranked, free, in_turn=in_turn)
    return tuple(chosen), _left_out(ranked, chosen, twins)


def _distinct(ranked: Sequence[Scored], share: float) -> tuple[Sequence[Scored], Twins]:
    """One candidate of each content, ordered by the best of each; and for all others, by rank, their representative."""
    texts = (
        ranked.in_order(ranked._candidates.columns.texts)
        if isinstance(ranked, Ranking)
        else [one.text for one in ranked]
    )
    first = leaders(texts, share)
    if first == list(range(len(texts))):
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
    """The member that represents the others: the best one with the words of the newest, or the best one if a time is
    missing."""
    times = [ranked[one].record.created_at for one in members]
    known = [time for time in times if time is not None]
    if len(known) < len(times):
        return members[0]
    newest = plain_words(ranked[members[times.index(max(known))]].text)
    return next(one for one in members if plain_words(ranked[one].text) == newest)


def _in_turn(ranked: Sequence[Scored], strength: float, k: int, vectors: Vectors) -> list[Scored]:
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


def _with(chosen: Sequence[Scored], ranked: Sequence[Scored], free: int, *, in_turn: bool) -> list[Scored]:
    """The chosen candidates and `free` others, by rank unless the chosen ones have their own order (`in_turn`)."""
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


MOST_CANDIDATES = 2_000  # limit when gates require a wider search; guess


class Ranked(NamedTuple):
    """The candidates by score."""

    hits: Candidates
    unfit: Mapping[int, str]  # the candidates excluded before scoring, by number, with the reasons
    scored: Ranking


def select(
    hits: Sequence[Hit],
    policy: Policy,
    *,
    k: int,
    now: float,
    intent: Intent = NO_INTENT,
    use: Use = NO_USE,
    time_alone: bool = False,
    told: NewestFirstQuery | None = None,
) -> tuple[Sequence[Scored], Sequence[Dropped]]:
    """The hits to return, best first, and the dropped ones with their reasons.

    If the query names a time, the same words at another time are another memory. If it names nothing else
    (`time_alone`), records of that time come first. `told` is needed to find the newest record of each fact.

    >>> from adaptive_memory_core.records import Record
    >>> hits = [Hit(Record(name, name), close, name) for name, close in (("tea", 0.9), ("coffee", 0.8), ("tax", 0.1))]
    >>> kept, dropped = select(hits, Policy(min_similarity=0.3), k=1, now=0.0)
    >>> [one.id for one in kept], [(one.id, one.reason) for one in dropped]
    (['tea'], [('coffee', 'beyond k'), ('tax', 'below the similarity floor')])
    """
    ranked = rank(hits, policy, now=now, intent=intent, use=use, time_alone=time_alone, told=told)
    return choose_hits(ranked, policy, k=k, intent=intent)


def rank(
    hits: Sequence[Hit],
    policy: Policy,
    *,
    now: float,
    intent: Intent = NO_INTENT,
    use: Use = NO_USE,
    time_alone: bool = False,
    told: NewestFirstQuery | None = None,
) -> Ranked:
    """The first half of `select`: the candidates that pass the gates, by score."""
    these = as_candidates(hits)
    reasons = unfit_ones(these, policy, now=now)
    fit = these
    if reasons:
        fit = these.only([one for one in range(len(these.columns.ids)) if one not in reasons])
    of_time = None
    if (intent.windows or intent.lean is not None) and policy.time_words != "off":
        of_time = timing(fit, intent, policy, alone=time_alone)
        policy = attuned(policy, intent)
    scored = score(fit, policy, now=now, use=use, of_time=of_time)
    if told is not None and policy.newest_first and (told.facts is not None or policy.blending == "bounded"):
        scored = newest_first(scored, told, intent, reworded=policy.advanced.reworded_facts)
    return Ranked(these, reasons, scored)


def choose_hits(
    ranked: Ranked,
    policy: Policy,
    *,
    k: int,
    intent: Intent = NO_INTENT,
    vectors: Vectors = NO_VECTORS,
) -> tuple[Sequence[Scored], Sequence[Dropped]]:
    """The second half of `select`. `vectors` (by the id in the collection) are needed if the policy asks for
    diversity."""
    these, reasons, scored = ranked
    least = policy.min_score
    weak = [one for one in scored if one.score < least] if least > 0.0 else []
    strong = [one for one in scored if one.score >= least] if weak else scored
    kept, dropped = pick(strong, policy, k=k, vectors=vectors, same=not intent.windows)
    if not weak and not reasons:
        return kept, dropped
    lost = [Dropped(one.id, "below the score floor", one) for one in weak]
    refused = [_unfit(these[number], reason) for number, reason in reasons.items()]
    return kept, (*dropped, *lost, *refused)


def _unfit(hit: Hit, reason: str) -> Dropped:
    """The dropped candidate, with its hit if another policy may return it."""
    return Dropped(hit.record.id, reason, hit=hit if reason in (BELOW_FLOOR, OUTSIDE) else None)


def wants_more(these: Candidates, policy: Policy, *, k: int, asked: int, now: float, near: int) -> bool:
    """Whether to ask the channel for more: gates excluded too many of the first `near`, or the rest are copies, and
    more distant candidates might still pass the floor.

    >>> from adaptive_memory_core.records import Record
    >>> expired = as_candidates([Hit(Record(str(n), "old", valid_until=1.0), 0.9, str(n)) for n in range(20)])
    >>> [wants_more(expired, Policy(), k=5, asked=asked, now=2.0, near=20) for asked in (20, 21)]
    [True, False]
    """
    if near < asked or asked >= max(MOST_CANDIDATES, k):
        return False
    reasons, texts = unfit_ones(these, policy, now=now), these.columns.texts[:near]
    if reasons:
        texts = [text for number, text in enumerate(texts) if number not in reasons]
    few, share = len(texts) < k, policy.advanced.same_share
    if not few and policy.advanced.duplicates != "keep":
        few = len(set(leaders(texts[:k], share))) < k and len(set(leaders(texts, share))) < k
    return few and unfit(these[near - 1], policy, now=now) != BELOW_FLOOR
