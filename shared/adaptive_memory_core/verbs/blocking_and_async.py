"""How does one verb become a blocking and an async method? As a plain function, called here or in a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from adaptive_memory_core.error_messages import unknown_argument
from adaptive_memory_core.errors import NotFoundError
from adaptive_memory_core.flow.calls.workers import in_worker
from adaptive_memory_core.policy.policy import Policy

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

P = ParamSpec("P")
T = TypeVar("T")
Moment = float | str | datetime


Verb = Callable[Concatenate["UserMemory", P], T]


def blocking(verb: Verb[P, T]) -> Callable[Concatenate[UserMemory, P], T]:
    """The verb, done before it returns."""

    def call(user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
        user.memory.ports()  # refuses before anything is locked, in a fork too
        with user.memory.opened.call():
            return _done(verb, user, *args, **named)

    update_wrapper(call, verb)
    return call


def awaited(verb: Verb[P, T]) -> Callable[Concatenate[UserMemory, P], Coroutine[Any, Any, T]]:
    """Its async twin, under the name with an `a` before it."""

    async def call(user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
        return await in_worker(user.memory.opened.workers, partial(_done, verb, user, *args, **named))

    update_wrapper(call, verb)
    call.__name__, call.__doc__ = f"a{verb.__name__}", f"`{verb.__name__}`, async."
    return call


def _done(verb: Verb[P, T], user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
    """What the verb gives, for this user and in this thread. An unknown argument gets an error that names the one that
    is meant; an id that is not found may have come from the shared scope, and the error says so."""
    try:
        return user.memory.opened.telemetry.verb(verb.__name__, partial(verb, user, *args, **named))
    except TypeError:
        unknown = unknown_argument(verb, named, Policy)
        if unknown is None:
            raise
        raise unknown from None
    except NotFoundError as error:
        if user.fallback is None:
            raise
        raise NotFoundError(
            f"{error} Hits that are shared: {user.fallback.name} are only read here; change them through that scope."
        ) from error
