"""Which weights would have ranked best? A listwise fit of `Fusion` to the leads that recalls report."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy, Weights
from adaptive_memory_core.channels.fuse import OF_NEIGHBOURS, OF_VECTORS, vectors_beside_words
from adaptive_memory_core.channels.told_apart import told_apart
from adaptive_memory_core.policy import Fusion
from adaptive_memory_core.policy.fusion import CHANCE, LEADS
from adaptive_memory_core.score.time_match import TIME
from benchmarks.baselines import BOTH, Ranking, recalled
from benchmarks.data import Question
from benchmarks.rot import user_of

DEPTH, ROUNDS, STEP = 60, 400, 0.1
USUAL = Policy(weights=Weights(0, 0, 1), channels=("dense", "lexical"))
Times = Mapping[str | None, float | None]


def fitted(memory: AdaptiveMemory, questions: Sequence[Question], times: Times) -> Fusion:
    """The weights, none below 0, under which the right records would be drawn most often (softmax of the relevance);
    all else stays what it is for this embedder."""
    usual = USUAL.suited(memory.embedder_name).weighing
    lists = [one for one in (_candidates(memory, question, times, usual) for question in questions) if one is not None]
    weights, first, second = np.full(1 + len(LEADS), 3.0), 0.0, 0.0
    for _ in range(ROUNDS):
        slope: Any = np.mean([_slope(leads, right, weights) for leads, right in lists], axis=0) - 0.001 * weights
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights = np.maximum(0.0, weights + STEP * first / (np.sqrt(second) + 1e-8))
    share = weights / weights.sum()
    found: dict[str, Any] = dict(zip(LEADS, map(float, share[1:]), strict=True))
    return replace(usual, dense=float(share[0]) + sum(found[name] for name in OF_NEIGHBOURS), **found)


def cross_fitted(memory: AdaptiveMemory, questions: Sequence[Question], times: Times, deep: int) -> Iterator[Ranking]:
    """Each question ranked with weights that were fitted without its user."""
    users = sorted({question.tenant for question in questions if question.tenant is not None})
    halves = [set(users[::2]), set(users[1::2])]
    asks = []
    for half in halves:
        fusion = fitted(memory, [question for question in questions if question.tenant in half], times)
        print("fitted:", fusion, file=sys.stderr)
        asks.append(recalled(memory, Policy(channels=BOTH, fusion=fusion), times))
    for question in questions:
        yield asks[0 if question.tenant in halves[1] else 1](question, deep)


def _candidates(memory: AdaptiveMemory, question: Question, times: Times, usual: Fusion) -> tuple[Any, Any] | None:
    """A row of leads for each candidate of the question, and which share of the right ones each is. What is of another
    time than is asked about has lost its share of all leads, as it does in the recall."""
    user, now = memory.for_user(user_of(question.tenant)), times.get(question.tenant)
    answer = user.recall(question.query, k=DEPTH, now=now, reinforce=False, policy=USUAL.replace(fusion=usual))
    right = np.array([one.id in question.gold_ids for one in answer], dtype=float)
    if not right.any():
        return None
    words = USUAL.time_words
    rows, lost = [], words.weight if answer.intent.windows else words.lean_weight
    apart = told_apart([one.hit for one in answer], usual)
    for one in answer:
        vectors = vectors_beside_words(one.signals[CHANCE], usual, apart)
        kept = 1.0 - lost * (1.0 - one.signals.get(TIME, 1.0))
        said = {name: max(0.0, one.signals.get(name, 0.0)) for name in ("similarity", *LEADS)}
        rows.append([kept * value * (vectors if name in OF_VECTORS else 1.0) for name, value in said.items()])
    return np.array(rows), right / right.sum()


def _slope(leads: Any, right: Any, weights: Any) -> Any:
    worth = leads @ weights
    drawn = np.exp(worth - worth.max())
    return leads.T @ (right - drawn / drawn.sum())
