"""READ FIRST. How is something recalled? Sense the cue, find candidates, select the best, learn from the reading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.drive import Flow, ask, attempt
from adaptive_memory_core.flow.ports import Entry, Ports, Where
from adaptive_memory_core.learn.reading import after_read
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.records import Cue, Hit, Scope
from adaptive_memory_core.score.gates import unfit
from adaptive_memory_core.score.select import select, wants_more

WIDER = 4  # times as many candidates at each further try
LOGGED_CUE = 2_000  # characters of a cue that the log keeps


@dataclass(frozen=True, slots=True)
class Request:
    """One call of recall, checked."""

    id: str
    scope: Scope
    text: str
    k: int
    now: float
    where: Where | None
    policy: Policy
    reinforce: bool


def recall(ports: Ports, request: Request) -> Flow[Recall]:
    """The best hits for a cue; unless `reinforce` is False, they count as read."""
    cue = yield from sense(ports, request.text)
    hits, notes = yield from find(ports, request, cue)
    kept, dropped = select(hits, request.policy, k=request.k, now=request.now)
    answer = Recall(
        id=request.id,
        scope=request.scope,
        cue=cue,
        k=request.k,
        now=request.now,
        policy=request.policy,
        kept=kept,
        dropped=dropped,
        trace=notes,
    )
    return (yield from learn(ports, answer)) if request.reinforce else answer


def sense(ports: Ports, text: str) -> Flow[Cue]:
    """The cue with its vector."""
    return Cue(text, (yield from ask(ports.embedder.embed_query, text)))


def find(ports: Ports, request: Request, cue: Cue) -> Flow[tuple[list[Hit], tuple[str, ...]]]:
    """Candidates with their read state; more of them while gates leave too few. Notes say what was left out."""
    policy, asked = request.policy, max(request.policy.recall_k, request.k)
    while True:
        found = yield from ask(ports.store.nearest, request.scope, cue.vector, asked, request.where)
        known = yield from attempt(LedgerError, ports.ledger.states, request.scope, [one.stored_id for one in found])
        hits = ports.store.hits(request.scope, found, known.value or {})
        if not wants_more(hits, policy, k=request.k, asked=asked, now=request.now):
            break
        asked = min(WIDER * asked, max(policy.recall_limit, request.k))
    notes = [
        f"the channel {name!r} is not in this version and was left out" for name in policy.channels if name != "dense"
    ]
    if len(hits) >= asked > request.k and all(unfit(hit, policy, now=request.now) for hit in hits):
        notes.append(f"all of the {len(hits)} nearest records were left out, and recall_limit ends the search there")
    if known.error is not None:
        notes.append(f"the collection's own read state was used: {known.error}")
    return hits, tuple(notes)


def learn(ports: Ports, answer: Recall) -> Flow[Recall]:
    """Count the recall and its reads. A ledger that refuses costs the count and a note, never the answer."""
    outcome = yield from attempt(LedgerError, _commit, ports, answer)
    if outcome.value is None:
        return replace(answer, trace=(*answer.trace, f"this recall was not counted: {outcome.error}"))
    if ports.write_through:
        shown = yield from attempt(AdaptiveMemoryError, ports.projector.flush)
        if shown.error is not None:
            late = f"the collection does not show this recall yet: {shown.error}"
            return replace(answer, step=outcome.value, trace=(*answer.trace, late))
    return replace(answer, step=outcome.value)


def _commit(ports: Ports, answer: Recall) -> int:
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
        logged=ports.log,
    )
    seen = {one.hit.stored_id: one.record.read for one in answer.kept}
    step, after = ports.ledger.record_recall(
        answer.scope, entry, seen, partial(after_read, policy=policy, now=answer.now)
    )
    if after != seen:
        ports.projector.wake()
    return step


@lru_cache(maxsize=64)
def _named(policy: Policy) -> tuple[str, str]:
    """The policy's hash and JSON, which a recall would otherwise spend a tenth of its time on."""
    return policy.hash, policy.to_json()
