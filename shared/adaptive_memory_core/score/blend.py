"""How are signals blended into a score in [0, 1]? By the policy's blend, with parts that add up to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from adaptive_memory_core.policy.advanced import Weights
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.ranking import Candidates, Ranking, as_candidates
from adaptive_memory_core.score.relevance import TIME, Parts, Timing, relevances, times, within_share
from adaptive_memory_core.score.signals import recencies, weakened, worths
from adaptive_memory_core.score.usefulness import NO_USE, Use, asked_before, bounded, since_read, since_useful

Column = Sequence[float]
NOTHING: Column = ()
# The smallest spread of recency, importance and similarity over the candidates that is stretched to [0, 1]: a smaller
# one keeps its share of this value. Measured for the first two (benchmarks/rot.py); the third is a guess.
LEAST_SPREADS = (0.5, 0.2, 0.05)
LITERATURE = (0.01, 0.01, 0.01)  # plain min-max, except where a spread means nothing


def normalise(values: Sequence[float], *, spread: float) -> list[float]:
    """Min-max over the candidates, except that a range below `spread` counts as `spread`, centred on 0.5.

    >>> normalise([1.0, 2.0, 3.0], spread=0.5)
    [0.0, 0.5, 1.0]
    >>> normalise([0.7, 0.7], spread=0.5)               # a constant says nothing
    [0.5, 0.5]
    >>> normalise([0.5, 0.75], spread=1.0)              # a quarter of what would matter stays a quarter
    [0.375, 0.625]
    """
    if not values:
        return []
    low, high = min(values), max(values)
    width = high - low
    if width >= spread:
        return [(value - low) / width for value in values]
    middle = (low + high) / 2
    return [0.5 + (value - middle) / spread for value in values]


def neutral(values: Sequence[float | None]) -> list[float]:
    """An unknown value becomes the middle of the known ones: it counts neither for nor against a hit.

    >>> neutral([0.1, None, 0.3])
    [0.1, 0.2, 0.3]
    >>> neutral([None, None])
    [0.5, 0.5]
    """
    known = [value for value in values if value is not None]
    middle = (min(known) + max(known)) / 2 if known else 0.5
    return [middle if value is None else value for value in values]


def score(
    hits: Sequence[Hit], policy: Policy, *, now: float, use: Use = NO_USE, of_time: Timing | None = None
) -> Ranking:
    """Every hit with its score, best first; the parts of a score add up to it.

    The relevance (the similarity, or that and other channels' leads taken together) is what strength leaves of it. In
    the "bounded" blend, ours, importance and reads multiply it, and usefulness raises it (`score/usefulness.py`): the
    score is an absolute number, and if nothing was learned the ranking is that of the relevance. In "sum", "minmax" and
    "product", the literature's, the signals are made comparable by min-max over the hits and added; in "absolute" they
    are added as they are. If relevance alone has a weight, it is the score.

    Ties are broken by relevance, then by the newer record, then by id, so that one state gives one ranking.

    >>> from adaptive_memory_core.records import Record
    >>> old, new = Record("old", "tea", created_at=0.0), Record("new", "tea", created_at=1e6)
    >>> [s.id for s in score([Hit(old, 0.8, "old"), Hit(new, 0.8, "new")], Policy(), now=1e6)]
    ['new', 'old']
    """
    these = as_candidates(hits)
    columns = these.columns
    reads, similarities = columns.reads, columns.similarities
    worth = worths(columns.importances, reads, policy, now=now)
    strong = [read.strength for read in reads]
    shares = relevances(these, policy.advanced.fusion, policy.own_weights, policy.advanced.rerank_weight, of_time)
    shares = asked_before(shares, these, policy.learning.similar_questions)
    wholes = _sums(shares) if these.leads or of_time else similarities
    close: Column = wholes
    if min(strong, default=1.0) < 1.0:
        close = [weakened(whole, left, policy) for whole, left in zip(wholes, strong, strict=True)]
    signals = {"recency": NOTHING, "importance": worth, "strength": strong, "relevance": close}
    if policy.blending == "bounded":
        fresh, used = since_read(reads, policy, now=now), since_useful(these, close, use=use, now=now)
        lift = policy.learning.usefulness * use.gain
        parts = _by_kind(these, policy, lambda own: bounded(own, lift, fresh, used, worth, close))
        signals["useful"] = used
    else:
        fresh = neutral(recencies(columns.created, reads, policy, now=now))
        parts = _by_kind(these, policy, lambda own: _blended(policy, own, fresh, worth, close))
        if of_time is not None:  # what else speaks for a record counts as far as its time fits
            parts |= {name: _each(one, of_time.fits) for name, one in parts.items() if name != "similarity"}
    signals |= {"recency": fresh, "similarity": similarities, **these.leads}
    if of_time is not None:
        signals[TIME] = of_time.fits
    if these.leads or of_time:  # all hits of a recall have leads, or none
        parts = _split(parts, shares, wholes)
    scores = [one if one < 1.0 else 1.0 for one in _sums(parts)]  # a rounding error may take a sum beyond 1
    return Ranking(these, scores, parts, signals)


def _sums(columns: Mapping[str, Column]) -> list[float]:
    """The sum over the columns, for each candidate."""
    return list(map(sum, zip(*columns.values(), strict=True)))


def _by_kind(these: Candidates, policy: Policy, parts_of: Callable[[Weights], Parts]) -> Parts:
    """The parts of each score, by the weights of the record's kind.

    >>> from adaptive_memory_core.records import Record
    >>> both = as_candidates([Hit(Record("a", "tea", kind="fact"), 0.5, "a"), Hit(Record("b", "tax"), 0.5, "b")])
    >>> policy = Policy(weights=Weights(1, 0, 0)).replace(advanced={"kind_weights": {"fact": Weights(0, 0, 1)}})
    >>> _by_kind(both, policy, lambda own: {"recency": [own.recency] * 2, "similarity": [own.similarity] * 2})
    {'recency': [0.0, 1.0], 'similarity': [1.0, 0.0]}
    """
    if not policy.advanced.kind_weights:
        return parts_of(policy.weights)
    of_kind = dict(policy.advanced.kind_weights)
    own = [of_kind.get(hit.record.kind or "", policy.weights) for hit in these]
    parts = {weights: parts_of(weights) for weights in dict.fromkeys([policy.weights, *own])}
    names = dict.fromkeys(name for columns in parts.values() for name in columns)
    nothing = [0.0] * len(these)
    return {name: [parts[weights].get(name, nothing)[place] for place, weights in enumerate(own)] for name in names}


def _each(column: Column, shares: Column) -> list[float]:
    return [one * share for one, share in zip(column, shares, strict=True)]


def _blended(policy: Policy, weights: Weights, fresh: Column, worth: Column, close: Column) -> Parts:
    """The parts of each score, with that of the relevance under "similarity"."""
    if weights.only_similarity:
        return {"similarity": within_share(close)}
    if policy.blending == "absolute":
        return _sum(weights, fresh, [min(1.0, value) for value in worth], within_share(close))
    least = LITERATURE if policy.blending == "minmax" else LEAST_SPREADS
    combine = _product if policy.blending == "product" else _sum
    return combine(
        weights,
        normalise(fresh, spread=least[0]),
        normalise(worth, spread=least[1]),
        normalise(close, spread=least[2]),
    )


def _split(parts: Parts, shares: Mapping[str, Column], wholes: Column) -> Parts:
    """The parts, with that of the relevance, the whole of its shares, split among what it is made of.

    >>> _split({"recency": [0.25], "similarity": [0.75]}, {"similarity": [0.25], "words": [0.5]}, [0.75])
    {'recency': [0.25], 'similarity': [0.25], 'words': [0.5]}
    """
    if len(shares) == 1:
        return parts
    split = {}
    for name, share in shares.items():
        left = parts["similarity"] if name == "similarity" else [0.0] * len(wholes)  # where there is nothing to split
        rows = zip(parts["similarity"], share, wholes, left, strict=True)
        split[name] = [part * value / whole if whole > 0.0 else rest for part, value, whole, rest in rows]
    return parts | split


def _sum(weights: Weights, fresh: Column, worth: Column, close: Column) -> Parts:
    """The weighted mean.

    >>> _sum(Weights(recency=1, importance=1, similarity=2), [1.0], [0.0], [0.5])
    {'recency': [0.25], 'importance': [0.0], 'similarity': [0.25]}
    """
    total = weights.total
    first, second, third = weights.recency / total, weights.importance / total, weights.similarity / total
    return {"recency": times(first, fresh), "importance": times(second, worth), "similarity": times(third, close)}


def _product(weights: Weights, fresh: Column, worth: Column, close: Column) -> Parts:
    """The weighted mean with recency times importance as one signal: what was important long ago fades.

    >>> _product(Weights(recency=1, importance=1, similarity=2), [0.5], [1.0], [0.5])
    {'recency*importance': [0.25], 'similarity': [0.25]}
    """
    total = weights.total
    both, third = (weights.recency + weights.importance) / total, weights.similarity / total
    faded = times(both, _each(fresh, worth))
    return {"recency*importance": faded, "similarity": times(third, close)}
