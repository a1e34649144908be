"""Which weights would have ranked best? A listwise fit of `Fusion` to the leads that recalls report."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy, Weights
from adaptive_memory_core.channels.fuse import OF_NEIGHBOURS, OF_VECTORS, vectors_beside_words
from adaptive_memory_core.channels.kinds_of_turn import EVEN, OF_TURNS
from adaptive_memory_core.channels.told_apart import told_apart
from adaptive_memory_core.policy import Fusion
from adaptive_memory_core.policy.fusion import CHANCE, LEADS
from adaptive_memory_core.score.time_match import TIME
from benchmarks.baselines import BOTH, Ranking, recalled
from benchmarks.data import Question
from benchmarks.rot import user_of

DEPTH, ROUNDS, STEP, DRAWN_BACK = 60, 300, 0.02, 0.001
ABOUT = ("similarity", *(name for name in LEADS if name not in OF_TURNS))  # what is added; those of turns multiply it
POWER, FASTER = 4.0, 0.5  # power of the relevance at which records are drawn, at first; steps of it
TINY = 1e-6
USUAL = Policy(weights=Weights(0, 0, 1), channels=("dense", "lexical"))
Times = Mapping[str | None, float | None]


def fitted(memory: AdaptiveMemory, questions: Sequence[Question], times: Times) -> Fusion:
    """The weights, none below 0, under which the right records would be drawn most often, where each is drawn as often
    as a power of its relevance says, which is fitted too. All else stays what it is for this embedder."""
    usual = USUAL.suited(memory.embedder_name).weighing
    lists = [one for one in (_candidates(memory, question, times, usual) for question in questions) if one is not None]
    weights, first, second, power = np.array([1.0] * len(ABOUT) + [0.5] * len(OF_TURNS)), 0.0, 0.0, POWER
    for _ in range(ROUNDS):
        slopes = [_slopes(rows, right, weights, power) for rows, right in lists]
        slope: Any = np.mean([of_weights for of_weights, _ in slopes], axis=0) - DRAWN_BACK * weights
        power += FASTER * float(np.mean([of_power for _, of_power in slopes]))
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights = np.maximum(0.0, weights + STEP * first / (np.sqrt(second) + 1e-8))
    return _fusion(weights, usual)


def _fusion(weights: Any, usual: Fusion) -> Fusion:
    """Those of what is added as shares of 1, and those of turns by how much of itself they raise it."""
    share = weights[: len(ABOUT)] / weights[: len(ABOUT)].sum()
    found: dict[str, Any] = dict(zip(ABOUT, map(float, share), strict=True))
    found |= {name: EVEN * float(more) for name, more in zip(OF_TURNS, weights[len(ABOUT) :], strict=True)}
    dense = found.pop("similarity") + sum(found[name] for name in OF_NEIGHBOURS)
    return replace(usual, dense=dense, **found)


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
        said = {name: max(0.0, one.signals.get(name, 0.0)) for name in (*ABOUT, *OF_TURNS)}
        times_as_much = {name: vectors if name in OF_VECTORS else 1.0 for name in ABOUT}
        about = [kept * said[name] * much for name, much in times_as_much.items()]
        rows.append([*about, *(said[name] for name in OF_TURNS)])
    return np.array(rows), right / right.sum()


def _slopes(rows: Any, right: Any, weights: Any, power: float) -> tuple[Any, float]:
    """Where the weights and the power should go: of the mean log chance that a right one is drawn."""
    about, turns = rows[:, : len(ABOUT)], rows[:, len(ABOUT) :]
    whole, times = about @ weights[: len(ABOUT)] + TINY, 1.0 + weights[len(ABOUT) :] * turns
    worth = np.log(whole) + np.log(times).sum(axis=1)
    drawn = np.exp(power * (worth - worth.max()))
    short = right - drawn / drawn.sum()
    return power * np.concatenate([about.T @ (short / whole), (turns / times).T @ short]), float(short @ worth)
