"""How is somebody else's code asked, that may hang? In threads that are left behind, and tasks that are cancelled.

Nothing here waits longer than it was told to, nor keeps the interpreter from ending. A call that was given up runs on,
and `Unanswered` counts it: where too many have not come back, no further one is begun.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast

from adaptive_memory_core.flow.drive import Flow, Outcome, ask

T = TypeVar("T")
P = ParamSpec("P")
MOST = 4  # calls of one channel that may be running on unheard; guess


class Unanswered:
    """The calls of one channel that were given up and have not come back yet."""

    def __init__(self) -> None:
        self._turn, self._calls = threading.Lock(), 0

    @property
    def too_many(self) -> bool:
        return self._calls >= MOST

    def give_up(self, call: Any) -> None:
        with self._turn:
            self._calls += 1
        call.add_done_callback(self._came_back)

    def _came_back(self, call: Any) -> None:
        with self._turn:
            self._calls -= 1
        if not call.cancelled():
            call.exception()  # nobody is waiting for it any more


@dataclass(frozen=True, slots=True)
class Question:
    """One call of code that is not ours: blocking, or a coroutine. `seconds` is how long to wait; 0 is for ever."""

    call: Callable[[], Any]
    seconds: float
    unanswered: Unanswered
    coroutine: bool = False


@dataclass(frozen=True, slots=True)
class Theirs:
    """A function that the caller gave us: a channel or a reranker."""

    function: Callable[..., Any]
    unanswered: Unanswered

    def asked(self, seconds: float, *arguments: Any) -> Question:
        function = self.function
        return Question(lambda: function(*arguments), seconds, self.unanswered, is_coroutine(function))


@dataclass(frozen=True, slots=True)
class Questions:
    """Several of them, asked at once: called by a driver that blocks, awaited by `on_loop` from an event loop."""

    questions: Sequence[Question]

    def __call__(self) -> list[Outcome[Any]]:
        began = time.monotonic()
        calls = [_begun(one) for one in self.questions]
        return [_waited(one, call, began) for one, call in zip(self.questions, calls, strict=True)]

    async def on_loop(self) -> list[Outcome[Any]]:
        return list(await asyncio.gather(*(_awaited(one) for one in self.questions)))


def ask_outside(questions: Sequence[Question]) -> Flow[list[Outcome[Any]]]:
    """Ask them all at once; evaluates to one outcome each, in order. Errors are answers, and so is a lack of one."""
    outcomes: list[Outcome[Any]] = (yield Questions(questions)) if questions else []
    return outcomes


def in_time(
    unanswered: Unanswered, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> Flow[T]:
    """Ask for something of our own that may hang as well; in a thread only where there is a limit, which costs time."""
    if not seconds:
        return (yield from ask(function, *args, **kwargs))
    (outcome,) = yield from ask_outside([Question(lambda: function(*args, **kwargs), seconds, unanswered)])
    if outcome.error is not None:
        raise outcome.error
    return cast("T", outcome.value)


def is_coroutine(function: Any) -> bool:
    """Whether calling it gives something to await.

    >>> async def later(): ...
    >>> is_coroutine(later), is_coroutine(len)
    (True, False)
    """
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _begun(one: Question) -> Future[Any]:
    """The call, under way off this thread."""
    if one.unanswered.too_many:
        return _refused()
    if one.coroutine:
        return asyncio.run_coroutine_threadsafe(_called(one.call), _background.loop())
    return _threaded(one.call, _settled)


def _waited(one: Question, call: Future[Any], began: float) -> Outcome[Any]:
    left = max(0.0, began + one.seconds - time.monotonic()) if one.seconds else None
    wait([call], left)
    if not call.done():
        one.unanswered.give_up(call)
        call.cancel()
        return Outcome(error=_too_late(one.seconds))
    try:
        return Outcome(call.result())
    except Exception as error:  # noqa: BLE001 - a driver's part: the flow decides what it means
        return Outcome(error=error)


async def _awaited(one: Question) -> Outcome[Any]:
    if one.unanswered.too_many:
        return Outcome(error=_refused().exception())  # type: ignore[arg-type] # made just there
    thread = None if one.coroutine else _threaded(one.call, lambda value: value)
    task = asyncio.ensure_future(_called(one.call) if thread is None else _completed(thread))
    try:
        await asyncio.wait({task}, timeout=one.seconds or None)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not task.done():
        one.unanswered.give_up(task if thread is None else thread)
        task.cancel()
        return Outcome(error=_too_late(one.seconds))
    if task.cancelled():
        return Outcome(error=RuntimeError("it was cancelled"))
    error = task.exception()
    if error is not None and not isinstance(error, Exception):
        raise error
    return Outcome(task.result()) if error is None else Outcome(error=error)


async def _called(call: Callable[[], Any]) -> Any:
    return await _value(call())


async def _completed(thread: Future[Any]) -> Any:
    return await _value(await asyncio.wrap_future(thread))


async def _value(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


def _settled(given: Any) -> Any:
    """What a call gave; where that is still to be awaited, what comes of it."""
    if inspect.isawaitable(given):
        return asyncio.run_coroutine_threadsafe(_value(given), _background.loop()).result()
    return given


def _threaded(call: Callable[[], T], then: Callable[[Any], Any]) -> Future[Any]:
    """The call in a thread of its own, which neither `close` nor the end of the interpreter waits for."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            future.set_result(then(context.run(call)))
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            future.set_exception(error)

    threading.Thread(target=work, name="adaptive-memory-outside", daemon=True).start()
    return future


def _refused() -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(TimeoutError(f"{MOST} earlier calls of it were given up and are still running"))
    return future


def _too_late(seconds: float) -> TimeoutError:
    return TimeoutError(f"no answer within {seconds:g} seconds")


class _Background:
    """An event loop in a thread of its own, for coroutines asked for by code that blocks. One for all calls, since
    their clients keep connections that belong to the loop they were made on."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._turn:
            if (
                self._loop is None or self._thread is None or not self._thread.is_alive()
            ):  # a fork leaves threads behind
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="adaptive-memory-loop", daemon=True)
                self._thread.start()
            return self._loop


_background = _Background()
