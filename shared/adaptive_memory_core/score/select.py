"""Which hits are returned? Gates, then the blend, then the floor and k; a reason for everyone who is dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from adaptive_memory_core.cue.time.intent import NO_INTENT, Intent
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Dropped, Hit, Scored
from adaptive_memory_core.score.blend import score
from adaptive_memory_core.score.candidates import Candidates, columns_of
from adaptive_memory_core.score.copies import leaders
from adaptive_memory_core.score.diversity import NO_VECTORS, Vectors, pick
from adaptive_memory_core.score.gates import BELOW_FLOOR, too_weak, unfit, unfit_ones
from adaptive_memory_core.score.newest_first import Told, newest_first
from adaptive_memory_core.score.time_match import OUTSIDE, attuned, timing
from adaptive_memory_core.score.usefulness import NO_USE, Use

MOST_CANDIDATES = 2_000  # when gates make it ask again; guess


class Ranked(NamedTuple):
    """The candidates by score."""

    hits: Candidates
    unfit: Mapping[int, str]  # those that are out before scoring, by their numbers, with the reasons
    scored: Sequence[Scored]


def select(
    hits: Sequence[Hit],
    policy: Policy,
    *,
    k: int,
    now: float,
    intent: Intent = NO_INTENT,
    use: Use = NO_USE,
    time_alone: bool = False,
    told: Told | None = None,
) -> tuple[tuple[Scored, ...], Sequence[Dropped]]:
    """The hits to return, best first, and the dropped ones with their reasons.

    Where a time is named, the same words at another time are another memory; where nothing besides is named
    (`time_alone`), what is of that time comes first. `told` is what the newest of each fact is found by.

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
    told: Told | None = None,
) -> Ranked:
    """The first half of `select`: those that pass the gates, by score."""
    these = columns_of(hits)
    reasons = unfit_ones(these, policy, now=now)
    fit = these.only([one for one in range(len(these)) if one not in reasons]) if reasons else these
    of_time = timing(fit, intent, policy, alone=time_alone)
    scored: Sequence[Scored] = score(fit, attuned(policy, intent), now=now, use=use, of_time=of_time)
    if policy.newest_first and told is not None and (told.facts is not None or policy.blending == "bounded"):
        scored = newest_first(scored, told, intent, reworded=policy.advanced.reworded_facts)
    return Ranked(these, reasons, scored)


def choose_hits(
    ranked: Ranked,
    policy: Policy,
    *,
    k: int,
    intent: Intent = NO_INTENT,
    vectors: Vectors = NO_VECTORS,
) -> tuple[tuple[Scored, ...], Sequence[Dropped]]:
    """The second half of `select`. `vectors` (by the id in the collection) are needed if the policy asks for
    diversity."""
    these, reasons, scored = ranked
    weak = [one for one in scored if too_weak(one, policy)] if policy.min_score > 0.0 else []
    strong = [one for one in scored if not too_weak(one, policy)] if weak else scored
    kept, dropped = pick(strong, policy, k=k, vectors=vectors, same=not intent.windows)
    if not weak and not reasons:
        return kept, dropped
    lost = [Dropped(one.id, "below the score floor", one) for one in weak]
    refused = [_unfit(these[number], reason) for number, reason in reasons.items()]
    return kept, (*dropped, *lost, *refused)


def _unfit(hit: Hit, reason: str) -> Dropped:
    """With the hit where another policy may let it through."""
    return Dropped(hit.record.id, reason, hit=hit if reason in (BELOW_FLOOR, OUTSIDE) else None)


def wants_more(hits: Sequence[Hit], policy: Policy, *, k: int, asked: int, now: float) -> bool:
    """Whether to ask the channel for more: gates took too many, or what is left says the same, and what lies further
    out might still pass the floor.

    >>> from adaptive_memory_core.records import Record
    >>> expired = [Hit(Record(str(n), "old", valid_until=1.0), 0.9, str(n)) for n in range(20)]
    >>> wants_more(expired, Policy(), k=5, asked=20, now=2.0), wants_more(expired, Policy(), k=5, asked=21, now=2.0)
    (True, False)
    """
    if len(hits) < asked or asked >= max(MOST_CANDIDATES, k):
        return False
    return _fewer(hits, policy, k=k, now=now) and unfit(hits[-1], policy, now=now) != BELOW_FLOOR


def _fewer(hits: Sequence[Hit], policy: Policy, *, k: int, now: float) -> bool:
    """Whether fewer than k of them, each unlike the others, may be returned."""
    these = columns_of(hits)
    reasons = unfit_ones(these, policy, now=now)
    fit = (text for number, text in enumerate(these.columns.texts) if number not in reasons)
    texts = list(islice(fit, k))
    if len(texts) < k or policy.advanced.duplicates == "keep":
        return len(texts) < k
    if len(set(leaders(texts, policy.advanced.same_share))) == k:
        return False
    return len(set(leaders([*texts, *fit], policy.advanced.same_share))) < k
