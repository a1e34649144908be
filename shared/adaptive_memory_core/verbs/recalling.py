"""How does a user look something up? Recall, rerank and get, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from adaptive_memory_core import arguments as check
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow import fallback, look_up
from adaptive_memory_core.flow import rerank as reranking
from adaptive_memory_core.length_limits import shortened_cue
from adaptive_memory_core.masked_secrets import masked_cue
from adaptive_memory_core.models.callbacks import Reranker
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import AgentState, Cue, Record
from adaptive_memory_core.sources.ask import channels_of
from adaptive_memory_core.sources.request import Request
from adaptive_memory_core.verbs.blocking_and_async import Moment
from adaptive_memory_core.verbs.inspection import suited, usual_policy

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

Floors = tuple[float | None, float | None]  # of the score and of the similarity
JUST_NOW = 10.0  # seconds before the clock's time that are no other day: somebody read it and then called; guess


def recall(
    user: UserMemory,
    cue: str | Cue | AgentState,
    k: int = 5,
    now: Moment | None = None,
    filter: Mapping[str, Any] | None = None,  # noqa: A002 - the contract's name
    reinforce: bool = True,
    policy: Policy | None = None,
    turn: str | None = None,
    *,
    min_score: float | None = None,
    min_similarity: float | None = None,
    accept: Callable[[Record], bool] | None = None,
    in_context: Iterable[str] = (),
    state: AgentState | None = None,
    reranker: Reranker | None = None,
    judge: Any = None,
    on_embedder_error: Literal["words", "raise"] = "words",
) -> Recall:
    """The `k` best memories for a cue, best first; there may be fewer, or none.

    `cue` is a question or any text. A `Cue(text, vector)` brings its own vector, made by the collection's embedder,
    and nothing is embedded. An `AgentState` becomes a cue about what the agent is doing; `state` says what it is doing
    now, so that a cue that is out of date is noted in the trace.

    The returned records count as read. With `reinforce=False` nothing changes: no count, no time, no log. Recalls with
    the same `turn` are one step of the user's recall counter, and a record is read once in it. `now` is the time to
    rank by, if it is not the present; in the past, nothing that was written or began later is returned, and reads,
    feedback and pins count as of then, as far as the log goes back.

    `min_score` is the least score of a hit and holds with any embedder. `min_similarity` is its least cosine with the
    cue: 1 is the same text, and the value for unrelated texts depends on the embedder. Both are in [0, 1] and replace
    the floors of the policy. Records below them are in `dropped`.

    `filter` is a Chroma `where` mapping over the caller's own metadata; it narrows what this user sees and cannot widen
    it. `accept` is a function of a record that returns False for those to leave out. `in_context` names ids and texts
    that the model already sees; they are not returned again. Words about time ("in 2019", "originally", "lately")
    change the ranking as the policy says. If this scope has a `fallback` and the user has no records, shared records
    fill up the answer, each labelled by `hit.shared`.

    `policy`, `reranker` and `judge` replace the memory's own for this recall. A reranker is a function of the cue and a
    list of texts to one number each, or an object with `predict(pairs)`. A channel or reranker that fails is left out,
    with a note in `recall.trace`. If the embedder fails, the records found by words are the answer, and
    `recall.cue.vector` is None; if there are none, or with `on_embedder_error="raise"`, the error is raised and nothing
    is counted.
    """
    where, words_alone = check.where(filter), check.on_embedder_error(on_embedder_error) == "words"
    request = _request(user, cue, k=check.count(k, "k"), now=now, reinforce=reinforce, policy=policy, turn=turn)
    refuse, notes = check.refusals(accept, in_context), check.drifted(request.cue, state)
    asked = request._replace(
        where=where,
        reranker=user.memory.opened.reranker_of(reranker),
        judge=user.memory.opened.judge_of(judge),
        refuse=refuse,
        notes=(*request.notes, *notes),
        as_of=request.now if request.looks_back else None,
        words_alone=words_alone,
    )
    ports, floors = user.memory.ports(), _floors(min_score, min_similarity)
    by = suited(user, _policy_of(user, policy, floors))
    return fallback.recall_with_fallback(ports, asked._replace(policy=by), user.fallback)


def rerank(
    user: UserMemory,
    cue: str | Cue | AgentState,
    hits: Mapping[str, float | None],
    k: int | None = None,
    now: Moment | None = None,
    reinforce: bool = True,
    policy: Policy | None = None,
    turn: str | None = None,
    guests: Mapping[str, str] | None = None,
    reranker: Reranker | None = None,
    *,
    min_score: float | None = None,
    min_similarity: float | None = None,
) -> Recall:
    """Rank records that another retriever found; `hits` maps their ids to similarities (None: unknown).

    They are scored, dropped, counted as read and logged as those of `recall`. Ids that this user does not have are in
    `dropped`. All that pass the gates are returned unless `k` is given. `guests` maps ids of hits from elsewhere to
    their texts: they are ranked with the others, and nothing is learned about them. `min_score` and `min_similarity`
    are those of `recall`.
    """
    given = check.similarities(hits)
    wanted = max(1, len(given)) if k is None else check.count(k, "k")
    request = _request(user, cue, k=wanted, now=now, reinforce=reinforce, policy=policy, turn=turn)
    asked = request._replace(reranker=user.memory.opened.reranker_of(reranker))
    ports, welcome, floors = user.memory.ports(), check.guests(guests), _floors(min_score, min_similarity)
    return reranking.rerank(ports, asked._replace(policy=_policy_of(user, policy, floors)), given, welcome)


def get(user: UserMemory, id: str) -> Record:  # noqa: A002 - the contract's name
    """One record with its read state as of now; an unknown id raises NotFoundError. This does not count as a read."""
    memory, checked = user.memory, check.name(id, "id")
    return look_up.get(memory.ports(), user.scope, checked, regime=memory.opened.in_force.regime, now=memory.now())


def _floors(min_score: object, min_similarity: object) -> Floors:
    """The floors of a call, checked."""
    given = {"min_score": min_score, "min_similarity": min_similarity}
    score, similarity = (None if value is None else check.fraction(value, name) for name, value in given.items())
    return score, similarity


@lru_cache(maxsize=64)
def _with_floors(policy: Policy, floors: Floors) -> Policy:
    """The policy with the floors of a call, as far as they are given."""
    given = dict(zip(("min_score", "min_similarity"), floors, strict=True))
    return policy.replace(**{name: value for name, value in given.items() if value is not None})


def _policy_of(user: UserMemory, given: Policy | None, floors: Floors) -> Policy:
    """The policy of the call, else the user's own, else the memory's; with the floors of the call."""
    policy = given
    if policy is None:
        policy = usual_policy(user)
        if policy is not user.memory.policy:
            check.channels(policy, channels_of(user.memory.ports().sources))
    return policy if floors == (None, None) else _with_floors(policy, floors)


def _request(
    user: UserMemory,
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
    given = masked_cue(check.cue(cue)) if keeping.mask_secrets else check.cue(cue)
    sought, notes = shortened_cue(given, keeping.cue_characters, keeping.cue_word_characters)
    return Request(
        id=memory.new_id(),
        scope=user.scope,
        cue=sought,
        k=k,
        now=memory.now() if at is None else at,
        looks_back=at is not None and at <= memory.now() - JUST_NOW,
        where=None,
        policy=memory.policy if policy is None else policy,
        regime=memory.opened.in_force.regime,
        reinforce=check.flag(reinforce, "reinforce"),
        draws=reinforce,
        turn=None if turn is None else check.name(turn, "turn"),
        notes=notes,
        fields=memory.fields,
        same_fact=memory.opened.same_fact,
        reader=memory.opened.reader,
    )
