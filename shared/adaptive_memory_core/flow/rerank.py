"""How are records ranked that somebody else has retrieved? Looked up, then chosen and learned from as ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow.drive import Flow, ask
from adaptive_memory_core.flow.find import Finding, Request, present, standing, strangers
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.recall import choose, learn
from adaptive_memory_core.records import Dropped, Hit

NOT_HERE = "not a record of this scope"


def rerank(ports: Ports, request: Request, similarities: Mapping[str, float | None]) -> Flow[Recall]:
    """The best of these records; what the scope does not hold is dropped, with the reason."""
    found = yield from ask(ports.store.fetch, request.scope, list(similarities))
    known = yield from standing(ports, request, list(found.values()))
    hits = present(ports, request, list(found.values()), known)
    finding = Finding(
        _with_similarities(hits, similarities),
        dropped=tuple(Dropped(one, NOT_HERE) for one in similarities if one not in found),
        strangers=strangers(hits, known, request.policy),
    )
    answer = choose(request, request.cue, finding)
    return (yield from learn(ports, answer, finding, request.turn)) if request.reinforce else answer


def _with_similarities(hits: Sequence[Hit], similarities: Mapping[str, float | None]) -> list[Hit]:
    """The hits with the given similarities; an unknown one stands in the middle of those that are known."""
    known = [one for one in (similarities[hit.record.id] for hit in hits) if one is not None]
    middle = (min(known) + max(known)) / 2 if known else 0.5
    given = [(hit, similarities[hit.record.id]) for hit in hits]
    return [replace(hit, similarity=middle if one is None else float(one)) for hit, one in given]
