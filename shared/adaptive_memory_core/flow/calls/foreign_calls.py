"""How is a caller's function called safely if it may hang? In threads that nobody joins and tasks that are cancelled.

Nothing here waits longer than it was told to, nor keeps the interpreter from ending. A call that was given up runs on,
and `Unanswered` counts it: where too many have not come back, no further one is begun.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, ParamSpec, TypeVar, cast

from adaptive_memory_core.flow.calls.drive import Flow, Outcome, ask
from adaptive_memory_core.flow.calls.threads import awaited, background, settled, threaded

T = TypeVar("T")
P = ParamSpec("P")
MOST_UNANSWERED = 4  # calls of one channel that may be running on unheard; guess
FUNCTIONS = 64  # whose unanswered calls are counted; guess


class Unanswered:
    """The calls of one channel that were given up and have not come back yet."""

    def __init__(self) -> None:
        self._turn, self._calls = threading.Lock(), 0

    @property
    def too_many(self) -> bool:
        return self._calls >= MOST_UNANSWERED

    def give_up(self, call: Any) -> None:
        with self._turn:
            self._calls += 1
        call.add_done_callback(self._came_back)

    def _came_back(self, call: Any) -> None:
        with self._turn:
            self._calls -= 1
        if not call.cancelled():
            call.exception()  # nobody is waiting for it any more


class UnansweredBy:
    """The same for functions that come with each call: what hangs is not held against another one.

    A function that is made anew for every call is known by its code, so that it cannot begin ever more threads."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._of: OrderedDict[Any, Unanswered] = OrderedDict()

    def of(self, given: Any) -> Unanswered:
        code = getattr(given, "__code__", None)
        key = (code, id(given) if code is None else id(getattr(given, "__self__", None)))
        with self._turn:
            found = self._of.setdefault(key, Unanswered())
            self._of.move_to_end(key)
            while len(self._of) > FUNCTIONS:
                self._of.popitem(last=False)
            return found


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


def together(flows: Sequence[Flow[T]]) -> Flow[list[T]]:
    """Several flows side by side: what they ask of foreign code is asked of all at once, everything else in turn.

    >>> from adaptive_memory_core.flow.calls.drive import run
    >>> def one(name: str) -> Flow[str]:
    ...     (outcome,) = yield from ask_foreign([Question(lambda: name.upper(), 0.0, Unanswered())])
    ...     return str(outcome.value)
    >>> run(together([one("a"), one("b")]))
    ['A', 'B']
    """
    if len(flows) == 1:
        return [(yield from flows[0])]
    results: dict[int, T] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(flows)))
    while answers:
        waiting: dict[int, Questions] = {}
        for number, answer in answers.items():
            questions, result = yield from _up_to_questions(flows[number], answer)
            if questions is None:
                results[number] = cast("T", result)
            else:
                waiting[number] = questions
        outcomes = yield from ask_foreign([one for questions in waiting.values() for one in questions.questions])
        left = iter(outcomes)
        answers = {number: list(islice(left, len(one.questions))) for number, one in waiting.items()}
    return [results[number] for number in range(len(flows))]


def _up_to_questions(flow: Flow[T], answer: Any) -> Flow[tuple[Questions | None, T | None]]:
    """Drive the flow up to where it asks foreign code, or to its end."""
    try:
        call = flow.send(answer)
        while not isinstance(call, Questions):
            try:
                answer = yield call
            except Exception as error:  # noqa: BLE001 - it goes back into the flow, which decides
                call = flow.throw(error)
            else:
                call = flow.send(answer)
    except StopIteration as done:
        return None, done.value
    return call, None


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
