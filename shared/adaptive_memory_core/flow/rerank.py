"""Ranking of records that the caller has retrieved: they are looked up, then scored and counted as in a recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.count_reading import count_reading
from adaptive_memory_core.flow.episodes import with_outline
from adaptive_memory_core.flow.neighbours import with_neighbours
from adaptive_memory_core.flow.optional_steps import (
    NO_FLOOR,
    candidate_vectors,
    rerank_best,
    same_facts,
)
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Found, SourceQuery
from adaptive_memory_core.flow.recall import choose, in_order, with_leads
from adaptive_memory_core.flow.widen import aged
from adaptive_memory_core.policy.advanced import DENSE
from adaptive_memory_core.records import Dropped, Hit, Record, Scope
from adaptive_memory_core.score.ranking import as_candidates
from adaptive_memory_core.score.signals import odd_importance
from adaptive_memory_core.sources.ask import wanted_sources
from adaptive_memory_core.sources.gather import NOT_HERE, Gathered, known_of, notes_of, present
from adaptive_memory_core.sources.request import Request, embedded
from adaptive_memory_core.sources.times_and_feedback import AskedBefore, as_of_day, understand_time


def rerank(
    ports: Ports, request: Request, similarities: Mapping[str, float | None], guests: Mapping[str, str]
) -> Recall:
    """The best of these records; ids that the scope does not have are dropped, with the reason.

    `guests` are texts by id of hits that need not be in a collection: they are ranked, but nothing is learned about
    them.
    """
    request = as_of_day(ports, request)
    request = understand_time(ports, request)
    gathered = _looked_up(ports, request, similarities, guests)
    asked = _asked_before(ports, request, gathered.hits)
    because = {one: (why,) for one, why in asked.because.items()}
    gathered = gathered._replace(because=because, notes=(*gathered.notes, *notes_of([asked])))
    judged = rerank_best(request, with_leads(gathered.hits, [asked]))
    facts = same_facts(request, judged.hits)
    candidates = in_order(request, gathered, judged, facts)
    compared = candidate_vectors(ports, request, candidates.ranked.hits)
    answer = choose(request, gathered, NO_FLOOR, candidates, compared)
    placed = with_outline(ports, request, answer, None)
    shown = with_neighbours(ports, request, placed)
    return count_reading(ports, request, shown, gathered)


def _asked_before(ports: Ports, request: Request, hits: Sequence[Hit]) -> Answer:
    """The evidence from verdicts on similar questions; the cue is only embedded if there are such verdicts."""
    source = AskedBefore()
    nothing = Answer(source.name)
    if source.name not in wanted_sources(request) or not request.cue.text.strip():
        return nothing
    known = tried(LedgerError, ports.ledger.judged_questions.of, request.scope)
    if known.value is None:
        return nothing._replace(error=known.error)
    if request.cue.vector is None:
        try:
            vector = embedded(ports, request.cue.text, request.policy)
        except AdaptiveMemoryError:  # of the embedder: the caller's similarities suffice
            return nothing
        request = request._replace(cue=replace(request.cue, vector=vector))
    nearest = Answer(DENSE, found=[Found(hit._stored_id, None, None, hit.similarity) for hit in hits])
    return source.ask(ports, request, SourceQuery(request.cue, earlier=(nearest,), nearest=nearest))


def _looked_up(
    ports: Ports, request: Request, similarities: Mapping[str, float | None], guests: Mapping[str, str]
) -> Gathered:
    """The records and guests with the given similarities."""
    found = ports.records.fetch(request.scope, list(similarities))
    there = [_as_near(one, similarities[name]) for name, one in found.items()]
    known = known_of(ports, request, there)
    hits = present(request, there, known)
    welcome = _welcome(ports, [one for one in similarities if one in guests and one not in found])
    visitors = [Hit(Record(one, guests[one]), 0.0, one) for one in similarities if one in welcome]
    unread = None if known.error is None else f"the collection's own read state was used: {known.error}"
    gathered = Gathered(
        request.cue,
        hits=as_candidates(_with_similarities([*hits, *visitors], similarities, request.policy.min_similarity)),
        near=len(hits) + len(visitors),
        known=known,
        asked=request.candidates,
        notes=tuple(one for one in (unread, odd_importance(hits, request.fields)) if one is not None),
        absent=tuple(Dropped(one, NOT_HERE) for one in similarities if one not in found and one not in welcome),
        guests=welcome,
    )
    return aged(gathered, request)


def _welcome(ports: Ports, ids: Sequence[str]) -> frozenset[str]:
    """The ids that are not among everyone's records. Other users' records are never looked up, so that a guest's id
    cannot reveal whether another user has a record with this id."""
    if not ids:
        return frozenset()
    known = ports.search.stored(Scope(None), ids)
    return frozenset(ids) - {one.stored_id for one in known}


def _with_similarities(
    hits: Sequence[Hit], similarities: Mapping[str, float | None], min_similarity: float
) -> list[Hit]:
    """The hits with the given similarities. An unknown similarity becomes the floor, so that the hit passes it and
    ranks above no known one: unknown are usually neighbours that were added to the results."""
    known = [one for one in (similarities[hit.record.id] for hit in hits) if one is not None]
    unknown = (min_similarity or min(0.0, *known)) if known else 0.5
    near = [unknown if (one := similarities[hit.record.id]) is None else float(one) for hit in hits]
    return [hit if hit.similarity == one else replace(hit, similarity=one) for hit, one in zip(hits, near, strict=True)]


def _as_near(found: Found, similarity: float | None) -> Found:
    return found if similarity is None else found._replace(similarity=float(similarity))
