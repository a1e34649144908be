"""How does one piece of logic run both blocking and async? A flow asks, a driver does."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
Call = Callable[[], Any]
Flow = Generator[Call, Any, T]


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What came of something we can do without: a value, or the error that took its place."""

    value: T | None = None
    error: Exception | None = None


def ask(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Flow[T]:
    """Have the driver call `function`; evaluates to what it returns.

    >>> def twice(number: int) -> Flow[int]:
    ...     return (yield from ask(lambda: number * 2))
    >>> run(twice(21))
    42
    """
    answer: T = yield lambda: function(*args, **kwargs)
    return answer


def attempt(errors: type[Exception], function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Flow[Outcome[T]]:
    """Ask for something a recall can do without; an error of this kind is an answer too.

    >>> def careful() -> Flow[str]:
    ...     outcome = yield from attempt(ZeroDivisionError, lambda: 1 / 0)
    ...     return str(outcome.error)
    >>> run(careful())
    'division by zero'
    """
    try:
        return Outcome((yield from ask(function, *args, **kwargs)))
    except errors as error:
        return Outcome(error=error)


def run(flow: Flow[T]) -> T:
    """Drive a flow in this thread."""
    answer: Any = None
    error: BaseException | None = None
    while True:
        try:
            call = flow.send(answer) if error is None else flow.throw(error)
        except StopIteration as done:
            result: T = done.value
            return result
        answer, error = None, None
        try:
            answer = call()
        except BaseException as raised:  # noqa: BLE001 - it goes back into the flow, which decides
            error = raised


async def arun(flow: Flow[T], executor: Executor) -> T:
    """Drive a flow from an event loop: calls run in the executor; those that know how are awaited (flow/outside.py)."""
    loop = asyncio.get_running_loop()
    answer: Any = None
    error: BaseException | None = None
    while True:
        try:
            call = flow.send(answer) if error is None else flow.throw(error)
        except StopIteration as done:
            result: T = done.value
            return result
        answer, error = None, None
        try:
            on_loop = getattr(call, "on_loop", None)  # what may hang is waited for here: it must not fill the executor
            answer = await (on_loop() if on_loop is not None else _off_loop(loop, executor, call))
        except BaseException as raised:  # noqa: BLE001 - it goes back into the flow, which decides
            error = raised


async def _off_loop(loop: asyncio.AbstractEventLoop, executor: Executor, call: Call) -> Any:
    return await loop.run_in_executor(executor, contextvars.copy_context().run, call)
