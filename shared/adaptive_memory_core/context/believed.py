"""Which channel was believed, and why? One line on how far the vectors counted beside the words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from adaptive_memory_core.channels.fuse import OF_VECTORS, shares_of
from adaptive_memory_core.channels.told_apart import ToldApart, told_apart
from adaptive_memory_core.policy.fusion import CHANCE, TELLING, USUAL_NATS
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scored

MOST_NATS = 700.0  # more than that is no number


def believed(scored: Sequence[Scored], policy: Policy) -> list[str]:
    """What the vectors counted in the relevance of these, all that were scored in one recall.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> leads = {"words": 0.5, "chance": 0.25}
    >>> one = Scored(Hit(Record("a", "tea"), 0.5, "a", leads), 0.5, {}, {"similarity": 0.5, **leads})
    >>> believed([one], Policy())[0][:63]
    'vectors count 40 % of the relevance, words 60 %: the chance tha'
    >>> believed([], Policy())
    []
    """
    fusion = policy.weighing
    if not scored or fusion.method == "rrf" or CHANCE not in scored[0].signals:
        return []
    apart = told_apart([one.hit for one in scored], fusion)
    chances = dict.fromkeys(one.signals[CHANCE] for one in scored)  # of the kind of the best record first
    lines = [_line(scored[0].signals, chance, policy, apart) for chance in chances]
    return [lines[0], *(f"for records of the other kind, alone or in a conversation, {line}" for line in lines[1:])]


def _line(signals: Mapping[str, float], chance: float, policy: Policy, apart: ToldApart) -> str:
    fusion = policy.weighing
    shares = shares_of(signals, chance, fusion, policy.own_weights, apart)
    vectors = sum(shares.get(name, 0.0) for name in OF_VECTORS)
    words = sum(share for name, share in shares.items() if name in fusion.leads and name not in OF_VECTORS)
    why = f"the chance that words match as well as the best ones here by accident is {100 * chance:.2g} %"
    if apart.kept < 0.5 and chance**fusion.doubt < fusion.dense_least:
        why += ", and to vectors the ten nearest are all about as near"
    if TELLING in signals:
        why += f"; all of the cue's words together tell one record of {_told_from(signals[TELLING]):.0e}"
    return f"vectors count {100 * vectors:.0f} % of the relevance, words {100 * words:.0f} %: {why}"


def _told_from(telling: float) -> float:
    """From how many records a text that has all of the cue's words is told apart by them.

    >>> round(_told_from(0.0)), round(math.log(_told_from(0.5))), _told_from(1.0) > 1e300
    (1, 40, True)
    """
    nats = USUAL_NATS * telling / max(1e-9, 1.0 - telling)
    return math.exp(min(nats, MOST_NATS))
