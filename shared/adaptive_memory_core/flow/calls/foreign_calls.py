"""Calls of foreign code that may hang: in threads that are not joined, and in tasks that are cancelled.

No wait exceeds its limit or keeps the interpreter from ending. A call that timed out continues to run, and `Unanswered`
counts it: if too many have not returned, no new call is started. A coroutine runs on the event loop of the task that
awaits the verb; for a blocking caller, on a separate loop.
"""

from __future__ import annotations

import concurrent.futures
import contextvars
import inspect
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from typing_extensions import NamedTuple  # a generic one before Python 3.11

from adaptive_memory_core.flow.calls.running_calls import current_caller, still_awaited

if TYPE_CHECKING:
    import asyncio  # loaded by what awaits, as it takes long to import

T = TypeVar("T")
P = ParamSpec("P")
MOST_UNANSWERED = 4  # timed-out calls of one channel that may still be running; guess
MOST_FUNCTIONS = 64  # functions whose unanswered calls are counted; guess


class Outcome(NamedTuple, Generic[T]):
    """The result of an optional step: a value or an error."""

    value: T | None = None
    error: Exception | None = None


def tried(errors: type[Exception], function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
    """The outcome of a call that a recall does not depend on; errors of the given kind are returned, not raised.

    >>> tried(ValueError, int, "7"), tried(ValueError, int, "x").value
    (Outcome(value=7, error=None), None)
    """
    try:
        return Outcome(function(*args, **kwargs))
    except errors as error:
        return Outcome(error=error)


class Unanswered:
    """The number of calls of one channel that timed out and have not returned yet."""

    def __init__(self) -> None:
        self._turn, self._calls = threading.Lock(), 0

    @property
    def count(self) -> int:
        return self._calls

    @property
    def too_many(self) -> bool:
        return self._calls >= MOST_UNANSWERED

    def give_up(self, call: Future[Any]) -> None:
        with self._turn:
            self._calls += 1
        call.add_done_callback(lambda _: self._finished())

    def _finished(self) -> None:
        with self._turn:
            self._calls -= 1


class UnansweredBy:
    """`Unanswered` for functions that are given with each call: one that hangs does not block another one.

    A function that is created again for every call is recognised by its code, so that it cannot start ever more
    threads."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._of: OrderedDict[Any, Unanswered] = OrderedDict()

    def of(self, given: Any) -> Unanswered:
        code = getattr(given, "__code__", None)
        key = (code, id(given) if code is None else id(getattr(given, "__self__", None)))
        with self._turn:
            found = self._of.setdefault(key, Unanswered())
            self._of.move_to_end(key)
            while len(self._of) > MOST_FUNCTIONS:
                self._of.popitem(last=False)
            return found


@dataclass(frozen=True, slots=True)
class ForeignCall:
    """One call of foreign code: blocking, or a coroutine. `seconds` is the time limit; 0 means none."""

    call: Callable[[], Any]
    seconds: float
    unanswered: Unanswered
    coroutine: bool = False


@dataclass(frozen=True, slots=True)
class Theirs:
    """A function from the caller, such as a channel or a reranker."""

    function: Callable[..., Any]
    unanswered: Unanswered

    def asked(self, seconds: float, *arguments: Any) -> ForeignCall:
        function = self.function
        return ForeignCall(lambda: function(*arguments), seconds, self.unanswered, is_coroutine(function))


def is_coroutine(function: Any) -> bool:
    """Whether calling the function returns an awaitable.

    >>> async def later(): ...
    >>> is_coroutine(later), is_coroutine(len)
    (True, False)
    """
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


class Begun:
    """A call that was started in another thread or task."""

    def __init__(self, question: ForeignCall) -> None:
        still_awaited()
        self._question, self._caller, self._began = question, current_caller(), time.monotonic()
        self._call = self._refused() if question.unanswered.too_many else self._under_way()
        if self._caller is not None:
            self._caller.under_way[self] = self.give_up

    def outcome(self) -> Outcome[Any]:
        """Wait for the call, up to its limit; errors and timeouts are part of the outcome."""
        seconds = self._question.seconds
        left = max(0.0, self._began + seconds - time.monotonic()) if seconds else None
        try:
            if self._caller is None:
                wait([self._call], left)
            else:
                self._caller.wait(self._call, left)
        except BaseException:
            self.give_up()
            raise
        finally:
            if self._caller is not None:
                self._caller.under_way.pop(self, None)
        if not self._call.done():
            self.give_up()
            return Outcome(error=TimeoutError(f"no answer within {seconds:g} seconds"))
        try:
            return Outcome(self._call.result())
        except BaseException as error:  # noqa: BLE001 - it was raised in there, and whoever asked decides what it means
            return Outcome(error=_as_answer(error))

    def give_up(self) -> None:
        """Stop waiting for the call."""
        self._question.unanswered.give_up(self._call)
        self._call.cancel()

    def _under_way(self) -> Future[Any]:
        loop = background.loop() if self._caller is None else self._caller.loop
        if self._question.coroutine:
            return _begun(_awaited_within(self._question.call), loop)
        return _threaded(self._question.call, loop)

    def _refused(self) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(TimeoutError(f"{MOST_UNANSWERED} earlier calls of it were given up and are still running"))
        return future


def answered(question: ForeignCall) -> Outcome[Any]:
    """The outcome of the call, which runs in this thread unless it has a time limit or must be awaited."""
    if question.seconds or question.coroutine:
        return Begun(question).outcome()
    still_awaited()
    outcome = tried(Exception, called_here, question.call)
    if not inspect.isawaitable(outcome.value):
        return outcome
    given = outcome.value
    return Begun(ForeignCall(lambda: given, 0.0, question.unanswered, coroutine=True)).outcome()


def called_here(call: Callable[[], T]) -> T:
    """The call's result, in this thread. A cancellation that it raises becomes an error, because nothing was
    awaited."""
    try:
        return call()
    except _others_own() as error:
        raise _as_answer(error) from error


def in_time(unanswered: Unanswered, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call an own function that may hang, in a thread with a time limit."""
    made: T = value_of(Begun(ForeignCall(lambda: function(*args, **kwargs), seconds, unanswered)))
    return made


def in_either_form(
    blocking: Callable[[], T], coroutine: Callable[[], Any], seconds: float, unanswered: Unanswered
) -> T:
    """Make a call in one of two forms: awaited on the loop of the awaiting task, or blocking if there is none."""
    if current_caller() is not None:
        question = ForeignCall(coroutine, seconds, unanswered if seconds else Unanswered(), coroutine=True)
    elif seconds:
        question = ForeignCall(blocking, seconds, unanswered)
    else:
        return called_here(blocking)
    made: T = value_of(Begun(question))
    return made


def value_of(call: Begun) -> Any:
    """The value of the call; its error is raised."""
    outcome = call.outcome()
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _threaded(call: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> Future[Any]:
    """Run the call in a separate thread, for which neither `close` nor the end of the interpreter waits. If the call
    returns an awaitable, the loop awaits it."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def settled() -> Any:
        given = call()
        if inspect.isawaitable(given):
            return _begun(_awaited_within(lambda: given), loop).result()
        return given

    def work() -> None:
        try:
            future.set_result(context.run(settled))
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            future.set_exception(error)

    threading.Thread(target=work, name="adaptive-memory-outside", daemon=True).start()
    return future


def _begun(awaited: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Future[Any]:
    import asyncio

    return asyncio.run_coroutine_threadsafe(awaited, loop)


async def _awaited_within(call: Callable[[], Any]) -> Any:
    with _kept_in():
        given = call()
        return await given if inspect.isawaitable(given) else given


@contextmanager
def _kept_in() -> Iterator[None]:
    """A block that turns SystemExit into an error, because it would end the event loop."""
    try:
        yield
    except SystemExit as error:
        raise _as_answer(error) from error


def _as_answer(error: BaseException) -> Exception:
    """An error of foreign code as an Exception, so that it does not cancel or end the recall."""
    if isinstance(error, Exception):
        return error
    if isinstance(error, _cancellations()):
        return RuntimeError("it was cancelled")
    return RuntimeError(f"it raised {type(error).__name__}({error})")


def _cancellations() -> tuple[type[BaseException], ...]:
    import asyncio

    return asyncio.CancelledError, concurrent.futures.CancelledError


def _others_own() -> tuple[type[BaseException], ...]:
    """The types besides Exception that foreign code may raise without ending this process."""
    return (*_cancellations(), SystemExit)


class CallLoop:
    """An event loop in a separate thread, for coroutines in blocking calls. All calls share it, because clients keep
    connections that belong to the loop on which they were created."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._turn:
            if (
                self._loop is None or self._thread is None or not self._thread.is_alive()
            ):  # a fork leaves threads behind
                import asyncio

                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="adaptive-memory-loop", daemon=True)
                self._thread.start()
            return self._loop


background = CallLoop()
