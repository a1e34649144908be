"""How is a caller's function called safely if it may hang? In threads that nobody joins and tasks that are cancelled.

Nothing here waits longer than it was told to, nor keeps the interpreter from ending. A call that was given up runs on,
and `Unanswered` counts it: where too many have not come back, no further one is begun.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast

from adaptive_memory_core.flow.calls.drive import Flow, Outcome, ask
from adaptive_memory_core.flow.calls.threads import awaited, background, settled, threaded
from adaptive_memory_core.flow.calls.unanswered import MOST_UNANSWERED, Unanswered
from adaptive_memory_core.let_others_run import aside

T = TypeVar("T")
P = ParamSpec("P")


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
        return aside(lambda: [_waited(one, call, began) for one, call in zip(self.questions, calls, strict=True)])

    async def on_loop(self) -> list[Outcome[Any]]:
        return list(await asyncio.gather(*(_awaited(one) for one in self.questions)))


@dataclass(frozen=True, slots=True)
class Twins:
    """One call in two forms: made by a driver that blocks, awaited by one on an event loop."""

    blocking: Question
    later: Question

    def __call__(self) -> Any:
        return _value(Questions([self.blocking])()) if self.blocking.seconds else called_here(self.blocking.call)

    async def on_loop(self) -> Any:
        return _value(await Questions([self.later]).on_loop()) if self.later.seconds else await _called(self.later.call)


def called_here(call: Callable[[], Any]) -> Any:
    """The call in this thread; a cancellation that it raises is its own, as nothing was awaited."""
    try:
        return call()
    except (asyncio.CancelledError, SystemExit) as error:
        raise _as_answer(error) from error


def ask_foreign(questions: Sequence[Question]) -> Flow[list[Outcome[Any]]]:
    """Ask them all at once; evaluates to one outcome each, in order. Errors are answers, and so is a lack of one."""
    outcomes: list[Outcome[Any]] = (yield Questions(questions)) if questions else []
    return outcomes


def in_time(
    unanswered: Unanswered, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> Flow[T]:
    """Ask for something of our own that may hang as well; in a thread only where there is a limit, which costs time."""
    if not seconds:
        return (yield from ask(function, *args, **kwargs))
    return cast("T", _value((yield Questions([Question(lambda: function(*args, **kwargs), seconds, unanswered)]))))


def is_coroutine(function: Any) -> bool:
    """Whether calling it gives something to await.

    >>> async def later(): ...
    >>> is_coroutine(later), is_coroutine(len)
    (True, False)
    """
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _value(outcomes: Sequence[Outcome[Any]]) -> Any:
    """What came of the only one."""
    (outcome,) = outcomes
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _begun(one: Question) -> Future[Any]:
    """The call, under way off this thread."""
    if one.unanswered.too_many:
        return _refused()
    if one.coroutine:
        return asyncio.run_coroutine_threadsafe(_called(one.call), background.loop())
    return threaded(one.call, settled)


def _waited(one: Question, call: Future[Any], began: float) -> Outcome[Any]:
    left = max(0.0, began + one.seconds - time.monotonic()) if one.seconds else None
    wait([call], left)
    if not call.done():
        one.unanswered.give_up(call)
        call.cancel()
        return Outcome(error=_too_late(one.seconds))
    try:
        return Outcome(call.result())
    except BaseException as error:  # noqa: BLE001 - it was raised in there, and the flow decides what it means
        return Outcome(error=_as_answer(error))


async def _awaited(one: Question) -> Outcome[Any]:
    if one.unanswered.too_many:
        return Outcome(error=_refused().exception())  # type: ignore[arg-type] # made just there
    thread = None if one.coroutine else threaded(one.call, lambda value: value)
    task = asyncio.ensure_future(_called(one.call) if thread is None else _completed(thread))
    try:
        await asyncio.wait({task}, timeout=one.seconds or None)
    except asyncio.CancelledError:
        one.unanswered.give_up(task if thread is None else thread)
        task.cancel()
        raise
    if not task.done():
        one.unanswered.give_up(task if thread is None else thread)
        task.cancel()
        return Outcome(error=_too_late(one.seconds))
    if task.cancelled():
        return Outcome(error=RuntimeError("it was cancelled"))
    error = task.exception()
    return Outcome(task.result()) if error is None else Outcome(error=_as_answer(error))


async def _called(call: Callable[[], Any]) -> Any:
    with _kept_in():
        return await awaited(call())


async def _completed(thread: Future[Any]) -> Any:
    with _kept_in():
        return await awaited(await asyncio.wrap_future(thread))


@contextmanager
def _kept_in() -> Iterator[None]:
    """An event loop ends with a SystemExit of any task, so none gets there."""
    try:
        yield
    except SystemExit as error:
        raise _as_answer(error) from error


def _as_answer(error: BaseException) -> Exception:
    """What was raised in somebody else's code; nobody cancelled or ended the recall with it."""
    if isinstance(error, Exception):
        return error
    if isinstance(error, asyncio.CancelledError | concurrent.futures.CancelledError):
        return RuntimeError("it was cancelled")
    return RuntimeError(f"it raised {type(error).__name__}({error})")


def _refused() -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(TimeoutError(f"{MOST_UNANSWERED} earlier calls of it were given up and are still running"))
    return future


def _too_late(seconds: float) -> TimeoutError:
    return TimeoutError(f"no answer within {seconds:g} seconds")
