"""Which channel was believed, and why? One line on how far the vectors counted beside the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from adaptive_memory_core.channels.fuse import OF_VECTORS, Kind, kinds_of, shares_of
from adaptive_memory_core.channels.told_apart import ToldApart, told_apart
from adaptive_memory_core.policy.fusion import CHANCE, SHORT, TELLING, USUAL_NATS
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scored

SMALLEST = 1e-6  # the log keeps as many digits


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
    leads = {name: [one.signals.get(name, 0.0) for one in scored] for name in (CHANCE, SHORT)}
    first, *others = dict.fromkeys(kinds_of(leads))  # that of the best record first
    line = partial(_line, scored[0].signals, policy, apart)
    return [line(first), *(f"for {which}, {line(kind)}" for which, kind in _named(others, first).items())]


def _named(kinds: Sequence[Kind], best: Kind) -> dict[str, Kind]:
    """What tells the kinds of records from that of the best one; of several that are shorter the shortest."""
    return {_which(one, best): one for one in sorted(kinds, key=lambda one: one.short)}


def _which(kind: Kind, best: Kind) -> str:
    """Which records are of this kind, and not of the kind of the best one.

    >>> _which(Kind(0.5), Kind(0.25)), _which(Kind(0.5, short=0.5), Kind(0.5)), _which(Kind(0.5), Kind(0.5, short=0.5))
    ('records of the other kind, alone or in a conversation', 'shorter records', 'longer records')
    >>> _which(Kind(0.5, short=1.0), Kind(0.25))
    'short records of the other kind, alone or in a conversation'
    """
    if kind.chance == best.chance:
        return "shorter records" if kind.short > best.short else "longer records"
    return f"{'short ' if kind.short > best.short else ''}records of the other kind, alone or in a conversation"


def _line(signals: Mapping[str, float], policy: Policy, apart: ToldApart, kind: Kind) -> str:
    fusion, (chance, short) = policy.weighing, kind
    shares = shares_of(signals, chance, fusion, policy.own_weights, apart, short)
    vectors = sum(shares.get(name, 0.0) for name in OF_VECTORS)
    words = sum(share for name, share in shares.items() if name in fusion.leads and name not in OF_VECTORS)
    why = f"the chance that words match as well as the best ones here by accident is {_per_cent(chance)} %"
    sure = chance**fusion.doubt < fusion.dense_least
    if sure and apart.kept < 0.5:
        why += ", and to vectors the ten nearest are all about as near"
    if short > 0.5:
        why += (
            f", and vectors find texts that are hardly longer than the cue, as {'headings' if sure else 'labels'} are"
        )
    if TELLING in signals:
        nats = USUAL_NATS * signals[TELLING] / max(SMALLEST, 1.0 - signals[TELLING])
        why += f"; the words of the cue could say {nats:.0f} nats, where {USUAL_NATS:.0f} are usual"
    return f"vectors count {100 * vectors:.0f} % of the relevance, words {100 * words:.0f} %: {why}"


def _per_cent(chance: float) -> str:
    """
    >>> _per_cent(0.00012), _per_cent(0.125), _per_cent(0.997)
    ('0.012', '12', '100')
    """
    return "100" if chance > 0.995 else f"{100 * chance:.2g}"
