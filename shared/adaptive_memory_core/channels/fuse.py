"""How relevant is a record according to all channels together? A weighted mean of their numbers, in [0, 1], times what
it counts who said it and what kind of turn it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.channels.kinds_of_turn import OF_TURNS, multiplied, times_more
from adaptive_memory_core.channels.learned_shares import tilted
from adaptive_memory_core.channels.reciprocal_ranks import reciprocal_ranks
from adaptive_memory_core.channels.told_apart import AS_GIVEN, ToldApart, told_apart
from adaptive_memory_core.policy.channel_names import AS_THE_VECTORS, RERANKER
from adaptive_memory_core.policy.fusion import CHANCE, SHORT, Fusion
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.candidates import Leads, columns_of

CONTEXT = ("near", "around", "session")
OF_NEIGHBOURS = ("before", "company")
OF_VECTORS = ("similarity", *OF_NEIGHBOURS)  # the leads that are similarities
OF_KINDS = ("named",)  # the leads of some cues only, which say what kind of turn it is and not what it is about
Weights = Mapping[str, float]
Parts = dict[str, list[float]]  # a column for each part
NO_MORE: Weights = {}


def relevances(
    hits: Sequence[Hit], fusion: Fusion, more: Weights, reranked: float, learned: Weights = NO_MORE
) -> Parts:
    """The parts that add up to the relevance, by name: a column each, with a number for each hit. `more` are the
    weights of further leads, by name, `reranked` the share that a reranker decides, and `learned` what verdicts have
    made of the leads' shares. All hits of a recall have the same leads.

    >>> from adaptive_memory_core.records import Record
    >>> relevances([Hit(Record("a", "tea"), 0.5, "a"), Hit(Record("b", "tax"), -0.5, "b")], Fusion(), {}, 0.0)
    {'similarity': [0.5, 0.0]}
    """
    these = columns_of(hits)
    leads, close = these.leads, within_share(these.columns.similarities)
    if fusion.method == "rrf":
        parts = reciprocal_ranks(these, fusion, more)
    elif not leads or not these:
        return {"similarity": close}
    else:
        parts = _weighed({"similarity": close, **leads}, fusion, more, told_apart(these, fusion), learned)
    if RERANKER not in leads:
        return parts
    left = {name: times(1.0 - reranked, values) for name, values in parts.items()}
    return {**left, RERANKER: times(reranked, leads[RERANKER])}


def _weighed(columns: Leads, fusion: Fusion, more: Weights, apart: ToldApart, learned: Weights) -> Parts:
    """Each column times its share; the shares hang on what may be another for records of another kind. The leads of
    turns multiply the sum, each by as much more as verdicts have made of it."""
    kinds = kinds_of(columns)
    shares = {
        one: tilted(shares_of(columns, one.chance, fusion, more, apart, one.short), learned) for one in set(kinds)
    }
    named = [name for name in next(iter(shares.values())) if name in columns]
    if len(shares) == 1:
        about = {name: times(shares[kinds[0]][name], columns[name]) for name in named}
    else:
        about = {
            name: [shares[one][name] * value for one, value in zip(kinds, columns[name], strict=True)] for name in named
        }
    more_often = {name: one * learned.get(name, 1.0) for name, one in times_more(fusion).items()}
    return multiplied(about, columns, more_often)


class Kind(NamedTuple):
    """How sure words are for the records of a kind, and how far what vectors find is too short for it to answer."""

    chance: float
    short: float = 0.0


def kinds_of(columns: Leads) -> list[Kind]:
    """The kind of each candidate; one for all where nothing tells kinds apart.

    >>> kinds_of({"chance": [0.5, 0.5]}), kinds_of({"chance": [0.5, 0.25], "short": [0.0, 0.75]})
    ([Kind(chance=0.5, short=0.0)], [Kind(chance=0.5, short=0.0), Kind(chance=0.25, short=0.75)])
    """
    chances, shorts = columns.get(CHANCE, [1.0]), columns.get(SHORT, [0.0])
    first = Kind(chances[0], shorts[0])
    if chances.count(first.chance) == len(chances) and shorts.count(first.short) == len(shorts):
        return [first]
    if len(shorts) == 1:
        return list(map(Kind, chances))
    return list(map(Kind, chances, shorts))


def within_share(values: Sequence[float]) -> list[float]:
    """Each within [0, 1], in a quarter of the time that calls of `min` and `max` take.

    >>> within_share([-0.5, 0.5, 1.5])
    [0.0, 0.5, 1.0]
    """
    return [one if 0.0 <= one <= 1.0 else 1.0 if one > 1.0 else 0.0 for one in values]


def times(share: float, values: Sequence[float]) -> list[float]:
    """That share of each."""
    return [share * one for one in values]


def beside_vectors(names: Iterable[str], fusion: Fusion, more: Weights = NO_MORE) -> dict[str, float]:
    """What these leads count among themselves, as shares of 1, those of the vectors and of kinds left out. The weighted
    sum does not hang on how much the vectors count in a recall or on what its cue asks for, so recalls can be compared.

    >>> beside_vectors([], Fusion())
    {}
    >>> fusion = Fusion(words=1.5, near=0.5, around=0, session=0, speaker=0)
    >>> beside_vectors(["words", "near", "before", "named", "chance"], fusion)
    {'words': 0.75, 'near': 0.25}
    >>> beside_vectors(["words", "chance"], fusion)                 # no conversation: near is the record itself
    {'words': 1.0}
    """
    left_out = (*OF_VECTORS, *OF_KINDS)
    weights = {name: one for name, one in weights_of(names, fusion, more).items() if name not in left_out}
    return as_shares(weights)


def shares_of(
    names: Iterable[str],
    chance: float,
    fusion: Fusion,
    more: Weights,
    apart: ToldApart = AS_GIVEN,
    short: float = 0.0,
) -> dict[str, float]:
    """What the similarity and each of these leads count, as shares of 1, or 0 where nothing counts; those of turns
    are left out, which multiply the sum. The weight of a record's context goes to the record itself where there is no
    conversation.

    >>> shares_of(["words", "chance"], 1.0, Fusion(dense=1, words=1, near=0, around=0, session=0), {})
    {'similarity': 0.5, 'words': 0.5}
    """
    weights = {name: one for name, one in weights_of(names, fusion, more).items() if name not in OF_TURNS}
    times_as_much = vectors_beside_words(chance, fusion, apart, short)
    for name in OF_VECTORS:
        if name in weights:
            weights[name] *= times_as_much
    return as_shares(weights)


def as_shares(weights: Weights) -> dict[str, float]:
    """The same weights with a sum of 1, or all 0 where nothing counts.

    >>> as_shares({"words": 3.0, "near": 1.0}), as_shares({"words": 0.0})
    ({'words': 0.75, 'near': 0.25}, {'words': 0.0})
    """
    total = sum(weights.values())
    return dict.fromkeys(weights, 0.0) if total == 0.0 else {name: one / total for name, one in weights.items()}


def weights_of(names: Iterable[str], fusion: Fusion, more: Weights) -> dict[str, float]:
    """What the similarity and each of these leads count as given, before it is asked how sure words are.

    >>> weights_of(["words"], Fusion(dense=1, words=1, near=0.5, around=0, session=0), {})
    {'similarity': 1.0, 'words': 1.5}
    """
    present = set(names)
    weights = {name: weight for name, weight in fusion.leads.items() if name in present}
    if weights:
        weights["words"] += sum(fusion.leads[name] for name in CONTEXT if name not in present)
    weights.update({name: AS_THE_VECTORS * weight for name, weight in more.items() if name in present})
    neighbours = sum(fusion.leads[name] for name in OF_NEIGHBOURS if name in present)
    return {"similarity": max(0.0, fusion.dense - neighbours), **weights}


def vectors_beside_words(chance: float, fusion: Fusion, apart: ToldApart, short: float = 0.0) -> float:
    """How many times as much as given the vectors count in this recall. Where what they find is short beside what words
    find, the chance tells more: sure words leave less of the vectors' least part, and vectors count up to twice as much
    where words match by accident.

    >>> vectors_beside_words(0.25, Fusion(doubt=0.5, dense_least=0.1), ToldApart(stretched=3.0))
    1.5
    >>> [vectors_beside_words(chance, Fusion(dense_least=0.5), ToldApart(), short=0.75) for chance in (0.0, 1.0)]
    [0.125, 1.75]
    """
    least = (1.0 - short) * apart.kept * fusion.dense_least
    return apart.stretched * max(chance**fusion.doubt * (1.0 + short * chance), least)  # type: ignore[no-any-return]
