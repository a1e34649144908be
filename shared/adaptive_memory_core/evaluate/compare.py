"""Compares systems on labelled data: reads the data, asks each system in turn, measures, and takes differences."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.chat_models import Estimate, QuestionsAsked, StoredReplies, estimate
from adaptive_memory_core.evaluate.comparison import Comparison, DataAbout, Difference, Result, SystemAbout
from adaptive_memory_core.evaluate.datasets import Dataset, Question, read_folder, read_locomo, read_longmemeval
from adaptive_memory_core.evaluate.intervals import Interval, bootstrap, paired_difference, spread
from adaptive_memory_core.evaluate.latency import machine, package_versions
from adaptive_memory_core.evaluate.plan import DataPlan, Experiment
from adaptive_memory_core.evaluate.run_systems import (
    MeasuredSystems,
    Progress,
    about,
    measured_systems,
    sampled_questions,
)
from adaptive_memory_core.evaluate.systems import ABOUT_SYSTEMS

BEST_PUBLISHED = "The best published of LongMemEval without a language model: session R@5 0.984, session hit@1 0.876."


def compare(plan: Experiment, *, progress: Progress | None = None) -> Comparison:
    """Run all systems of an experiment on all its data. `estimate_of(plan)` estimates the cost of its chat models."""
    begun = time.perf_counter()
    asked = read_data(plan)
    found = [measured_systems(plan, data, questions, progress) for data, questions in asked]
    own = list(chain.from_iterable(_results(plan, *one) for one in zip(asked, found, strict=True)))
    against = list(chain.from_iterable(_differences(plan, *one) for one in zip(asked, found, strict=True)))
    names = dict.fromkeys(one.measure for one in own)
    return Comparison(
        title=plan.title,
        baseline=plan.compared_with,
        data=tuple(_about_data(data, questions) for data, questions in asked),
        systems=tuple(_about_systems(plan)),
        measures=tuple(about(name) for name in names),
        results=tuple(own),
        differences=tuple(against),
        seconds=time.perf_counter() - begun,
        notes=(plan.how, *(BEST_PUBLISHED for one in plan.data if one.kind == "longmemeval")),
        machine=machine(),
        versions=package_versions(),
    )


def estimate_of(plan: Experiment) -> Estimate:
    """An upper limit for the requests to chat models and embedders behind a server, without sending any."""
    return estimate(plan, read_data(plan), kept=len(StoredReplies(plan.cache)) if plan.models else 0)


def read_data(plan: Experiment) -> QuestionsAsked:
    """Each data set with the questions to ask: those with known answers."""
    return [_read(one, plan.seed) for one in plan.data]


def _read(plan: DataPlan, seed: int) -> tuple[Dataset, Sequence[Question]]:
    if plan.kind == "longmemeval":
        data = read_longmemeval(plan.path, records=plan.records)
    elif plan.kind == "locomo":
        data = read_locomo(plan.path)
    else:
        data = read_folder(plan.path)
    scorable = [one for one in data.questions if one.gold_ids and (one.answerable or plan.adversarial)]
    names = list(dict.fromkeys(one.tenant for one in scorable))
    wanted = names[: plan.users or len(names)]
    scorable = [one for one in scorable if one.tenant in wanted]
    questions = sampled_questions(scorable, most=plan.most, every=plan.every, seed=seed)
    if not questions:
        raise InvalidInputError(f"{plan.path} has no question with a known answer. Check the data.")
    users = {question.tenant for question in questions}
    items = tuple(item for item in data.items if item.tenant in users)
    return replace(data, name=plan.name or data.name, items=items), questions


def _about_data(data: Dataset, questions: Sequence[Question]) -> DataAbout:
    return DataAbout(data.name, len(data.items), len({question.tenant for question in questions}), len(questions))


def _about_systems(plan: Experiment) -> Iterator[SystemAbout]:
    for one in plan.systems:
        description = ABOUT_SYSTEMS.get(one.use, "") if one.name not in ABOUT_SYSTEMS else ABOUT_SYSTEMS[one.name]
        yield SystemAbout(one.name, description, one.axis, one.value)
    for model in plan.models:
        yield from (
            SystemAbout(answering(one.name, model.name), model=model.name) for one in plan.systems if one.answers
        )


def answering(system: str, model: str) -> str:
    """
    >>> answering("static", "gpt-4o")
    'static + gpt-4o'
    """
    return f"{system} + {model}"


def _results(plan: Experiment, asked: tuple[Dataset, Sequence[Question]], found: MeasuredSystems) -> Iterator[Result]:
    data, questions = asked
    clusters = clusters_of(questions)
    for system, rows in found.recalls.items():
        yield from results(data.name, system, rows, clusters, seed=plan.seed)
    for system, own in found.figures.items():
        yield from results(data.name, system, own, range(len(own)), seed=plan.seed)
    for (system, model), rows in found.replies.items():
        yield from results(data.name, answering(system, model), rows, clusters, seed=plan.seed)


def _differences(
    plan: Experiment, asked: tuple[Dataset, Sequence[Question]], found: MeasuredSystems
) -> Iterator[Difference]:
    """Differences from the baseline: of recalls, and of each model's replies."""
    data, questions = asked
    clusters, base = clusters_of(questions), plan.compared_with
    for system, rows in found.recalls.items():
        if system != base:
            yield from differences(data.name, system, rows, found.recalls[base], clusters, seed=plan.seed)
    for (system, model), rows in found.replies.items():
        theirs = found.replies.get((base, model))
        if system != base and theirs is not None:
            yield from differences(data.name, answering(system, model), rows, theirs, clusters, seed=plan.seed)


FEWEST = 2  # clusters needed for an interval
Rows = Sequence[Mapping[str, float]]  # of one system, one row per question


def clusters_of(questions: Sequence[Question]) -> list[Hashable]:
    """A cluster key per question. Questions of one user form a cluster; with a single user, those with the same gold.

    >>> clusters_of([Question("1", "?", ("a",), tenant="ana"), Question("2", "?", ("b",), tenant="ben")])
    ['ana', 'ben']
    >>> clusters_of([Question("1", "?", ("a",)), Question("2", "?", ("a",))])
    [('a',), ('a',)]
    """
    users = [question.tenant for question in questions]
    return list(users) if len(set(users)) >= FEWEST else [question.gold_ids for question in questions]


def results(data: str, system: str, rows: Rows, clusters: Sequence[Hashable], *, seed: int) -> Iterator[Result]:
    """Each measure of one system, over the questions for which it is known."""
    for name in dict.fromkeys(name for row in rows for name in row):
        known = [(row[name], cluster) for row, cluster in zip(rows, clusters, strict=True) if name in row]
        values, own = [value for value, _ in known], [cluster for _, cluster in known]
        between = bootstrap(values, seed=seed, clusters=own) if len(set(own)) >= FEWEST else None
        lies = spread(values)
        low, high = _bounds(between)
        yield Result(
            data, system, name, lies.mean, low, high, lies.median, lies.p95, lies.deviation, lies.count, len(set(own))
        )


def differences(
    data: str, system: str, rows: Rows, base: Rows, clusters: Sequence[Hashable], *, seed: int
) -> Iterator[Difference]:
    """Each measure of one system minus the baseline's, over the questions for which both are known."""
    for name in dict.fromkeys(name for row in rows for name in row):
        pairs = [
            (ours[name], theirs[name], cluster)
            for ours, theirs, cluster in zip(rows, base, clusters, strict=True)
            if name in ours and name in theirs
        ]
        if pairs:
            yield _difference(data, system, name, pairs, seed)


def _difference(
    data: str, system: str, name: str, pairs: Sequence[tuple[float, float, Hashable]], seed: int
) -> Difference:
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    clusters = [pair[2] for pair in pairs]
    between = None
    if len(set(clusters)) >= FEWEST:
        between = paired_difference(ours, theirs, seed=seed, clusters=clusters)
    low, high = _bounds(between)
    mean = sum(ours) / len(ours) - sum(theirs) / len(theirs)
    return Difference(data, system, name, mean, low, high, len(pairs), between is not None and between.excludes_zero)


def _bounds(between: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if between is None else (between.low, between.high)
