"""How similar are the candidates to each other? Their vectors, fetched where the policy wants diversity.

To tell versions of a fact apart they help as well. For that they are taken where they are at hand, and only in a recall
whose first hit may have a newer version that words alone do not tell: in most recalls none is looked at.
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
from adaptive_memory_core.score.select import Ranked


class Compared(NamedTuple):
    """The candidates' vectors, by their ids in the collection; empty where nothing compares them."""

    vectors: Mapping[str, Any]
    notes: tuple[str, ...] = ()


NOT_COMPARED = Compared({})


def candidate_vectors(ports: Ports, request: Request, ranked: Ranked) -> Flow[Compared]:
    """The vectors that this ranking depends on; without them it is by score alone, and a note says so."""
    if request.policy.copies.diversity:
        return (yield from _fetched(ports, request, ranked.hits))
    ids = [] if request.same_fact is not None else ranked.undecided()
    return (yield from _at_hand(ports, request, ids)) if ids else NOT_COMPARED


def vectors_of_all(ports: Ports, request: Request, hits: Sequence[Hit]) -> Flow[Compared]:
    """The vectors that a ranking under one policy or another may depend on."""
    if request.policy.copies.diversity:
        return (yield from _fetched(ports, request, hits))
    columns = columns_of(hits).columns
    if not _versions_are_told(request) or len(set(columns.began)) < 2:
        return NOT_COMPARED
    return (yield from _at_hand(ports, request, columns.stored_ids))


def _versions_are_told(request: Request) -> bool:
    """Whether our own rules look for versions of a fact."""
    policy = request.policy
    if policy.blending != "bounded" or request.same_fact is not None:
        return False
    return looks_for_versions(request.cue.own_words, policy.updates, request.intent)


def _fetched(ports: Ports, request: Request, hits: Sequence[Hit]) -> Flow[Compared]:
    """They, if need be asked of a database."""
    if len(hits) < 2:
        return NOT_COMPARED
    ids = [hit._stored_id for hit in hits]
    try:
        vectors = yield from in_collection(ports, request.policy, ports.search.vectors, request.scope, ids)
    except AdaptiveMemoryError as error:
        return Compared({}, (f"the hits were not compared with each other: {error}",))
    return Compared(vectors)


def _at_hand(ports: Ports, request: Request, stored_ids: Sequence[str]) -> Flow[Compared]:
    """What is there without asking a database."""
    outcome = yield from attempt(AdaptiveMemoryError, ports.search.unit_vectors_at_hand, request.scope, stored_ids)
    return NOT_COMPARED if outcome.value is None else Compared(outcome.value)
