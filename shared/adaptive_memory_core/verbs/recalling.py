"""How does a user look something up? Recall, rerank and get, as checked flows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow import look_up
from adaptive_memory_core.flow import rerank as reranking
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.candidates import shared_scope
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.candidates.sources import channels_of
from adaptive_memory_core.frozen import changed
from adaptive_memory_core.length_limits import cut
from adaptive_memory_core.models.reranker import Reranker
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import AgentState, Cue, Record
from adaptive_memory_core.verbs.blocking_and_async import Moment, User
from adaptive_memory_core.verbs.own_policy import usual_policy
from adaptive_memory_core.verbs.suited_policy import suited

JUST_NOW = 10.0  # seconds before the clock's time that are no other day: somebody read it and then called; guess


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

    `cue` is a question or any text. A `Cue(text, vector)` brings its own vector, made by the collection's embedder,
    and nothing is embedded. An `AgentState` becomes a cue about what the agent is doing; `state` says what it is doing
    now, so that a cue that is out of date is noted in the trace.

    What is returned counts as read. `reinforce=False` changes nothing at all: no count, no time, no log. Recalls with
    the same `turn` are one step of the user's recall counter, and a record is read once in it. `now` is the time to
    rank by, if it is not the present; in the past, nothing that was written or began later is returned, and reads,
    verdicts and pins count as of then, as far as the log tells.

    `filter` is a Chroma `where` mapping over the caller's own metadata; it narrows what this user sees and cannot
    widen it. `accept` is a function of a record that returns False for those to leave out. `in_context` names ids and
    texts that the model can see already; they are not returned again. Words about time ("in 2019", "originally",
    "lately") change the ranking as the policy says. If this scope has a `fallback` and the user has no records, shared
    records fill up the answer, each labelled by `hit.shared`.

    `policy` and `reranker` replace the memory's own for this recall. A reranker is a function of the cue and a list of
    texts to one number each, or an object with `predict(pairs)`. A channel or reranker that fails is left out, with a
    note in `recall.trace`.
    """
    where = check.where(filter)
    request = _request(user, cue, k=check.count(k, "k"), now=now, reinforce=reinforce, policy=policy, turn=turn)
    refuse, notes = check.refusals(accept, in_context), check.drifted(request.cue, state)
    asked = changed(
        request,
        where=where,
        reranker=user.memory.reranker_of(reranker),
        refuse=refuse,
        notes=(*request.notes, *notes),
        as_of=request.now if request.looks_back else None,
    )
    ports = user.memory.ports()
    return _by_usual_policy(
        user, policy, asked, lambda request: shared_scope.recall(ports, request, user.fallback), suits=True
    )


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
    """Rank records that another retriever found; `hits` maps their ids to similarities (None: unknown).

    They are scored, dropped, counted as read and logged as those of `recall`. Ids that this user does not have are in
    `dropped`. All that pass the gates are returned unless `k` is given. `guests` maps ids of hits from elsewhere to
    their texts: they are ranked with the others, and nothing is learned about them.
    """
    given = check.similarities(hits)
    wanted = max(1, len(given)) if k is None else check.count(k, "k")
    request = _request(user, cue, k=wanted, now=now, reinforce=reinforce, policy=policy, turn=turn)
    asked = changed(request, reranker=user.memory.reranker_of(reranker))
    ports, welcome = user.memory.ports(), check.guests(guests)
    return _by_usual_policy(user, policy, asked, lambda request: reranking.rerank(ports, request, given, welcome))


def get(user: User, id: str) -> Flow[Record]:  # noqa: A002 - the contract's name
    """One record with its read state as of now; an unknown id raises NotFoundError. This does not count as a read."""
    memory, checked = user.memory, check.name(id, "id")
    return look_up.get(memory.ports(), user.scope, checked, regime=memory.regime, now=memory.now())


def _by_usual_policy(
    user: User, given: Policy | None, request: Request, go: Callable[[Request], Flow[Recall]], *, suits: bool = False
) -> Flow[Recall]:
    """The request by the user's own policy, where there is one and the call brings none; suited to the embedder."""
    memory = user.memory
    usual = memory.policy if given is not None else (yield from usual_policy(user))
    if usual is not memory.policy:
        check.channels(usual, channels_of(memory.ports().sources))
        request = changed(request, policy=usual)
    if suits:
        request = changed(request, policy=(yield from suited(user, request.policy)))
    return (yield from go(request))


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
    keeping = memory.keeping
    sought, notes = cut(check.cue(cue), keeping.cue_characters, keeping.cue_word_characters)
    return Request(
        id=memory.new_id(),
        scope=user.scope,
        cue=sought,
        k=k,
        now=memory.now() if at is None else at,
        looks_back=at is not None and at <= memory.now() - JUST_NOW,
        where=None,
        policy=memory.policy if policy is None else policy,
        regime=memory.regime,
        reinforce=check.flag(reinforce, "reinforce"),
        draws=reinforce,
        turn=None if turn is None else check.name(turn, "turn"),
        notes=notes,
        fields=memory.fields,
        same_fact=memory.same_fact,
        reader=memory.reader,
    )
