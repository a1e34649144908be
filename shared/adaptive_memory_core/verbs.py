"""What does each front-door verb ask for? The caller's arguments, checked, as a flow that is ready to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from adaptive_memory_core import arguments as check
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow import feedback as reinforce
from adaptive_memory_core.flow import feedback_on_answer as answers
from adaptive_memory_core.flow import look_up
from adaptive_memory_core.flow import remember as remembering
from adaptive_memory_core.flow import rerank as reranking
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.foreign_calls import Theirs
from adaptive_memory_core.flow.candidates import shared_scope as recalling
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.candidates.shared_scope import Fallback
from adaptive_memory_core.flow.candidates.sources import channels_of
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.length_limits import check_texts, cut
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import AgentState, Cue, Fields, NewRecord, Record, Scope

Moment = float | datetime
Item = str | Record | NewRecord | Mapping[str, Any]


class Memory(Protocol):
    """What a verb needs of the memory behind it."""

    @property
    def policy(self) -> Policy: ...
    @property
    def regime(self) -> Regime: ...
    @property
    def fields(self) -> Fields: ...
    @property
    def keeping(self) -> Keeping: ...
    @property
    def embedder_name(self) -> str: ...
    @property
    def executor(self) -> Executor: ...
    def call(self) -> AbstractContextManager[None]: ...
    def waits(self) -> AbstractContextManager[None]: ...
    def ports(self) -> Ports: ...
    def now(self) -> float: ...
    def new_id(self) -> str: ...
    def reranker_of(self, given: Any) -> Theirs | None: ...


def remember(memory: Memory, scope: Scope, items: Iterable[Item]) -> Flow[list[str]]:
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise InvalidInputError(f"remember_many was given {items!r}. Give a list of texts, Records or mappings.")
    given = [check.new_record(item, memory.fields) for item in items]
    check_texts(given, memory.keeping.text_characters)
    return remembering.remember(memory.ports(), scope, given, now=memory.now(), new_id=memory.new_id)


def recall(
    memory: Memory,
    scope: Scope,
    cue: str | Cue | AgentState,
    k: int,
    now: Moment | None,
    where: Mapping[str, Any] | None,
    reinforce: bool,
    policy: Policy | None,
    turn: str | None,
    accept: Callable[[Record], bool] | None,
    in_context: Iterable[str],
    state: AgentState | None,
    reranker: Any,
    fallback: Fallback | None,
) -> Flow[Recall]:
    filtered, name = check.where(where), memory.embedder_name
    request = _request(memory, scope, cue, check.count(k, "k"), now, filtered, reinforce, policy, turn, reranker, name)
    bar, notes = check.bars(accept, in_context), check.drifted(request.cue, state)
    if bar is not None or notes:
        request = replace(request, refuse=bar, notes=(*request.notes, *notes))
    return recalling.recall(memory.ports(), request, fallback)


def rerank(
    memory: Memory,
    scope: Scope,
    cue: str | Cue | AgentState,
    similarities: Mapping[str, float | None],
    k: int | None,
    now: Moment | None,
    reinforce: bool,
    policy: Policy | None,
    turn: str | None,
    guests: Mapping[str, str] | None,
    reranker: Any,
) -> Flow[Recall]:
    given = check.similarities(similarities)
    wanted = max(1, len(given)) if k is None else check.count(k, "k")
    request = _request(memory, scope, cue, wanted, now, None, reinforce, policy, turn, reranker, "")
    return reranking.rerank(memory.ports(), request, given, check.guests(guests))


def _request(
    memory: Memory,
    scope: Scope,
    cue: str | Cue | AgentState,
    k: int,
    now: Moment | None,
    where: Mapping[str, Any] | None,
    reinforce: bool,
    policy: Policy | None,
    turn: str | None,
    reranker: Any,
    embedder: str,  # that finds the candidates; "" where somebody else has found them, by means that are not known
) -> Request:
    if policy is not None:
        check.channels(check.policy(policy, memory.policy), channels_of(memory.ports().sources))
    at = check.moment(now, "now")
    sought, notes = cut(check.cue(cue), memory.keeping.cue_characters)
    return Request(
        id=memory.new_id(),
        scope=scope,
        cue=sought,
        notes=notes,
        k=k,
        now=memory.now() if at is None else at,
        where=where,
        policy=check.policy(policy, memory.policy).suited(embedder),
        regime=memory.regime,
        reinforce=check.flag(reinforce, "reinforce"),
        turn=None if turn is None else check.name(turn, "turn"),
        fields=memory.fields,
        reranker=memory.reranker_of(reranker),
    )


def get(memory: Memory, scope: Scope, record_id: str) -> Flow[Record]:
    checked = check.name(record_id, "id")
    return look_up.get(memory.ports(), scope, checked, regime=memory.regime, now=memory.now())


def feedback(
    memory: Memory, scope: Scope, recalled: Recall | str, helpful: Sequence[str], unhelpful: Sequence[str]
) -> Flow[int]:
    for ids in (helpful, unhelpful):
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            example = [ids] if isinstance(ids, str) else ["an id"]
            raise InvalidInputError(f"The ids are {ids!r}. Give a list of ids, e.g. helpful={example!r}.")
    if not isinstance(recalled, Recall):
        check.name(recalled, "recall id")
    return reinforce.feedback(
        memory.ports(),
        scope,
        recalled,
        helpful=[check.name(one, "id") for one in helpful],
        unhelpful=[check.name(one, "id") for one in unhelpful],
        policy=memory.policy,
        now=memory.now(),
    )


def feedback_on_answer(
    memory: Memory, scope: Scope, helpful: Iterable[str | Used], unhelpful: Iterable[str | Used], turn: str | None
) -> Flow[int]:
    return answers.feedback_on_answer(
        memory.ports(),
        scope,
        _used(helpful),
        _used(unhelpful),
        turn=None if turn is None else check.name(turn, "turn"),
        policy=memory.policy,
        now=memory.now(),
    )


def _used(things: Iterable[str | Used]) -> list[Used]:
    if isinstance(things, str) or not isinstance(things, Iterable):
        raise InvalidInputError(f"The ids are {things!r}. Give a list of ids, of records, of recalls or of turns.")
    return [one if isinstance(one, Used) else Used(check.name(one, "id")) for one in things]
