"""What do unrelated questions find here? Each is looked for as a recall does it; the best finds make the floor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.candidates.gather import Finding, Request
from adaptive_memory_core.flow.candidates.other_channels import joined, look
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Cue
from adaptive_memory_core.score.nothing_found import Best, best_of, chance, fitted
from adaptive_memory_core.score.nothing_found_report import Calibration, Unrelated

SHOWN = 5  # of the questions that came nearest


def calibrate(
    ports: Ports, request: Request, questions: Sequence[str], *, going: Callable[[], bool] = lambda: True
) -> Flow[Calibration]:
    """Measure the floor of the request's scope under its policy, and keep it. The request's own cue is not used.

    Where `going` says no, it ends at once and keeps nothing.
    """
    records = yield from ask(ports.store.count, request.scope)
    if not records:
        raise InvalidInputError(
            f"There are no records of {request.scope}, so there is nothing that could be found by chance. Remember "
            "something first, then calibrate."
        )
    asked = quiet(request)
    found: list[Best] = []
    for question in questions:
        if not going():
            raise InterruptedError("The memory is being closed.")
        found.append((yield from probe(ports, replace(asked, cue=Cue(question)))))
    floor = fitted(found, records=records)
    manner = ports.floors.manner(request.policy)
    yield from ask(ports.ledger.keep_floor, request.scope, manner, floor, now=request.now)
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
    """The same way of looking, with nothing that drops hits for being far or follows the time asked about."""
    policy = request.policy.replace(
        similarity_floor=0.0, score_floor=0.0, relevance_floor=0.0, time_words={"enabled": False}
    )
    return replace(request, policy=policy, reinforce=False, where=None, bar=None, turn=None)


def probe(ports: Ports, request: Request) -> Flow[Best]:
    """The best that one question finds."""
    looked = yield from look(ports, request)
    text = request.cue.text if looked.leads is None else looked.leads.cue
    cue = replace(request.cue, vector=(yield from ask(ports.floors.embed, text)))
    found = yield from ask(ports.store.nearest, request.scope, cue.vector, request.policy.recall_k, None)
    nearest = Finding(ports.store.hits(request.scope, found, {}))
    finding = yield from joined(ports, request, cue, nearest, looked)
    best = best_of(finding.hits, request.policy, now=request.now)
    return Best(0.0, 0.0) if best is None else best
