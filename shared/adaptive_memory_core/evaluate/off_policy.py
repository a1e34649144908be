"""What is a policy worth by verdicts on what another one returned? Inverse propensities, self-normalised and clipped.

The log has, for each candidate, the chance p with which it was to be returned. A hit that a policy ranks in place r
counts 1 / log2(r + 1), and where the log returned it, 1 / p times as much: it stands for all the times it was not. So

    value = sum(helpful / p * discount) / sum(1 / p * discount)    over the hits of the policy that were returned

is the share of the policy's places, the first ones counting most, whose hits are called helpful. What had no chance at
all counts as of no use (p = 1 in the lower sum). 1 / p is at most `MOST_WEIGHT`, at the price of some bias.

It assumes that a verdict hangs on the question and the record, and not on the place or on what else was shown; that
hits which nobody judged, in an answer of which something was judged, were of no use; and that the judged recalls are
like those to come. Without a randomised tail p is 1 or 0, and the value of whatever ranks new hits is too low.

Source: Horvitz and Thompson (1952); self-normalised as in Swaminathan and Joachims, NIPS 2015; by item and position as
in Li et al., Offline evaluation of ranking policies with click models, KDD 2018.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.evaluate.worth import Example, Worth
from adaptive_memory_core.flow.judged_recalls import JudgedLog, JudgedRecall
from adaptive_memory_core.flow.strengths_again import StrengthsAgain
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.score.candidates import columns_of

MOST_WEIGHT = 20.0  # times that one hit may count; guess
MEASURE = "share of helpful hits, first places counting most"
ASSUMES = (
    "a verdict hangs on the question and the record, not on the place or on what else was shown",
    "hits of a judged answer that nobody judged were of no use",
)
NO_TAIL = "no place was drawn by lot: what the log never returned counts as of no use, so that new hits gain too little"
READS = "reads are those of then: what a policy would have returned instead, and so had read, is not followed up"


def worth_of(
    ranking: Sequence[str], chances: Mapping[str, float], returned: Collection[str], helpful: Collection[str]
) -> Worth:
    """What one logged answer says of another ranking; `chances` of those that had one.

    >>> worth_of(["a", "b"], {"a": 1.0}, ["a"], ["a"])[:2] == (1.0, 1.0 + 1 / math.log2(3))     # b was never returned
    True
    >>> worth_of(["b"], {"a": 0.5, "b": 0.5}, ["b"], ["b"]), worth_of(["b"], {"a": 0.5, "b": 0.5}, ["a"], ["a"])
    (Worth(gained=2.0, possible=2.0, expected=1.0), Worth(gained=0.0, possible=0.0, expected=1.0))
    """
    gained = possible = expected = 0.0
    for place, one in enumerate(ranking, start=1):
        discount = 1.0 / math.log2(place + 1)
        expected += discount
        chance = chances.get(one, 0.0)
        if chance <= 0.0:
            possible += discount
        elif one in returned:
            counts = discount * min(MOST_WEIGHT, 1.0 / chance)
            possible += counts
            gained += counts * (one in helpful)
    return Worth(gained, possible, expected)


def examples_of(log: JudgedLog) -> list[Example]:
    """The judged recalls as questions that tell policies apart."""
    strengths = StrengthsAgain(log.lines, frozenset(one.line.id for one in log.recalls))
    return [_example(one, strengths) for one in log.recalls]


def assumed(log: JudgedLog) -> tuple[str, ...]:
    """What is taken for granted of this log."""
    drawn = any(0.0 < one.propensity < 1.0 for each in log.recalls for one in each.line.candidates)
    return (*ASSUMES, READS) if drawn else (*ASSUMES, NO_TAIL, READS)


def _example(recall: JudgedRecall, strengths: StrengthsAgain) -> Example:
    line, question, helpful = recall.line, recall.question, recall.helpful
    chances = {one.id: one.propensity for one in line.candidates if one.propensity > 0.0}
    returned = {one.id for one in line.kept}
    hits = columns_of(question.hits_under(question.request.policy))  # the numbers that are tuned ask for no others
    then = replace(question, hits_under=lambda policy: strengths.under(policy, line.id, hits))

    def worth(policy: Policy) -> Worth:
        return worth_of(then.ranked(policy).ids, chances, returned, helpful)

    return Example(line.cue, question.request.scope.user, worth)
