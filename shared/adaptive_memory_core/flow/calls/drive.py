"""How does one flow run both blocking and async? The flow asks for calls; a driver makes them."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar

from adaptive_memory_core.frozen import quickly_made
from adaptive_memory_core.let_others_run import let_others_run

T = TypeVar("T")
P = ParamSpec("P")
Call = Callable[[], Any]
Flow = Generator[Call, Any, T]


@quickly_made
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
    answer: T = yield partial(function, *args, **kwargs)
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
        return Outcome((yield partial(function, *args, **kwargs)))
    except errors as error:
        return Outcome(error=error)


def tried(errors: type[Exception], function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
    """What came of something that waits for nothing, and so need not be asked for.

    >>> tried(ValueError, int, "7"), tried(ValueError, int, "x").value
    (Outcome(value=7, error=None), None)
    """
    try:
        return Outcome(function(*args, **kwargs))
    except errors as error:
        return Outcome(error=error)


def run(flow: Flow[T]) -> T:
    """Drive a flow in this thread. An interrupt between two of its steps ends it, too: else whoever keeps the traceback
    would keep a flow that waits for ever, with the locks it has."""
    try:
        return _driven(flow)
    except BaseException as why:
        _tell(flow, why)
        raise


def _driven(flow: Flow[T]) -> T:
    try:
        call = flow.send(None)
        while True:
            let_others_run()
            try:
                answer = call()
            except BaseException as error:  # noqa: BLE001 - it goes back into the flow, which decides
                call = flow.throw(error)
            else:
                call = flow.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result


async def arun(flow: Flow[T], executor: Executor) -> T:
    """Drive a flow from an event loop: in the executor, in one go, for every hop between threads costs. Calls that know
    how (flow/outside.py) are awaited here: they may hang, and must not fill the executor.

    Where the task is cancelled the flow hears of it, after the call that is under way, and makes no further one.
    """
    walk, loop = _Walk(flow), asyncio.get_running_loop()
    try:
        while (aside := await loop.run_in_executor(executor, walk)) is not None:
            await walk.wait_for(aside)
    except asyncio.CancelledError as cancelled:
        walk.stop(cancelled)
        raise
    return walk.result


class _Walk(Generic[T]):
    """A flow under way in one thread, which another one may stop."""

    result: T

    def __init__(self, flow: Flow[T]) -> None:
        self._flow = flow
        self._answer: Any = None
        self._error: BaseException | None = None
        self._stopped: BaseException | None = None
        self._moving = threading.Lock()  # held while the flow itself runs, not during the calls it asks for

    def __call__(self) -> Call | None:
        """Go on to the end, or up to a call that could be awaited instead."""
        while (call := self._step()) is not None and not hasattr(call, "on_loop"):
            self.take(call)
        return call

    def take(self, call: Call) -> None:
        """Make a call that the flow asks for."""
        self._answer, self._error = None, None
        let_others_run()
        try:
            self._answer = call()
        except BaseException as raised:  # noqa: BLE001 - it goes back into the flow, which decides
            self._error = raised

    async def wait_for(self, call: Any) -> None:
        """The same, on the event loop."""
        self._answer, self._error = None, None
        try:
            self._answer = await call.on_loop()
        except asyncio.CancelledError:
            raise
        except BaseException as raised:  # noqa: BLE001 - it is handed to whoever waits
            self._error = raised

    def stop(self, why: BaseException) -> None:
        """Have the flow end: at once where it waits for a call; where it runs, its own thread sees to it."""
        self._stopped = why
        if self._moving.acquire(blocking=False):
            try:
                _tell(self._flow, why)
            finally:
                self._moving.release()

    def _step(self) -> Call | None:
        """The next call that the flow asks for; None at its end."""
        with self._moving:
            try:
                call = None if self._stopped is not None else self._next()
            except StopIteration as done:
                self.result = done.value
                return None
            if self._stopped is not None:  # before this step, or during it
                _tell(self._flow, self._stopped)
                raise self._stopped
            return call

    def _next(self) -> Call:
        return self._flow.send(self._answer) if self._error is None else self._flow.throw(self._error)


def _tell(flow: Flow[Any], why: BaseException) -> None:
    """Have a flow end that waits, if it has not ended."""
    if inspect.getgeneratorstate(flow) == inspect.GEN_CLOSED:
        return
    with suppress(BaseException):  # it may say so in its own words; nobody is left to hear them
        flow.throw(why)
    with suppress(BaseException):
        flow.close()
