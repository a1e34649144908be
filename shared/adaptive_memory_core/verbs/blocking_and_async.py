"""How does one verb become a blocking and an async method? As a plain function, called here or in a worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from adaptive_memory_core.error_messages import refusing_unknown
from adaptive_memory_core.flow.calls.workers import LOOKED_SECONDS, in_worker
from adaptive_memory_core.flow.fallback import missing_here

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

P = ParamSpec("P")
T = TypeVar("T")
Moment = float | str | datetime


Verb = Callable[Concatenate["UserMemory", P], T]


def blocking(verb: Verb[P, T]) -> Callable[Concatenate[UserMemory, P], T]:
    """The verb, done before it returns."""

    def call(user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
        exchange = user.memory.opened.exchange
        user.memory.ports()  # refuses before anything is locked, in a fork too
        while True:
            with exchange.counted() as may_begin:
                if may_begin:
                    with user.memory.opened.call():
                        return _done(verb, user, *args, **named)
            exchange.wait()

    update_wrapper(call, verb)
    return call


def awaited(verb: Verb[P, T]) -> Callable[Concatenate[UserMemory, P], Coroutine[Any, Any, T]]:
    """Its async twin, under the name with an `a` before it."""

    async def call(user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
        exchange = user.memory.opened.exchange
        while True:
            with exchange.counted() as may_begin:
                if may_begin:
                    return await in_worker(user.memory.opened.workers, partial(_done, verb, user, *args, **named))
            await asyncio.sleep(LOOKED_SECONDS)

    update_wrapper(call, verb)
    call.__name__, call.__doc__ = f"a{verb.__name__}", f"`{verb.__name__}`, async."
    return call


def _done(verb: Verb[P, T], user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
    """What the verb gives, for this user and in this thread."""
    telemetry = user.memory.opened.telemetry
    call = partial(refusing_unknown, verb, user, *args, **named)
    return missing_here(partial(telemetry.verb, verb.__name__, call), user.fallback)
