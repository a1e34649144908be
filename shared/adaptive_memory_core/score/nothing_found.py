"""Detection of recalls that found nothing relevant, and the scale of a reranker.

No similarity means "relevant" by itself: this depends on the embedder, the records and their number. So a memory is
asked questions that have nothing to do with it. The best match of each is a sample of how good a match can be by
chance; such maxima follow an extreme-value law (Gumbel's). Vectors and words are measured separately: their weights in
a ranking depend on the query, so the relevances of two queries cannot be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, pstdev
from typing import Any

import numpy as np

from adaptive_memory_core.channels.language_of_text import likeliest
from adaptive_memory_core.channels.languages import ENGLISH
from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.cue.time.intent import Intent
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.policy.advanced import AROUND, BASELINE, MOST_OF_WORDS, WORDS
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.ranking import unfit
from adaptive_memory_core.score.surprise import Baseline


def shares_of(given: Any, count: int) -> list[float]:
    """One number in [0, 1] for each text. If all numbers are in [-1, 1], such as probabilities and cosines, they are
    used unchanged, with 0 for negative ones. Others, such as a cross-encoder's logits or marks up to ten, are scaled
    from the worst to the best.

    >>> shares_of([-0.25, 1], 2), shares_of([-4.0, 6.0, 1.0], 3), shares_of([7, 7], 2)
    ([0.0, 1.0], [0.0, 1.0, 0.5], [0.5, 0.5])
    >>> shares_of([0.5], 2)
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: it gave 1 numbers for 2 texts. Give one for each, in their order.
    """
    try:
        numbers = np.asarray({} if given is None else given, dtype=np.float64)  # None would become NaN
    except (TypeError, ValueError):
        raise InvalidInputError(f"it gave {shown(given)}. Give a list of numbers, one for each text.") from None
    if numbers.shape not in ((count,), (count, 1)):
        raise InvalidInputError(f"it gave {numbers.size} numbers for {count} texts. Give one for each, in their order.")
    flat = numbers.reshape(count)
    if not np.isfinite(flat).all():
        raise InvalidInputError("it gave something that is not a finite number. Give one for each text.")
    low, high = float(flat.min()), float(flat.max())
    if low >= -1.0 and high <= 1.0:
        return [max(0.0, float(one)) for one in flat]
    return [0.5 if low == high else float(one) for one in ((flat - low) / ((high - low) or 1.0))]


FEWEST = 20  # fewest questions from which the tail can be estimated; guess
SMALLEST_SPREAD = 1e-6
HARDER = 2.0  # real unrelated questions that pass per built-in one; measured, benchmarks/nothing_found.py
ANSWERED = 0.2  # share of the questions that may have an answer here and are therefore ignored; guess
NAMES_SPEAKER = 0.2  # share of unrelated questions that name a speaker of the memory, at most; guess
_OF_ANYTHING = {  # words that a question may contain and still be about a time only, by language
    ENGLISH: "anything chat conversation discuss discussed event events everything go going happen happened happening "
    "know learn learned learnt meet memories mention mentioned met news new note noted occurred remember said say "
    "something speak spoke stuff talk talked talking tell thing things told topic topics went work working wrote "
    "early late later mid start beginning middle end part day week month quarter year",
    "de": "passiert passierte geschah geschehen los gesprochen besprochen gesagt erzählt getan erfahren gelernt",
    "fr": "passé parlé discuté dit raconté fait appris noté nouveau quoi est-ce",
    "es": "pasó pasado ocurrió hablamos hablé dije dijo hice hicimos hecho aprendí noté nuevo",
}


@dataclass(frozen=True, slots=True)
class Best:
    """The best candidates of one recall: similarity above unrelated texts, the sum of all other evidence, and whether
    the query names the speaker of a candidate."""

    similarity: float
    leads: float
    names_speaker: bool = False


@dataclass(frozen=True, slots=True)
class Floor:
    """The matches of unrelated questions in one scope: mean and spread of both numbers, and the law of their sum."""

    similarity: float
    similarity_spread: float
    leads: float
    leads_spread: float
    location: float
    scale: float
    questions: int
    records: int


def most_relevant(hits: Sequence[Hit], policy: Policy, *, now: float) -> Best | None:
    """The best values among the hits that may be returned; None if there are none.

    Decay is ignored, because a faded memory is still about its subject. Ranks are ignored, because they are the same
    for the best of any recall, and rerankers, because measuring them would cost too much.

    >>> from adaptive_memory_core.records import Record
    >>> old = Hit(Record("b", "text", valid_until=1.0), 0.9, "b")
    >>> most_relevant([Hit(Record("a", "text"), 0.5, "a"), old], Policy(), now=2.0)
    Best(similarity=0.5, leads=0.0, names_speaker=False)
    >>> most_relevant([old], Policy(), now=2.0) is None
    True
    """
    fit = [hit for hit in hits if unfit(hit, policy, now=now) is None]
    if not fit:
        return None
    leads = fit[0].leads
    root = math.sqrt(leads.get(MOST_OF_WORDS, 0.0)) or 1.0  # the chance evidence of a query's words grows like this
    weights = dict.fromkeys((WORDS, AROUND), 1.0 / root) | {
        name: root * weight for name, weight in policy.own_weights.items()
    }
    evidence = max(sum([weight * hit.leads.get(name, 0.0) for name, weight in weights.items()], 0.0) for hit in fit)
    close = Baseline(leads.get(BASELINE, 0.0)).above(max(hit.similarity for hit in fit))
    return Best(max(0.0, close), evidence, any(hit.leads.get("speaker", 0.0) > 0.0 for hit in fit))


def fitted_floor(found: Sequence[Best], *, records: int) -> Floor:
    """The floor fitted to the matches of unrelated questions. The best matches are ignored, because some of the
    questions may have an answer here.

    >>> floor = fitted_floor([Best(0.2 + 0.01 * n, 0.2 + 0.01 * n) for n in range(21)], records=100)
    >>> round(floor.similarity, 2), round(chance(floor, Best(0.5, 0.5)), 2)
    (0.3, 0.03)
    """
    close, evidence = [one.similarity for one in found], [one.leads for one in found]
    first, second = fmean(close), fmean(evidence)
    spreads = max(SMALLEST_SPREAD, pstdev(close)), max(SMALLEST_SPREAD, pstdev(evidence))
    sums = [(one.similarity - first) / spreads[0] + (one.leads - second) / spreads[1] for one in found]
    middle, upper = (float(np.quantile(sums, share)) for share in (0.5, 1.0 - ANSWERED))
    scale = max(SMALLEST_SPREAD, (upper - middle) / (_gumbel(1.0 - ANSWERED) - _gumbel(0.5)))
    location = middle - scale * _gumbel(0.5)
    return Floor(first, spreads[0], second, spreads[1], location, scale, len(found), records)


def _gumbel(share: float) -> float:
    """The quantile of Gumbel's law for this share."""
    return -math.log(-math.log(share))


def chance(floor: Floor, best: Best) -> float:
    """The share of unrelated questions with an equally good match; few of them name a speaker of the memory.

    >>> floor = Floor(0.3, 0.1, 0.3, 0.1, location=0.0, scale=1.0, questions=100, records=100)
    >>> round(chance(floor, Best(0.3, 0.3)), 2), round(chance(floor, Best(0.6, 0.6)), 3)
    (0.86, 0.005)
    """
    above = (best.similarity - floor.similarity) / floor.similarity_spread
    above += (best.leads - floor.leads) / floor.leads_spread
    steps = (above - floor.location) / floor.scale
    named = NAMES_SPEAKER if best.names_speaker else 1.0
    return named * -math.expm1(-HARDER * math.exp(min(700.0, -steps)))


def of_time_alone(cue: str, intent: Intent) -> bool:
    """Whether a question names only a time: no record resembles it then, but records of that time are not found by
    chance.

    >>> from adaptive_memory_core.cue.time.intent import Window
    >>> last = Intent((Window(0.0, 1.0),), phrases=("last week",))
    >>> of_time_alone("What happened last week?", last), of_time_alone("Who won the chess match last week?", last)
    (True, False)
    >>> of_time_alone("Was ist gestern passiert?", Intent((Window(0.0, 1.0),), phrases=("gestern",)))
    True
    """
    if not intent.windows:
        return False
    whole = cue
    for phrase in intent.phrases:
        cue = cue.replace(phrase, " ")
    found = likeliest(whole, _OF_ANYTHING)
    return _of_anything(found).issuperset(words(cue, None if found == ENGLISH else found))


@cache
def _of_anything(language: str) -> frozenset[str]:
    return frozenset(words(_OF_ANYTHING[language], None if language == ENGLISH else language))
