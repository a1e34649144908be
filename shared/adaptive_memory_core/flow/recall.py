"""READ FIRST. How is something recalled? Sense the cue, find candidates, select the best, learn from the reading."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.calls.drive import Flow, attempt
from adaptive_memory_core.flow.calls.patience import waiting_at_most
from adaptive_memory_core.flow.candidates.asked_time import timed
from adaptive_memory_core.flow.candidates.gather import Finding, Request
from adaptive_memory_core.flow.candidates.other_channels import joined, look
from adaptive_memory_core.flow.candidates.recently_helpful import lately
from adaptive_memory_core.flow.candidates.vectors import dense
from adaptive_memory_core.flow.ports import Entry, Ports
from adaptive_memory_core.flow.ports import seen as seen_of
from adaptive_memory_core.flow.steps.candidate_vectors import compared
from adaptive_memory_core.flow.steps.neighbours import intact
from adaptive_memory_core.flow.steps.relevance_floor import floored
from adaptive_memory_core.flow.steps.rerank_best import reranked
from adaptive_memory_core.learn.decay.strength import read
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, Dropped
from adaptive_memory_core.score.nothing_found import of_time_alone
from adaptive_memory_core.score.select import select

LOGGED_CUE = 2_000  # characters of a cue that the log keeps


def recall(ports: Ports, request: Request) -> Flow[Recall]:
    """The best hits for a cue; unless `reinforce` is False, they count as read."""
    answer, finding = yield from look_for(ports, request)
    answer = yield from intact(ports, request, answer)
    return (yield from learn(ports, request, answer, finding)) if request.reinforce else answer


def look_for(ports: Ports, request: Request) -> Flow[tuple[Recall, Finding]]:
    """The best hits, and what there was to choose from; nothing has changed yet."""
    request = yield from timed(ports, request)
    looked = yield from look(ports, request)
    cue, nearest = yield from dense(ports, request, looked)
    nearest = yield from lately(ports, request, cue, nearest)
    finding = yield from floored(ports, request, (yield from joined(ports, request, cue, nearest, looked)))
    if finding.refused is None:
        finding = yield from compared(ports, request, (yield from reranked(request, finding)))
    return choose(request, cue, finding), finding


def choose(request: Request, cue: Cue, finding: Finding) -> Recall:
    """The hits to return, and everyone else with the reason."""
    kept, dropped = select(
        finding.hits,
        request.policy,
        k=request.k,
        now=request.now,
        intent=request.intent,
        vectors=finding.vectors,
        use=finding.use,
        time_alone=of_time_alone(request.cue.own_words, request.intent),
    )
    if finding.refused is not None:
        dropped = (*[Dropped(one.id, finding.refused, one) for one in kept], *dropped)
        kept = ()
    return Recall(
        id=request.id,
        scope=request.scope,
        cue=cue,
        k=request.k,
        now=request.now,
        policy=request.policy,
        kept=kept,
        dropped=(*dropped, *finding.dropped),
        trace=(*request.notes, *finding.notes),
        intent=request.intent,
        use=finding.use,
        fields=request.fields,
        unrelated=finding.unrelated,
    )


def learn(ports: Ports, request: Request, answer: Recall, finding: Finding) -> Flow[Recall]:
    """Count the recall and its reads. A ledger that refuses costs the count and a note, never the answer."""
    if "lexical" in request.policy.ways:
        # what it met of others' writing; else a later recall does
        yield from attempt(LedgerError, waiting_at_most, ports.count_seconds, ports.lexical.keep, request.scope)
    within = ports.count_seconds
    outcome = yield from attempt(LedgerError, waiting_at_most, within, _commit, ports, request, answer, finding)
    if outcome.value is None:
        return replace(answer, trace=(*answer.trace, f"this recall was not counted: {outcome.error}"))
    if ports.write_through:
        shown = yield from attempt(AdaptiveMemoryError, ports.projector.flush)
        if shown.error is not None:
            late = f"the collection does not show this recall yet: {shown.error}"
            return replace(answer, step=outcome.value, trace=(*answer.trace, late))
    return replace(answer, step=outcome.value)


def _commit(ports: Ports, request: Request, answer: Recall, finding: Finding) -> int:
    """One transaction: the user's step, the state of what was read, the log."""
    policy = answer.policy
    entry = Entry(
        id=answer.id,
        at=answer.now,
        cue=answer.cue.text[:LOGGED_CUE],
        k=answer.k,
        policy_hash=_named(policy)[0],
        policy_json=_named(policy)[1],
        kept=answer.kept,
        dropped=answer.dropped,
        regime=request.regime,
        pace=policy.pace,
        turn=request.turn,
        strangers=finding.strangers,
        extent=finding.extent,
        logged=ports.log,
    )
    seen = {one.hit.stored_id: seen_of(one.record) for one in answer.kept if one.hit.stored_id not in finding.guests}
    counted = ports.ledger.recalls.count(answer.scope, entry, seen, partial(read, policy=policy, now=answer.now))
    if counted.changed:
        ports.projector.wake()
    return counted.step


@lru_cache(maxsize=64)
def _named(policy: Policy) -> tuple[str, str]:
    """The policy's hash and JSON, which a recall would otherwise spend a tenth of its time on."""
    return policy.hash, policy.to_json()
