"""How does a user look something up? Recall, rerank and get, as checked flows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow import look_up
from adaptive_memory_core.flow import rerank as reranking
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.candidates import shared_scope
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.candidates.sources import channels_of
from adaptive_memory_core.length_limits import cut
from adaptive_memory_core.models.reranker import Reranker
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import AgentState, Cue, Record
from adaptive_memory_core.verbs.both_ways import Moment, User


def recall(
    user: User,
    cue: str | Cue | AgentState,
    k: int = 5,
    now: Moment | None = None,
    filter: Mapping[str, Any] | None = None,  # noqa: A002 - the contract's name
    reinforce: bool = True,
    policy: Policy | None = None,
    turn: str | None = None,
    *,
    accept: Callable[[Record], bool] | None = None,
    in_context: Iterable[str] = (),
    state: AgentState | None = None,
    reranker: Reranker | None = None,
) -> Flow[Recall]:
    """The `k` best memories for a cue, best first; maybe fewer, maybe none.

    What is returned counts as read, unless `reinforce=False`: that changes nothing at all. `filter` is a Chroma
    `where` mapping over the caller's own metadata; it narrows this scope and cannot widen it. `turn` names the
    occasion: recalls of one turn are one step of the user's recall counter, and a record is read once in it. A
    `Cue(text, vector)` brings its own vector, made by the collection's embedder; nothing is embedded then. An
    `AgentState` becomes a cue about what the agent is doing; `state` says what it is doing now, so that a cue that
    was not built again is noted in the trace.

    `accept` refuses records before they are scored, whatever it is that they must not be. `in_context` names ids
    and texts that the model has before it already: they are not returned again. Words about time ("in 2019",
    "originally", "lately") change the ranking as the policy says. Where this memory has a `fallback` and the
    user no history, shared records fill up what is missing, each labelled by `hit.shared`.

    `reranker` takes the place of the memory's for this recall: a function of the cue and a list of texts to one
    number each, or an object with `predict(pairs)`. Channels and rerankers that fail are left out with a note.
    """
    where = check.where(filter)
    request = _request(user, cue, k=check.count(k, "k"), now=now, reinforce=reinforce, policy=policy, turn=turn)
    refuse, notes = check.bars(accept, in_context), check.drifted(request.cue, state)
    asked = replace(
        request,
        where=where,
        policy=request.policy.suited(user.memory.embedder_name),
        reranker=user.memory.reranker_of(reranker),
        refuse=refuse,
        notes=(*request.notes, *notes),
    )
    return shared_scope.recall(user.memory.ports(), asked, user.fallback)


def rerank(
    user: User,
    cue: str | Cue | AgentState,
    hits: Mapping[str, float | None],
    k: int | None = None,
    now: Moment | None = None,
    reinforce: bool = True,
    policy: Policy | None = None,
    turn: str | None = None,
    guests: Mapping[str, str] | None = None,
    reranker: Reranker | None = None,
) -> Flow[Recall]:
    """The best of records that somebody else has retrieved, given as id to similarity (None: unknown).

    They are scored, dropped, learned from and logged as those of `recall`; ids that this scope does not hold are
    in `dropped`. All that pass are returned unless `k` is given. `guests` gives the texts of hits from elsewhere:
    where neither this scope nor everyone's has a record of that id, they compete, and nothing is learned of them.
    """
    given = check.similarities(hits)
    wanted = max(1, len(given)) if k is None else check.count(k, "k")
    request = _request(user, cue, k=wanted, now=now, reinforce=reinforce, policy=policy, turn=turn)
    asked = replace(request, reranker=user.memory.reranker_of(reranker))
    return reranking.rerank(user.memory.ports(), asked, given, check.guests(guests))


def get(user: User, id: str) -> Flow[Record]:  # noqa: A002 - the contract's name
    """One record with its read state as of now; an unknown id is a NotFoundError."""
    memory, checked = user.memory, check.name(id, "id")
    return look_up.get(memory.ports(), user.scope, checked, regime=memory.regime, now=memory.now())


def _request(
    user: User,
    cue: str | Cue | AgentState,
    *,
    k: int,
    now: Moment | None,
    reinforce: bool,
    policy: Policy | None,
    turn: str | None,
) -> Request:
    """What a recall and a ranking have in common."""
    memory = user.memory
    if policy is not None:
        check.channels(check.policy(policy, memory.policy), channels_of(memory.ports().sources))
    at = check.moment(now, "now")
    sought, notes = cut(check.cue(cue), memory.keeping.cue_characters)
    return Request(
        id=memory.new_id(),
        scope=user.scope,
        cue=sought,
        k=k,
        now=memory.now() if at is None else at,
        where=None,
        policy=memory.policy if policy is None else policy,
        regime=memory.regime,
        reinforce=check.flag(reinforce, "reinforce"),
        turn=None if turn is None else check.name(turn, "turn"),
        notes=notes,
        fields=memory.fields,
    )
