"""How relevant is a record, all channels taken together? Their leads weighed into one number in [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping

from adaptive_memory_core.fusion import LEADS, Fusion

COVERED = "covered"  # the lead that is the same for all: the share of the cue's words that the best record has


CONTEXT = ("near", "around", "session")


def relevance(similarity: float, leads: Mapping[str, float], fusion: Fusion) -> dict[str, float]:
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
    """
    close = min(1.0, max(0.0, similarity))
    if not leads:
        return {"similarity": close}
    weights = {name: getattr(fusion, name) for name in LEADS if name in leads}
    weights["words"] += sum(getattr(fusion, name) for name in CONTEXT if name not in leads)
    weights["similarity"] = fusion.dense * (1.0 - leads[COVERED]) ** fusion.doubt
    total = sum(weights.values()) or 1.0
    values = {"similarity": close, **{name: leads[name] for name in LEADS if name in leads}}
    return {name: weights[name] * value / total for name, value in values.items()}
