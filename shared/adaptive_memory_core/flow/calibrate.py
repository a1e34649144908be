"""How is a relevance floor measured? Unrelated questions are recalled; the floor comes from their best finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from adaptive_memory_core.cue.unrelated_questions import common_language
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.choose import with_leads
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Cue
from adaptive_memory_core.reports import Calibration, Unrelated
from adaptive_memory_core.score.nothing_found import Best, chance, fitted, most_relevant
from adaptive_memory_core.sources.ask import ask_sources
from adaptive_memory_core.sources.gather import gather
from adaptive_memory_core.sources.request import Request

SHOWN = 5  # of the questions that came nearest


def calibrate(
    ports: Ports, request: Request, questions: Sequence[str], *, going: Callable[[], bool] = lambda: True
) -> Calibration:
    """Measure the floor of the request's scope under its policy, and keep it. The request's own cue is not used.

    Where `going` says no, it ends at once and keeps nothing.
    """
    records = ports.records.count(request.scope)
    if not records:
        raise InvalidInputError(
            f"There are no records of {request.scope}, so there is nothing that could be found by chance. Remember "
            "something first, then calibrate."
        )
    asked, quick = quiet(request), replace(ports, embedder=ports.floors.embedder)
    found: list[Best] = []
    for question in questions:
        if not going():
            raise InterruptedError("The memory is being closed.")
        found.append(probe(quick, replace(asked, cue=Cue(question))))
    floor = fitted(found, records=records)
    manner = ports.floors.manner(request.policy, common_language(questions))
    ports.ledger.floors.keep(request.scope, manner, floor, now=request.now)
    tried = [Unrelated(text, one.similarity, chance(floor, one)) for text, one in zip(questions, found, strict=True)]
    return Calibration(
        scope=str(request.scope),
        records=records,
        questions=len(questions),
        at=request.now,
        similarity=floor.similarity,
        spread=floor.similarity_spread,
        nearest=tuple(sorted(tried, key=lambda one: one.chance)[:SHOWN]),
    )


def quiet(request: Request) -> Request:
    """The same way of looking, with nothing that drops hits for being far, follows the time asked about, or adds what
    was helpful lately."""
    policy = request.policy
    policy = policy.replace(
        min_similarity=0.0,
        min_score=0.0,
        time_words="off",
        learning={"usefulness": 0.0},
        advanced={"unrelated_answered": 0.0},
    )
    return replace(request, policy=policy, reinforce=False, where=None, refuse=None, turn=None)


def probe(ports: Ports, request: Request) -> Best:
    """The best that one question finds."""
    answers = ask_sources(ports, request)
    gathered = gather(ports, request, answers)
    best = most_relevant(with_leads(gathered.hits, answers), request.policy, now=request.now)
    return Best(0.0, 0.0) if best is None else best
