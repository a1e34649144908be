"""How similar are the candidates to each other? Their vectors, fetched where the policy wants diversity.

To tell versions of a fact apart they help as well; for that they are taken where they are at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.drive import Flow, attempt
from adaptive_memory_core.flow.calls.time_limits import in_collection
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.candidates import columns_of
from adaptive_memory_core.score.newest_first import looks_for_versions


class Compared(NamedTuple):
    """The candidates' vectors, by their ids in the collection; empty where nothing compares them."""

    vectors: Mapping[str, Any]
    notes: tuple[str, ...] = ()


NOT_COMPARED = Compared({})


def candidate_vectors(ports: Ports, request: Request, hits: Sequence[Hit]) -> Flow[Compared]:
    """The vectors; without them the candidates are ranked by score alone, and a note says so."""
    if len(hits) < 2:
        return NOT_COMPARED
    if request.policy.copies.diversity == 0.0:
        return (yield from _at_hand(ports, request, hits))
    ids = [hit._stored_id for hit in hits]
    try:
        vectors = yield from in_collection(ports, request.policy, ports.search.vectors, request.scope, ids)
    except AdaptiveMemoryError as error:
        return Compared({}, (f"the hits were not compared with each other: {error}",))
    return Compared(vectors)


def _at_hand(ports: Ports, request: Request, hits: Sequence[Hit]) -> Flow[Compared]:
    """What is there without asking a database, if our own rules may look for versions of a fact."""
    policy = request.policy
    if policy.blending != "bounded" or request.same_fact is not None:
        return NOT_COMPARED
    if not looks_for_versions(request.cue.own_words, policy.updates, request.intent):
        return NOT_COMPARED
    columns = columns_of(hits).columns
    if len(set(columns.began)) < 2:
        return NOT_COMPARED
    ids = columns.stored_ids
    outcome = yield from attempt(AdaptiveMemoryError, ports.search.unit_vectors_at_hand, request.scope, ids)
    return NOT_COMPARED if outcome.value is None else Compared(outcome.value)
