"""The methods recall, rerank and get, with their arguments checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.recalls import Floors
from adaptive_memory_core.arguments.values import LARGEST_K, Moment
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow import look_up
from adaptive_memory_core.flow import rerank as reranking
from adaptive_memory_core.flow.fallback import recall_with_fallback
from adaptive_memory_core.flow.recall import recall as recall_own
from adaptive_memory_core.in_force import random_ids, suited, usual_policy
from adaptive_memory_core.length_limits import LETTERS_OF_A_SIGN, shortened_cue
from adaptive_memory_core.masked_secrets import masked_cue
from adaptive_memory_core.models.callbacks import Reranker
from adaptive_memory_core.models.judges import as_judge
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import AgentState, Cue, Record
from adaptive_memory_core.sources.ask import channels_of
from adaptive_memory_core.sources.request import Request

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

JUST_NOW = 10.0  # seconds; a `now` less far back was read from the clock before the call, and means the present; guess


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

    `cue` is a question or any text. A `Cue(text, vector)` contains a vector from the collection's embedder, so nothing
    is embedded. An `AgentState` becomes a cue about what the agent is doing. `state` is the agent's present state: if
    the cue was built from an older one, the trace notes it.

    The returned records count as read. With `reinforce=False` nothing is counted or logged. Recalls with the same
    `turn` are one step of the user's recall counter, and a record is read once per turn. `now` is the time to rank by,
    if it is not the present. For a past time, records that were written or began later are not returned, and reads,
    feedback and pins count as of that time, as far as the log goes back.

    `min_score` is the minimum score of a hit, and means the same with any embedder. `min_similarity` is the minimum
    cosine with the cue: 1 is the same text, and the value for unrelated texts depends on the embedder. Both are in
    [0, 1] and replace the floors of the policy. Records below them are in `dropped`.

    `filter` is a Chroma `where` mapping over the caller's own metadata. It narrows what this user sees and cannot widen
    it. `accept` is a function of a record that returns False for records to leave out. `in_context` lists ids and texts
    that the model already sees; these are not returned again. Words about time ("in 2019", "originally", "lately")
    change the ranking, as set in the policy. If this scope has a `fallback` and the user has no records, shared records
    fill up the answer, each labelled by `hit.shared`.

    `policy`, `reranker` and `judge` replace the memory's own for this recall. A reranker is a function of the cue and a
    list of texts that returns one number per text, or an object with `predict(pairs)`. A channel or reranker that fails
    is left out, with a note in `recall.trace`. If the embedder fails, the records found by words are returned, and
    `recall.cue.vector` is None. If there are none, or with `on_embedder_error="raise"`, the error is raised and nothing
    is counted.
    """
    opened = user.memory.opened
    ports, floors = opened.parts.ports, (min_score, min_similarity)
    asked = _request(user, cue, k, now, reinforce, policy, turn, floors, searches=True)
    if filter is not None or accept is not None or in_context != ():
        nothing_refused = accept is None and in_context == ()
        asked = asked._replace(
            where=None if filter is None else check.where(filter),
            refuse=None if nothing_refused else check.refusals(accept, in_context),
        )
    if state is not None:
        asked = asked._replace(notes=(*asked.notes, *check.drifted(asked.cue, state)))
    if reranker is not None or judge is not None or on_embedder_error != "words":
        asked = asked._replace(
            reranker=asked.reranker if reranker is None else opened.reranker_of(reranker),
            judge=asked.judge if judge is None else as_judge(judge),
            words_alone=check.on_embedder_error(on_embedder_error) == "words",
        )
    if user.fallback is None:
        return recall_own(ports, asked)
    return recall_with_fallback(ports, asked, user.fallback)


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

    The records are scored, dropped, counted as read and logged as in `recall`. Ids that this user does not have are in
    `dropped`. All records that pass the gates are returned unless `k` is given. `guests` maps the ids of hits from
    elsewhere to their texts: they are ranked with the others, but nothing is learned about them. `min_score` and
    `min_similarity` mean the same as in `recall`.
    """
    given = check.similarities(hits)
    opened, wanted = user.memory.opened, max(1, len(given)) if k is None else k
    asked = _request(user, cue, wanted, now, reinforce, policy, turn, (min_score, min_similarity))
    if reranker is not None:
        asked = asked._replace(reranker=opened.reranker_of(reranker))
    return reranking.rerank(opened.parts.ports, asked, given, check.guests(guests))


def get(user: UserMemory, id: str) -> Record:  # noqa: A002 - the contract's name
    """One record with its read state as of now; an unknown id raises NotFoundError. This does not count as a read."""
    memory, checked = user.memory, check.name(id, "id")
    return look_up.get(memory.ports(), user.scope, checked, regime=memory.opened.in_force.regime, now=memory.now())


@lru_cache(maxsize=64)
def _with_floors(policy: Policy, floors: Floors) -> Policy:
    """The policy with the floors that the call gave."""
    given = dict(zip(("min_score", "min_similarity"), floors, strict=True))
    return policy.replace(**{name: value for name, value in given.items() if value is not None})


def _request(
    user: UserMemory,
    cue: str | Cue | AgentState,
    k: int,
    now: Moment | None,
    reinforce: bool,
    policy: Policy | None,
    turn: str | None,
    floors: Floors,
    *,
    searches: bool = False,
) -> Request:
    """The checked request that recall, which searches, and rerank share. Its policy is the call's, else the user's own,
    else the memory's, with the floors of the call."""
    opened, keeping = user.memory.opened, user.memory.keeping
    present = opened.in_force.now()
    notes: tuple[str, ...] = ()
    by = usual_policy(user) if policy is None else check.policy(policy, opened.in_force.policy)
    if by is not opened.in_force.policy:
        check.channels(by, channels_of(opened.parts.ports.sources))
    if floors != (None, None):
        by = _with_floors(by, check.floors(*floors))
    if searches:
        by = suited(opened.parts.ports, user.scope, by)
    at = None if now is None else check.moment(now, "now")
    looks_back = at is not None and at <= present - JUST_NOW
    sought = Cue(cue) if isinstance(cue, str) and cue.isascii() and cue.strip() else check.cue(cue)
    if keeping.mask_secrets:
        sought = masked_cue(sought)
    most, most_of_words = keeping.cue_characters, keeping.cue_word_characters
    if sought.words is not None or LETTERS_OF_A_SIGN * len(sought.text) > min(most, most_of_words):
        sought, notes = shortened_cue(sought, most, most_of_words)
    return Request(
        id=random_ids.next(),
        scope=user.scope,
        cue=sought,
        k=k if type(k) is int and 0 < k <= LARGEST_K else check.count(k, "k"),
        now=present if at is None else at,
        looks_back=looks_back,
        as_of=at if searches and looks_back else None,
        where=None,
        policy=by,
        regime=opened.in_force.regime,
        reinforce=reinforce if reinforce is True else check.flag(reinforce, "reinforce"),
        draws=reinforce,
        turn=None if turn is None else check.name(turn, "turn"),
        notes=notes,
        fields=opened.fields,
        reranker=opened.reranker,
        judge=opened.judge if searches else None,
        same_fact=opened.same_fact,
        reader=opened.reader,
    )
