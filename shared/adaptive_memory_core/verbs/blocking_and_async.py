"""Decorators that turn one plain function into a blocking method and an async one, which runs in a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from adaptive_memory_core.error_messages import unknown_argument
from adaptive_memory_core.errors import NotFoundError
from adaptive_memory_core.flow.calls.workers import in_worker
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.running_calls import CallState, enter

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

P = ParamSpec("P")
T = TypeVar("T")
Moment = float | str | datetime


Verb = Callable[Concatenate["UserMemory", P], T]


def blocking(verb: Verb[P, T]) -> Callable[Concatenate[UserMemory, P], T]:
    """The verb as a blocking method. The error for an unknown argument suggests the right name. The error for an
    unknown id mentions the shared scope, if there is one, because the id may come from there."""

    def call(user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
        opened = user.memory.opened
        state = CallState(opened.keeping.wait_seconds)
        try:
            opened.calls.begin(state)
            enter(state)
            if opened.telemetry is None:
                return verb(user, *args, **named)
            return opened.telemetry.verb(verb.__name__, partial(verb, user, *args, **named))
        except TypeError:
            unknown = unknown_argument(verb, named, Policy)
            if unknown is None:
                raise
            raise unknown from None
        except NotFoundError as error:
            if user.fallback is None:
                raise
            raise NotFoundError(
                f"{error} Hits that are shared: {user.fallback.name} are only read here; change them through that "
                "scope."
            ) from error
        finally:
            enter(state.outer)
            opened.calls.over(state)

    update_wrapper(call, verb)
    return call


def awaited(verb: Verb[P, T]) -> Callable[Concatenate[UserMemory, P], Coroutine[Any, Any, T]]:
    """The verb as an async method: the same call in a worker thread. Its name starts with `a`."""
    done = blocking(verb)

    async def call(user: UserMemory, /, *args: P.args, **named: P.kwargs) -> T:
        return await in_worker(user.memory.opened.workers, partial(done, user, *args, **named))

    update_wrapper(call, verb)
    call.__name__, call.__doc__ = f"a{verb.__name__}", f"`{verb.__name__}`, async."
    return call
