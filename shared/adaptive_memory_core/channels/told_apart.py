"""How well do the similarities tell the candidates apart, and how well could words? So much does each count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from adaptive_memory_core.policy.fusion import CHANCE, TELLING, Fusion
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.candidates import columns_of

USUAL, MOST_STRETCHED = 3, 8.0  # candidates that count as spread as usual, since a few tell little; guess
LEAST_TELLING = 0.5  # a word or two count as given, too: who asks for "coffee" wants what says coffee
NEAREST = 10  # candidates among which the vectors must choose; 5 to 10 is flat, benchmarks/recall_quality.py
STEEP = 8.0  # power by which `dense_least` falls below `Fusion.apart`; 4 to 16 is flat, same benchmark


class ToldApart(NamedTuple):
    """`stretched` is how many times as much a difference in similarity counts beside words, `kept` the share of
    `dense_least` that vectors keep where words are sure."""

    stretched: float = 1.0
    kept: float = 1.0


AS_GIVEN = ToldApart()


def told_apart(hits: Sequence[Hit], fusion: Fusion) -> ToldApart:
    """What the similarities of these candidates say of the vectors themselves; nothing where no words were looked for.

    >>> from adaptive_memory_core.records import Record
    >>> def hits(*close, **leads): return [Hit(Record("a", "tea"), one, "a", leads) for one in close]
    >>> told_apart(hits(0.9, *[0.85] * 20, chance=0.0), Fusion(spread=0)).kept < 0.01 # any of them might be meant
    True
    >>> told_apart(hits(0.9, *[0.4] * 20, chance=0.0), Fusion(spread=0))
    ToldApart(stretched=1.0, kept=1.0)
    >>> told_apart(hits(0.81, 0.8, sql=1.0), Fusion(spread=0.15))
    ToldApart(stretched=1.0, kept=1.0)
    >>> told_apart(hits(0.8, 0.7, chance=1.0, telling=0.8), Fusion(spread=0)).stretched  # words that could say much
    0.25
    """
    these = columns_of(hits)
    if CHANCE not in these.leads:
        return AS_GIVEN
    close, surest = these.columns.similarities, min(these.leads[CHANCE])
    sure = surest**fusion.doubt < fusion.dense_least
    beside = beside_words(these.leads[TELLING][0]) if TELLING in these.leads else 1.0
    return ToldApart(beside * stretch(close, fusion), kept(close, fusion) if sure else 1.0)


def beside_words(telling: float) -> float:
    """How many times as much vectors count beside words, by how much the cue's words could say.

    >>> beside_words(0.5), beside_words(0.8), beside_words(0.0)
    (1.0, 0.25, 1.0)
    """
    return 1.0 / max(telling, LEAST_TELLING) - 1.0


def stretch(close: Sequence[float], fusion: Fusion) -> float:
    """How many times as much a difference in similarity counts, since the candidates' lie closer together than usual,
    or further apart.

    >>> round(stretch([0.81, 0.80] * 20, Fusion(spread=0.15)), 1), stretch([0.81, 0.8], Fusion(spread=0))
    (3.7, 1.0)
    """
    if fusion.spread == 0.0:
        return 1.0
    middle = sum(close) / len(close)
    squares = USUAL * fusion.spread**2 + sum([(one - middle) ** 2 for one in close])
    spread = math.sqrt(squares / (USUAL + len(close) - 1))
    return min(MOST_STRETCHED, max(1.0 / MOST_STRETCHED, fusion.spread / spread))


def kept(close: Sequence[float], fusion: Fusion) -> float:
    """The share of `dense_least` that is kept: little where the tenth nearest is almost as near as the nearest, as the
    pieces of one page are. Of an embedder whose similarities may begin anywhere, they begin at the least one here.

    >>> narrow = [0.8, *[0.7] * 8, 0.68, 0.4]
    >>> round(kept(narrow, Fusion(spread=0)), 2), kept(narrow, Fusion(spread=0.15)), kept([0.8, 0.79], Fusion())
    (0.05, 1.0, 1.0)
    """
    if len(close) < NEAREST or fusion.apart == 0.0:
        return 1.0
    ranked = sorted(close, reverse=True)
    begin = 0.0 if fusion.spread == 0.0 else ranked[-1]
    if ranked[0] <= begin:
        return 1.0
    apart = (ranked[0] - ranked[NEAREST - 1]) / (ranked[0] - begin)
    return float(min(1.0, apart / fusion.apart) ** STEEP)
