"""How relevant is a record, all channels taken together? Their leads weighed into one number in [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.channels.reciprocal_ranks import reciprocal_ranks
from adaptive_memory_core.policy.channel_names import AS_THE_VECTORS, RERANKER
from adaptive_memory_core.policy.fusion import LEADS, Fusion
from adaptive_memory_core.records import Hit

COVERED = "covered"  # the lead that is the same for all: the share of the cue's words that the best record has


CONTEXT = ("near", "around", "session")
Weights = Mapping[str, float]
NO_MORE: Weights = {}


def relevances(hits: Sequence[Hit], fusion: Fusion, more: Weights, reranked: float) -> list[dict[str, float]]:
    """Of each hit the parts that add up to its relevance. `more` are the weights of channels that are not ours, and
    `reranked` the share that a reranker decides."""
    if fusion.method == "rrf":
        shares = reciprocal_ranks(hits, fusion, more)
    else:
        shares = [relevance(hit.similarity, hit.leads, fusion, more) for hit in hits]
    return [_judged(share, hit.leads, reranked) for share, hit in zip(shares, hits, strict=True)]


def relevance(
    similarity: float, leads: Mapping[str, float], fusion: Fusion, more: Weights = NO_MORE
) -> dict[str, float]:
    """The parts that add up to the relevance: of the similarity, and of each lead there is.

    Words that a record has say more than vectors, except where no record has many of the cue's words: so the vectors
    count the less, the more of the cue some record covers. All of it is absolute: it looks at no other candidate.

    >>> relevance(0.4, {}, Fusion())
    {'similarity': 0.4}
    >>> fusion = Fusion(dense=1, doubt=1, words=1, near=0.5, around=0, session=0, speaker=0)
    >>> relevance(0.4, {"words": 0.2, "covered": 0.5}, fusion)      # no conversation: near is the record itself
    {'similarity': 0.1, 'words': 0.15000000000000002}
    >>> relevance(-0.4, {"words": 0.0, "covered": 0.0}, fusion)
    {'similarity': 0.0, 'words': 0.0}
    >>> relevance(0.4, {"sql": 0.8}, Fusion(), {"sql": 1.0})        # as much as the vectors
    {'similarity': 0.2, 'sql': 0.4}
    """
    close = min(1.0, max(0.0, similarity))
    if not leads:
        return {"similarity": close}
    weights = {name: getattr(fusion, name) for name in LEADS if name in leads}
    if weights:
        weights["words"] += sum(getattr(fusion, name) for name in CONTEXT if name not in leads)
    weights["similarity"] = fusion.dense * (1.0 - leads.get(COVERED, 0.0)) ** fusion.doubt
    weights.update({name: AS_THE_VECTORS * weight for name, weight in more.items() if name in leads})
    total = sum(weights.values())
    values = {"similarity": close, **{name: leads[name] for name in weights if name != "similarity"}}
    if total == 0.0:
        return dict.fromkeys(values, 0.0)
    return {name: weights[name] * value / total for name, value in values.items()}


def _judged(share: dict[str, float], leads: Mapping[str, float], reranked: float) -> dict[str, float]:
    """The shares, with a reranker's in the place of a part of them.

    >>> _judged({"similarity": 0.4}, {"reranker": 1.0}, 0.5)
    {'similarity': 0.2, 'reranker': 0.5}
    """
    if RERANKER not in leads:
        return share
    return {**{name: (1.0 - reranked) * value for name, value in share.items()}, RERANKER: reranked * leads[RERANKER]}
