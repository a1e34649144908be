"""How are systems asked the same questions? In turn, a question at a time, so that a busy minute hits them all."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.evaluate.labelled import Dataset, Item, Question
from adaptive_memory_core.evaluate.plan import Experiment
from adaptive_memory_core.evaluate.systems.port import Asked, Found, System

DAY, MINUTE = 86_400.0, 60.0
START = 1_760_000_000.0  # POSIX seconds, where the data name no time
NOBODY = "everyone's reader"  # in whose memory items without a tenant stand


class Answered(NamedTuple):
    """What one system found for one question, and how long that took."""

    system: str
    question: Question
    found: Found
    seconds: float


def chosen(questions: Sequence[Question], *, most: int, every: int, seed: int) -> list[Question]:
    """The questions that are asked, in their order.

    >>> asked = [Question(str(number), "?", ()) for number in range(9)]
    >>> [one.id for one in chosen(asked, most=0, every=4, seed=1)], len(chosen(asked, most=3, every=1, seed=1))
    (['0', '4', '8'], 3)
    """
    own = list(questions)[::every]
    if not 0 < most < len(own):
        return own
    places = sorted(random.Random(seed).sample(range(len(own)), most))  # noqa: S311 - a draw, no secret
    return [own[place] for place in places]


def fill(system: System, data: Dataset, users: Sequence[str | None]) -> None:
    """Give a system all that the users of the questions have, and ask it once for each, so that no first look, which
    fills caches, is among those that are timed."""
    wanted, own = set(users), dict[str | None, list[Item]]()
    for item in data.items:
        if item.tenant in wanted:
            own.setdefault(item.tenant, []).append(item)
    for user, items in own.items():
        system.write(name_of(user), items, now=end_of(items))
        before = Asked(name_of(user), items[0].said, 1, end_of(items))
        system.prepare(before)
        system.ask(before)


def asked_in_turn(
    systems: Mapping[str, System], data: Dataset, questions: Sequence[Question], plan: Experiment
) -> Iterator[Answered]:
    """Each question of each system; who begins changes from question to question."""
    ends, names = _ends(data), list(systems)
    asked_before: dict[str | None, int] = {}
    for number, question in enumerate(questions):
        step = asked_before[question.tenant] = asked_before.get(question.tenant, 0) + 1
        now = max(ends.get(question.tenant, START), question.ts or 0.0)
        now += step * plan.minutes_apart * MINUTE if plan.reading else 0.0
        asked = Asked(name_of(question.tenant), question.query, plan.hits, now, plan.reading)
        first = number % len(names)
        for name in names[first:] + names[:first]:
            yield _timed(name, systems[name], question, asked)


def name_of(user: str | None) -> str:
    return NOBODY if user is None else user


def end_of(items: Sequence[Item]) -> float:
    """A day after the last of them, when they are asked about at the earliest."""
    return max((item.ts + DAY for item in items if item.ts is not None), default=START)


def _ends(data: Dataset) -> dict[str | None, float]:
    own: dict[str | None, list[Item]] = {}
    for item in data.items:
        own.setdefault(item.tenant, []).append(item)
    return {user: end_of(items) for user, items in own.items()}


def _timed(name: str, system: System, question: Question, asked: Asked) -> Answered:
    system.prepare(asked)
    begun = time.perf_counter()
    found = system.ask(asked)
    return Answered(name, question, found, time.perf_counter() - begun)
