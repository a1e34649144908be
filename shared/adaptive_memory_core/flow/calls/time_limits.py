"""What happens when the vectors fail or are late? Their time limit, and the error that names the cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from adaptive_memory_core.errors import AdaptiveMemoryError, EmbedderError, StoreError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.foreign_calls import Question, Twins, in_time
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports, Vector
from adaptive_memory_core.flow.ports.source import Found, NearestAndNamed
from adaptive_memory_core.policy.channel_names import DENSE
from adaptive_memory_core.policy.policy import Policy

T = TypeVar("T")
P = ParamSpec("P")


def nearest(ports: Ports, request: Request, vector: Vector, limit: int) -> Flow[list[Found]]:
    """The nearest records, in time or not at all."""
    policy, asked = request.policy, (request.scope, vector, limit, request.where)
    if policy.search == "auto":
        return (yield from in_collection(ports, policy, ports.search.nearest, *asked))
    return (yield from in_collection(ports, policy, ports.search.nearest, *asked, by=policy.search))


def nearest_and_named(
    ports: Ports, request: Request, vector: Vector, limit: int, named: Sequence[str]
) -> Flow[NearestAndNamed]:
    """The nearest records and, where that costs little, the named ones with them."""
    if not named or vector is None:
        return NearestAndNamed((yield from nearest(ports, request, vector, limit)), None)
    policy, asked = request.policy, (request.scope, vector, limit, request.where, named)
    return (yield from in_collection(ports, policy, ports.search.nearest_and_named, *asked, by=policy.search))


def among(ports: Ports, request: Request, vector: Vector, stored_ids: Sequence[str]) -> Flow[list[Found]]:
    """These records, compared with the vector; where there is none, how near they are is not known, and counts as 0."""
    if not stored_ids:
        return []
    policy, scope = request.policy, request.scope
    if vector is not None:
        found = yield from in_collection(ports, policy, ports.search.among, scope, vector, stored_ids, None)
        return found
    unknown = yield from in_collection(ports, policy, ports.search.stored, scope, stored_ids)
    return [one._replace(similarity=0.0) for one in unknown]


def embedded(ports: Ports, text: str, policy: Policy) -> Flow[Vector]:
    """The vector of a cue, in time or not at all."""
    if ports.embedder.can_wait:
        made = _either_way(ports, text, policy)
    else:
        made = in_time(ports.unanswered[DENSE], policy.channel_timeout_seconds, ports.embedder.embed_query, text)
    return (yield from _told(EmbedderError, "embedder", policy, made))


def _either_way(ports: Ports, text: str, policy: Policy) -> Flow[Vector]:
    """By the model's own coroutine, where an event loop drives this."""
    seconds, unanswered, embedder = policy.channel_timeout_seconds, ports.unanswered[DENSE], ports.embedder
    blocking = Question(lambda: embedder.embed_query(text), seconds, unanswered)
    return (yield Twins(blocking, Question(lambda: embedder.aembed_query(text), seconds, unanswered, coroutine=True)))


def in_collection(ports: Ports, policy: Policy, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Flow[T]:
    """What the collection says, in time or not at all."""
    made = in_time(ports.unanswered[DENSE], policy.channel_timeout_seconds, function, *args, **kwargs)
    return (yield from _told(StoreError, "collection", policy, made))


def _told(kind: type[AdaptiveMemoryError], who: str, policy: Policy, made: Flow[T]) -> Flow[T]:
    try:
        return (yield from made)
    except TimeoutError as error:
        raise kind(
            f"The {who} did not answer: {error}. Try again, or allow more than "
            f"Policy(channel_timeout_seconds={policy.channel_timeout_seconds:g})."
        ) from error
