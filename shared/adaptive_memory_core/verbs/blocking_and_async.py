"""How does one verb become a blocking and an async method? As a plain function, called here or in a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from adaptive_memory_core.error_messages import refusing_unknown
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.foreign_calls import Theirs
from adaptive_memory_core.flow.calls.workers import LOOKED_SECONDS, Exchange, Workers, in_worker
from adaptive_memory_core.flow.fallback import Fallback, missing_here
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.models import JudgePort, Telemetry
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope

if TYPE_CHECKING:
    from adaptive_memory_core.verbs.inspection import OwnPolicy

P = ParamSpec("P")
T = TypeVar("T")
Moment = float | str | datetime


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
    def workers(self) -> Workers: ...
    @property
    def exchange(self) -> Exchange: ...
    @property
    def telemetry(self) -> Telemetry: ...
    @property
    def same_fact(self) -> Theirs | None: ...
    @property
    def reader(self) -> Theirs | None: ...
    def judge_of(self, given: Any) -> JudgePort | None: ...
    def call(self) -> AbstractContextManager[None]: ...
    def ports(self) -> Ports: ...
    def now(self) -> float: ...
    def new_id(self) -> str: ...
    def reranker_of(self, given: Any) -> Theirs | None: ...


class User(Protocol):
    """Whose verb it is: one scope of a memory."""

    @property
    def memory(self) -> Memory: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def fallback(self) -> Fallback | None: ...
    @property
    def own_policy(self) -> OwnPolicy: ...


Verb = Callable[Concatenate[User, P], T]


def blocking(verb: Verb[P, T]) -> Callable[Concatenate[User, P], T]:
    """The verb, done before it returns."""

    def call(user: User, /, *args: P.args, **named: P.kwargs) -> T:
        exchange = user.memory.exchange
        user.memory.ports()  # refuses before anything is locked, in a fork too
        while True:
            with exchange.counted() as may_begin:
                if may_begin:
                    with user.memory.call():
                        return _done(verb, user, *args, **named)
            exchange.wait()

    update_wrapper(call, verb)
    return call


def awaited(verb: Verb[P, T]) -> Callable[Concatenate[User, P], Coroutine[Any, Any, T]]:
    """Its async twin, under the name with an `a` before it."""

    async def call(user: User, /, *args: P.args, **named: P.kwargs) -> T:
        exchange = user.memory.exchange
        while True:
            with exchange.counted() as may_begin:
                if may_begin:
                    return await in_worker(user.memory.workers, partial(_done, verb, user, *args, **named))
            import asyncio

            await asyncio.sleep(LOOKED_SECONDS)

    update_wrapper(call, verb)
    call.__name__, call.__doc__ = f"a{verb.__name__}", f"`{verb.__name__}`, async."
    return call


def _done(verb: Verb[P, T], user: User, /, *args: P.args, **named: P.kwargs) -> T:
    """What the verb gives, for this user and in this thread."""
    telemetry = user.memory.telemetry
    call = partial(refusing_unknown, verb, user, *args, **named)
    return missing_here(partial(telemetry.verb, verb.__name__, call), user.fallback)
