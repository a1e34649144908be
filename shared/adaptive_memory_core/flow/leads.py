"""What do channels besides the vectors say? Their own finds join the candidates, and all get their leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.drive import Flow, ask, attempt
from adaptive_memory_core.flow.find import Finding, Request, present, standing, strangers
from adaptive_memory_core.flow.ports import Found, Leads, Ports
from adaptive_memory_core.records import Cue


@dataclass(frozen=True, slots=True)
class Looked:
    """The leads, or why there are none."""

    leads: Leads | None = None
    notes: tuple[str, ...] = ()


def look(ports: Ports, request: Request) -> Flow[Looked]:
    """Ask the lexical channel, where the policy has it. What fails is left out, and the recall says so."""
    policy = request.policy
    if "lexical" not in policy.channels or not request.cue.own_words:
        return Looked()
    within = None if request.where is None else (yield from ask(ports.store.passing, request.scope, request.where))
    limit = max(policy.recall_k, request.k)
    outcome = yield from attempt(
        Exception, ports.lexical.look, request.scope, request.cue.own_words, policy.fusion, limit, within
    )
    if outcome.value is None:
        return Looked(notes=(f"the channel 'lexical' was left out: {outcome.error}",))
    note = outcome.value.note
    return Looked(outcome.value, () if note is None else (note,))


def joined(ports: Ports, request: Request, cue: Cue, nearest: Finding, looked: Looked) -> Flow[Finding]:
    """The nearest and what the channel found besides, each with its similarity and its leads."""
    leads = looked.leads
    if leads is None and not looked.notes:
        return nearest
    finding = replace(nearest, notes=(*nearest.notes, *looked.notes))
    if leads is None:
        return finding
    seen = {hit.stored_id for hit in finding.hits}
    wanted = [one for one in leads.best if one not in seen]
    more = (yield from ask(ports.store.among, request.scope, cue.vector, wanted, None)) if wanted else []
    known = yield from standing(ports, request, more)
    hits = [*finding.hits, *present(ports, request, more, known)]
    yield from _tell(ports, request, finding, wanted, more)
    return replace(
        finding,
        hits=[replace(hit, leads=leads.of(hit.stored_id)) for hit in hits],
        strangers={**finding.strangers, **strangers(hits[len(finding.hits) :], known, request)},
    )


def _tell(ports: Ports, request: Request, nearest: Finding, wanted: Sequence[str], more: Sequence[Found]) -> Flow[None]:
    """What is not as the channel knows it: records that are gone, or say something else by now."""
    there = {one.stored_id for one in more}
    gone = [one for one in wanted if one not in there]
    if gone:
        yield from attempt(AdaptiveMemoryError, ports.lexical.drop, gone)
    found = [Found(hit.stored_id, hit.record.text, hit.record.stored, hit.similarity) for hit in nearest.hits]
    yield from attempt(AdaptiveMemoryError, ports.lexical.notice, request.scope, [*found, *more])
