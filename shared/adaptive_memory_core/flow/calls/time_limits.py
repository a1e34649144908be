"""What if the vectors fail or do not answer in time? One place for how long they are waited for, and in whose words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from adaptive_memory_core.errors import AdaptiveMemoryError, EmbedderError, StoreError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.foreign_calls import Question, Twins, in_time
from adaptive_memory_core.flow.ports import Found, Ports, Vector, Where
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope

T = TypeVar("T")
P = ParamSpec("P")


def nearest(
    ports: Ports, scope: Scope, vector: Vector, limit: int, where: Where | None, policy: Policy
) -> Flow[list[Found]]:
    """The nearest records, in time or not at all."""
    return (yield from stored(ports, policy, ports.store.nearest, scope, vector, limit, where))


def among(ports: Ports, scope: Scope, vector: Vector, stored_ids: Sequence[str], policy: Policy) -> Flow[list[Found]]:
    """These records, compared with the vector; where there is none, how near they are is not known, and counts as 0."""
    if not stored_ids:
        return []
    if vector is not None:
        return (yield from stored(ports, policy, ports.store.among, scope, vector, stored_ids, None))
    found = yield from stored(ports, policy, ports.store.stored, scope, stored_ids)
    return [one._replace(similarity=0.0) for one in found]


def embedded(ports: Ports, text: str, policy: Policy) -> Flow[Vector]:
    """The vector of a cue, in time or not at all."""
    if ports.embedder.can_wait:
        made = _either_way(ports, text, policy)
    else:
        made = in_time(ports.unanswered["dense"], policy.channel_timeout_seconds, ports.embedder.embed_query, text)
    return (yield from _told(EmbedderError, "embedder", policy, made))


def _either_way(ports: Ports, text: str, policy: Policy) -> Flow[Vector]:
    """By the model's own coroutine, where an event loop drives this."""
    seconds, unanswered, embedder = policy.channel_timeout_seconds, ports.unanswered["dense"], ports.embedder
    blocking = Question(lambda: embedder.embed_query(text), seconds, unanswered)
    return (yield Twins(blocking, Question(lambda: embedder.aembed_query(text), seconds, unanswered, coroutine=True)))


def stored(ports: Ports, policy: Policy, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Flow[T]:
    """What the collection says, in time or not at all."""
    made = in_time(ports.unanswered["dense"], policy.channel_timeout_seconds, function, *args, **kwargs)
    return (yield from _told(StoreError, "collection", policy, made))


def _told(kind: type[AdaptiveMemoryError], who: str, policy: Policy, made: Flow[T]) -> Flow[T]:
    try:
        return (yield from made)
    except TimeoutError as error:
        raise kind(
            f"The {who} did not answer: {error}. Try again, or allow more than "
            f"Policy(channel_timeout_seconds={policy.channel_timeout_seconds:g})."
        ) from error
