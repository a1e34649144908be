"""Ranking of the candidates that pass the gates, and selection of the hits to return, of which copies give way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from adaptive_memory_core.cue.time.intent import NO_INTENT, Intent
from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Dropped, Hit, Scored
from adaptive_memory_core.score.blend import score
from adaptive_memory_core.score.diversity import Vectors, in_turn
from adaptive_memory_core.score.newest_first import NewestFirstQuery, newest_first
from adaptive_memory_core.score.ranking import (
    BELOW_FLOOR,
    BEYOND_K,
    Candidates,
    LeftOut,
    Ranking,
    as_candidates,
    unfit,
    unfit_ones,
)
from adaptive_memory_core.score.signals import NO_USE, Use
from adaptive_memory_core.score.time_match import OUTSIDE, attuned, timing

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
    by_turns = policy.diversity > 0 and bool(distinct)
    chosen: Sequence[Scored] = in_turn(distinct, policy.diversity, k, vectors) if by_turns else distinct[:k]
    if twins:
        free = k - len(chosen) if duplicates == "yield" else 0
        chosen = _with(chosen, ranked, free, by_turns=by_turns)
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


def _with(chosen: Sequence[Scored], ranked: Sequence[Scored], free: int, *, by_turns: bool) -> list[Scored]:
    """The chosen candidates and `free` others, by rank unless the chosen ones have their own order (`by_turns`)."""
    taken = {id(one) for one in chosen}
    more = [one for one in ranked if id(one) not in taken][:free]
    if by_turns:
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
    newest_query: NewestFirstQuery | None = None,
) -> tuple[Sequence[Scored], Sequence[Dropped]]:
    """The hits to return, best first, and the dropped ones with their reasons.

    If the query names a time, the same words at another time are another memory. If it names nothing else
    (`time_alone`), records of that time come first. `newest_query` is needed to find the newest record of each fact.

    >>> from adaptive_memory_core.records import Record
    >>> hits = [Hit(Record(name, name), close, name) for name, close in (("tea", 0.9), ("coffee", 0.8), ("tax", 0.1))]
    >>> kept, dropped = select(hits, Policy(min_similarity=0.3), k=1, now=0.0)
    >>> [one.id for one in kept], [(one.id, one.reason) for one in dropped]
    (['tea'], [('coffee', 'beyond k'), ('tax', 'below the similarity floor')])
    """
    ranked = rank(hits, policy, now=now, intent=intent, use=use, time_alone=time_alone, newest_query=newest_query)
    return choose_hits(ranked, policy, k=k, same=not intent.windows)


def rank(
    hits: Sequence[Hit],
    policy: Policy,
    *,
    now: float,
    intent: Intent = NO_INTENT,
    use: Use = NO_USE,
    time_alone: bool = False,
    newest_query: NewestFirstQuery | None = None,
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
    if (
        newest_query is not None
        and policy.newest_first
        and (newest_query.facts is not None or policy.blending == "bounded")
    ):
        scored = newest_first(scored, newest_query, intent, reworded=policy.advanced.reworded_facts)
    return Ranked(these, reasons, scored)


def choose_hits(
    ranked: Ranked,
    policy: Policy,
    *,
    k: int,
    same: bool = True,
    vectors: Vectors = NO_VECTORS,
) -> tuple[Sequence[Scored], Sequence[Dropped]]:
    """The second half of `select`. With `same=False`, equal texts count as different memories, or there are none.
    `vectors` (by the id in the collection) are needed if the policy asks for diversity."""
    these, reasons, scored = ranked
    least = policy.min_score
    weak = [one for one in scored if one.score < least] if least > 0.0 else []
    strong = [one for one in scored if one.score >= least] if weak else scored
    kept, dropped = pick(strong, policy, k=k, vectors=vectors, same=same)
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


RUN = 3  # length in words of the runs by which texts are compared
REMEMBERED = 1_000  # characters of the longest text whose shape is cached
_EDGES = " .,;:!?\"'`()[]{}\u2019\u201c\u201d\u2026"
_TELLING = late_pattern(r"\d|n[\u2019']t\b|^(?:no|not|never|none|nor|without|cannot)$")


class Shape(NamedTuple):
    """A text's runs of words, and its numbers and negations, which would make a different statement."""

    runs: frozenset[tuple[str, ...]]
    telling: frozenset[str]


def plain_words(text: str) -> str:
    """The text in lower case with single spaces, without a full stop at the end.

    >>> plain_words("Bob  likes TEA."), plain_words("Bob likes tea?")
    ('bob likes tea', 'bob likes tea?')
    """
    return " ".join(text.casefold().split()).rstrip(".! ")


def overlap(one: str, other: str) -> float:
    """The share of runs of words that two texts have in common; 0 if a number or a negation differs.

    >>> overlap("The big office in Berlin moved.", "the big office in Berlin moved"), overlap("tea", "coffee")
    (1.0, 0.0)
    >>> overlap("one two three four five", "one two three four six")
    0.5
    >>> overlap("He will never take the job in Oslo", "He will take the job in Oslo"), overlap("v 1", "v 2")
    (0.0, 0.0)
    """
    first, second = _shape(one), _shape(other)
    if first.telling != second.telling or not first.runs or not second.runs:
        return 0.0
    shared = len(first.runs & second.runs)
    return shared / max(1, len(first.runs) + len(second.runs) - shared)


def has_copies(texts: Sequence[str], share: float) -> bool:
    """Whether texts may have the same content; True if only a comparison can tell.

    >>> [has_copies(texts, 1.0) for texts in (["Tea.", "coffee"], ["Tea.", "tea"])], has_copies(["tea", "tax"], 0.8)
    ([False, True], True)
    """
    if share < 1.0 or max(map(len, texts), default=0) > REMEMBERED:
        return True
    return len(set(map(_plain_of_short, texts))) < len(texts)


def leaders(texts: Sequence[str], share: float) -> list[int]:
    """For each text, the number of the first text with the same content, or its own number.

    A text without words is not the same as any other. With a `share` of 1, the words must be the same. Below 1, texts
    that begin or end with the same words must have at least this share of their runs of words in common.

    >>> leaders(["Tea.", "coffee", "tea", "", ""], 1.0)
    [0, 1, 0, 3, 4]
    """
    short = max(map(len, texts), default=0) <= REMEMBERED
    words = list(map(_plain_of_short, texts)) if short else _plain_where_needed(texts)
    found = list(range(len(words)))
    if len(set(words)) < len(words):
        first: dict[str, int] = {}
        found = [first.setdefault(one, number) if one else number for number, one in enumerate(words)]
    return found if share >= 1.0 else _nearly(texts, found, share)


@lru_cache(maxsize=2_000)  # at most 1 kB each; the texts themselves are in RAM anyway
def _plain_of_short(text: str) -> str:
    return plain_words(text)


def _plain_where_needed(texts: Sequence[str]) -> list[str]:
    """The plain words of each text; for a text with a unique beginning, only the beginning, which suffices."""
    begun = [_edges(text)[0] for text in texts]
    often = Counter(begun)
    return [plain_words(text) if often[start] > 1 else start for text, start in zip(texts, begun, strict=True)]


def _nearly(texts: Sequence[str], same: Sequence[int], share: float) -> list[int]:
    begun: dict[str, list[int]] = {}
    ended: dict[str, list[int]] = {}
    found: list[int] = []
    for number, text in enumerate(texts):
        leader = found[same[number]] if same[number] < number else number
        if leader == number and text:
            begin, end = _edges(text)
            alike, others = begun.setdefault(begin, []), ended.setdefault(end, [])
            leader = next((one for one in (*alike, *others) if overlap(text, texts[one]) >= share), number)
            if leader == number:
                alike.append(number)
                others.append(number)
        found.append(leader)
    return found


def _edges(text: str) -> tuple[str, str]:
    """The first two words and the last two; cached for short texts."""
    return _edges_of_short(text) if len(text) <= REMEMBERED else _edges_of(text)


@lru_cache(maxsize=2_000)  # at most 1 kB each; the texts themselves are in RAM anyway
def _edges_of_short(text: str) -> tuple[str, str]:
    return _edges_of(text)


def _edges_of(text: str) -> tuple[str, str]:
    return _edge(text.split(None, 2)[:2]), _edge(text.rsplit(None, 2)[-2:])


def _edge(words: Sequence[str]) -> str:
    return " ".join(words).casefold().rstrip(".! ")


def _shape(text: str) -> Shape:
    return _shape_of_short(text) if len(text) <= REMEMBERED else _shape_of(text)


@lru_cache(maxsize=500)  # at most 50 kB each; 3 kB for a usual turn
def _shape_of_short(text: str) -> Shape:
    return _shape_of(text)


def _shape_of(text: str) -> Shape:
    words = tuple(word for one in text.casefold().split() if (word := one.strip(_EDGES)))
    runs = (words[start : start + RUN] for start in range(max(1, len(words) - RUN + 1)) if words)
    return Shape(frozenset(runs), frozenset(word for word in words if _TELLING.search(word)))
