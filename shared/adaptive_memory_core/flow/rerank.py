"""How are records ranked that somebody else has retrieved? Looked up, then chosen and learned from as ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.candidates.asked_time import timed
from adaptive_memory_core.flow.candidates.gather import Finding, Request, present, standing, strangers, use_of
from adaptive_memory_core.flow.candidates.other_channels import NOT_HERE
from adaptive_memory_core.flow.ports import Found, Ports
from adaptive_memory_core.flow.recall import choose, learn
from adaptive_memory_core.flow.steps.candidate_vectors import compared
from adaptive_memory_core.flow.steps.neighbours import intact
from adaptive_memory_core.flow.steps.rerank_best import reranked
from adaptive_memory_core.records import Dropped, Hit, Record, Scope


def rerank(
    ports: Ports, request: Request, similarities: Mapping[str, float | None], guests: Mapping[str, str]
) -> Flow[Recall]:
    """The best of these records; what the scope does not hold is dropped, with the reason.

    `guests` are the texts of those that may be in no collection at all: they compete, and nothing is learned of them.
    """
    request = yield from timed(ports, request)
    found = yield from ask(ports.store.fetch, request.scope, list(similarities))
    there = [_as_near(one, similarities[name]) for name, one in found.items()]
    known = yield from standing(ports, request, there)
    hits = present(ports, request, there, known)
    welcome = yield from _welcome(ports, [one for one in similarities if one in guests and one not in found])
    finding = Finding(
        _with_similarities([*hits, *(Hit(Record(one, guests[one]), 0.0, one) for one in welcome)], similarities),
        notes=() if known.error is None else (f"the collection's own read state was used: {known.error}",),
        dropped=tuple(Dropped(one, NOT_HERE) for one in similarities if one not in found and one not in welcome),
        strangers=strangers(hits, known, request),
        guests=welcome,
        use=use_of(known, request),
    )
    finding = yield from reranked(request, finding)
    finding = yield from compared(ports, request, finding)
    answer = yield from intact(ports, request, choose(request, request.cue, finding))
    return (yield from learn(ports, request, answer, finding)) if request.reinforce else answer


def _welcome(ports: Ports, ids: Sequence[str]) -> Flow[frozenset[str]]:
    """Those that are no records of everyone's. Whether some user has a record of that id is not asked, and so not told:
    the ids of guests are names that the caller gave."""
    known = (yield from ask(ports.store.stored, Scope(None), ids)) if ids else []
    return frozenset(ids) - {one.stored_id for one in known}


def _with_similarities(hits: Sequence[Hit], similarities: Mapping[str, float | None]) -> list[Hit]:
    """The hits with the given similarities; an unknown one stands in the middle of those that are known."""
    known = [one for one in (similarities[hit.record.id] for hit in hits) if one is not None]
    middle = (min(known) + max(known)) / 2 if known else 0.5
    near = [middle if (one := similarities[hit.record.id]) is None else float(one) for hit in hits]
    return [hit if hit.similarity == one else replace(hit, similarity=one) for hit, one in zip(hits, near, strict=True)]


def _as_near(found: Found, similarity: float | None) -> Found:
    return found if similarity is None else found._replace(similarity=float(similarity))
