"""How signals become a score: relevance in nats, times importance and reads, raised by usefulness; the parts add up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import add, attrgetter

import numpy as np

from adaptive_memory_core.learn.asked_before import asked_before
from adaptive_memory_core.policy.advanced import (
    AROUND,
    MOST_OF_KINDS,
    MOST_OF_WORDS,
    OF_TURNS,
    RERANKER,
    WORDS,
    Fusion,
    Weights,
)
from adaptive_memory_core.policy.learning import NEAR
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.literature import Parts, blended, reciprocal_ranks, weighted_sum
from adaptive_memory_core.score.ranking import Candidates, Ranking, as_candidates, best_first
from adaptive_memory_core.score.signals import NO_USE, Use, raised, since_read, since_useful, worths
from adaptive_memory_core.score.surprise import Array, baseline_in, of_meaning
from adaptive_memory_core.score.time_match import TIME, Timing

_strengths = attrgetter("strength")


def score(
    hits: Sequence[Hit], policy: Policy, *, now: float, use: Use = NO_USE, of_time: Timing | None = None
) -> Ranking:
    """Every hit with its score, best first; the parts of a score add up to it.

    The relevance (the similarity, or that and other channels' leads taken together) is what strength leaves of it. In
    the "bounded" blend, ours, importance and reads multiply it, and usefulness raises it: the score is an absolute
    number, and if nothing was learned the ranking is that of the relevance. The other blends are the literature's
    (`score/literature.py`). If relevance alone has a weight, it is the score.

    Ties are broken by relevance, then by the newer record, then by id, so that one state gives one ranking.

    >>> from adaptive_memory_core.records import Record
    >>> old, new = Record("old", "tea", created_at=0.0), Record("new", "tea", created_at=1e6)
    >>> [s.id for s in score([Hit(old, 0.8, "old"), Hit(new, 0.8, "new")], Policy(), now=1e6)]
    ['new', 'old']
    """
    these = as_candidates(hits)
    columns, leads = these.columns, these.leads
    if not columns.ids:
        return Ranking(these, [], [], {}, {})
    reads, strong = columns.reads, list(map(_strengths, columns.reads))
    shares = relevances(these, policy.advanced.fusion, policy.own_weights, policy.advanced.rerank_weight, of_time)
    if NEAR in leads:
        shares = asked_before(shares, leads, columns.similarities, policy.learning.similar_questions)
    close = wholes = reduce(add, shares.values()) if leads or of_time else np.array(columns.similarities)
    if min(strong) < 1.0:  # `weakened` of each
        lost = policy.decay.strength_weight * (1.0 - np.array(strong))
        close = np.where(wholes > 0.0, wholes * (1.0 - lost), wholes)
    worth = worths(columns.importances, reads, policy, now=now)
    relevance = close.tolist()
    signals = {"recency": (), "importance": worth, "strength": strong, "relevance": relevance}
    parts_of: Callable[[Weights], Parts]
    if policy.blending == "bounded":
        fresh = since_read(reads, policy, now=now)
        used = since_useful(reads, columns.similarities, relevance, leads, use=use, now=now)
        lift = policy.learning.usefulness * use.gain
        parts_of = partial(bounded, useful=lift, fresh=fresh, used=used, worth=worth, close=close)
        signals["useful"] = used
    else:
        fresh, parts_of = blended(policy, columns, worth, relevance, now=now)
    of_kinds = policy.advanced.kind_weights
    parts = parts_of(policy.weights) if not of_kinds else _by_kind(these, dict(of_kinds), policy.weights, parts_of)
    signals |= {"recency": fresh, "similarity": columns.similarities, **leads}
    if of_time is not None:
        signals[TIME] = of_time.fits
        if policy.blending != "bounded":  # what else speaks for a record counts as far as its time fits
            fits = np.array(of_time.fits)
            parts |= {name: one * fits for name, one in parts.items() if name != "similarity"}
    if len(shares) > 1:
        parts |= _split(parts["similarity"], shares, wholes, all_some=min(relevance) > 0.0)
    table = np.array(list(parts.values()))
    scores = np.minimum(1.0, np.add.reduce(table)).tolist()  # a rounding error may take a sum beyond 1
    order = best_first(these, scores, relevance)
    return Ranking(these, order, scores, dict(zip(parts, table.tolist(), strict=True)), signals)


def _split(whole: Array, shares: Parts, wholes: Array, *, all_some: bool) -> Parts:
    """The part of the relevance, split among what it is made of; under "similarity" if there is nothing to split, which
    is not so if `all_some`.

    >>> shares, wholes = {"similarity": np.array([0.25, 0.0]), "words": np.array([0.75, 0.0])}, np.array([1.0, 0.0])
    >>> {name: one.tolist() for name, one in _split(np.array([0.5, 0.25]), shares, wholes, all_some=False).items()}
    {'similarity': [0.125, 0.25], 'words': [0.375, 0.0]}
    """
    if all_some:
        share = whole / wholes
        return {name: one * share for name, one in shares.items()}
    some = wholes > 0.0
    split = {name: whole * one / np.where(some, wholes, np.inf) for name, one in shares.items()}
    return {**split, "similarity": np.where(some, split["similarity"], whole)}


def relevances(
    these: Candidates, fusion: Fusion, more: Mapping[str, float], reranked: float, of_time: Timing | None = None
) -> Parts:
    """The parts that add up to the relevance, by name: a column each, with a number in [0, 1] for each. `more` are
    the weights of further channels, by name, and `reranked` the share that a reranker decides. Vectors alone, where no
    time is asked about, are taken as they are, as the literature takes them.

    What each channel says, in nats, is added up: the sum is taken as a share of the most that all of them could say,
    and each part has its share of what speaks for the candidate.

    >>> from adaptive_memory_core.records import Record
    >>> both = as_candidates([Hit(Record("a", "tea"), 0.5, "a"), Hit(Record("b", "tax"), -0.5, "b")])
    >>> relevances(both, Fusion(), {}, 0.0)["similarity"].tolist()
    [0.5, 0.0]
    """
    leads = these.leads
    if fusion.method == "rrf":
        parts = reciprocal_ranks(these, more, of_time)
    elif fusion.method == "sum":
        parts = weighted_sum(these, fusion, more)
    elif not (leads or of_time):
        return {"similarity": np.minimum(1.0, np.maximum(0.0, these.columns.similarities))}
    else:
        parts = _shares_of_nats(these, fusion, more, of_time)
    if RERANKER not in leads:
        return parts
    left = {name: (1.0 - reranked) * values for name, values in parts.items()}
    return {**left, RERANKER: reranked * np.array(leads[RERANKER])}


def _shares_of_nats(these: Candidates, fusion: Fusion, more: Mapping[str, float], of_time: Timing | None) -> Parts:
    """Each channel's share of the relevance."""
    leads, baseline = these.leads, baseline_in(these.leads)
    meant, vectors = of_meaning([*these.columns.similarities, 1.0], baseline), fusion.vectors if leads else 1.0
    same_text, nats = float(meant[-1]), [vectors * meant[:-1]]
    names, most = ["similarity"], vectors
    for name in (WORDS, AROUND, *OF_TURNS, *more):
        if name in leads:
            weight = more[name] * same_text if name in more else 1.0 if name in OF_TURNS else fusion.words
            most += more.get(name, 0.0)
            nats.append(weight * np.array(leads[name]))
            names.append(name)
    most = same_text * most
    for name, weight in ((MOST_OF_WORDS, fusion.words), (MOST_OF_KINDS, 1.0)):
        most += weight * leads[name][0] if leads.get(name) else 0.0
    if of_time is not None:
        nats.append(np.array(of_time.nats))
        names.append(TIME)
        most += of_time.most
    if most <= 0.0:
        return {name: 0.0 * one for name, one in zip(names, nats, strict=True)}
    speaking = [np.maximum(0.0, one) for one in nats]
    whole = np.minimum(1.0, np.maximum(0.0, reduce(add, nats) / most))
    share = whole / np.maximum(1e-12, reduce(add, speaking))
    return {name: one * share for name, one in zip(names, speaking, strict=True)}


def bounded(
    weights: Weights,
    useful: float,
    fresh: Sequence[float],
    used: Sequence[float],
    worth: Sequence[float],
    close: Array,
) -> Parts:
    """The parts of each score: shares of the relevance for reads and importance, and what usefulness adds to that,
    which counts as much as `useful` further pieces of evidence.

    >>> def told(parts): return {name: one.tolist() for name, one in parts.items()}
    >>> told(bounded(Weights(recency=1, importance=1, similarity=2), 3.0, [1.0], [0.0], [0.0], np.array([0.5])))
    {'recency': [0.125], 'importance': [0.0], 'similarity': [0.25], 'useful': [0.0]}
    >>> told(bounded(Weights(0, 0, 1), 1.0, [0.0], [1.0], [0.5], np.array([0.5])))
    {'recency': [0.0], 'importance': [0.0], 'similarity': [0.5], 'useful': [0.25]}
    """
    total = weights.recency + weights.importance + weights.similarity
    wholes = np.minimum(1.0, np.maximum(0.0, close)) / total
    recent = weights.recency * np.array(fresh) * wholes
    important = weights.importance * np.minimum(1.0, np.array(worth)) * wholes
    similar = weights.similarity * wholes
    gained = used
    if any(used):
        before = np.minimum(1.0, recent + important + similar).tolist()
        gained = [raised(one, by, useful) - one for one, by in zip(before, used, strict=True)]
    return {"recency": recent, "importance": important, "similarity": similar, "useful": np.array(gained)}


def _by_kind(
    these: Candidates, of_kind: Mapping[str, Weights], others: Weights, parts_of: Callable[[Weights], Parts]
) -> Parts:
    """The parts of each score, by the weights of the record's kind.

    >>> from adaptive_memory_core.records import Record
    >>> both = as_candidates([Hit(Record("a", "tea", kind="fact"), 0.5, "a"), Hit(Record("b", "tax"), 0.5, "b")])
    >>> def parts_of(own): return {"recency": np.array([own.recency] * 2), "similarity": np.array([own.similarity] * 2)}
    >>> found = _by_kind(both, {"fact": Weights(0, 0, 1)}, Weights(1, 0, 0), parts_of)
    >>> {name: one.tolist() for name, one in found.items()}
    {'recency': [0.0, 1.0], 'similarity': [1.0, 0.0]}
    """
    own = [of_kind.get(hit.record.kind or "", others) for hit in these]
    parts = {weights: parts_of(weights) for weights in dict.fromkeys([others, *own])}
    names = dict.fromkeys(name for columns in parts.values() for name in columns)
    nothing = [0.0] * len(own)
    return {
        name: np.array([parts[weights].get(name, nothing)[place] for place, weights in enumerate(own)])
        for name in names
    }
