"""How does a call that computes let the calls of other threads run? By real pauses, longer ones where it computes long.

Python lets one thread run at a time. Whoever waits for its turn waits for 5 ms, or until the one that runs gives it up
for longer than a waiting thread takes to wake; a recall gives it up a dozen times. So a call that computes pauses now
and then while others are under way, and one that takes more than a usual one waits for those, for most of the time.
Nothing that is computed depends on it, so pure code may call it between two pieces of work.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import ParamSpec, TypeVar

from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.taking_turns import Turns

T = TypeVar("T")
P = ParamSpec("P")
STRETCH_SECONDS = 0.001  # of processor time without a pause; measured: benchmarks/hostile_users.py
USUAL_SECONDS = 0.006  # of processor time that a call may take before it waits for those that took less; measured, too
PAUSE_SECONDS = 0.00005  # about the time that a thread takes to wake
WAIT_SECONDS, MOST_WAITS = 0.0005, 6  # so that a call that waits gets a quarter of the time at least
LONG = 1_000  # characters of a text that takes some work


class Call:
    """One call, or rendering, in one thread."""

    __slots__ = ("began", "in_turn", "is_long", "thread")

    def __init__(self, *, in_turn: bool = False) -> None:
        self.thread, self.began, self.is_long = threading.get_ident(), time.thread_time(), False
        self.in_turn = in_turn  # whether it computes only while it has the turn, as far as that can be waited for


class _OfThread(threading.local):
    call: Call | None = None
    paused = 0.0  # by the thread's processor time


_under_way: dict[Call, None] = {}
_own = _OfThread()
_turns = Turns()


@interruptible
def under_way() -> Generator[None, None, None]:
    """A call, or a rendering, from its begin to its end in this thread."""
    call, outer = Call(), _own.call
    try:
        begin(call)
        yield
    finally:
        try:
            end(call, outer)
        finally:
            end(call, outer)  # also where an interrupt strikes


def begin(call: Call) -> None:
    """This thread is in the call from now on."""
    _under_way[call] = None
    _own.call = call
    if call.in_turn:
        _turns.take(call)


def end(call: Call, outer: Call | None) -> None:
    """The call is over, and the thread in the outer one again, if there is one."""
    _own.call = outer
    _under_way.pop(call, None)
    _turns.give(call)


def let_go() -> None:
    """This call is about to wait: others may compute meanwhile, and beside it when it goes on."""
    call = _own.call
    if call is not None:
        _turns.give(call)


def aside(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What the function gives, which waits, or computes where Python lets others run: they take their turns meanwhile.

    >>> aside(len, "tea")
    3
    """
    call = _own.call
    if call is None or not _turns.has(call):
        return function(*args, **named)
    _turns.give(call)
    try:
        return function(*args, **named)
    finally:
        _turns.take(call, first=True)


def own_call() -> Call | None:
    """The call that this thread is in."""
    return _own.call


def is_under_way(call: object) -> bool:
    """Whether it has not ended yet, in whatever thread."""
    return call in _under_way


def is_anybody_busy() -> bool:
    """Whether a call is under way in any thread."""
    return bool(_under_way)


def let_others_run() -> None:
    """Pause, where a call of another thread is under way and this one has not paused for a while."""
    call = _own.call
    if len(_under_way) < (1 if call is None else 2):
        return
    now = time.thread_time()
    if call is not None and call.in_turn:
        _pass_on(call, now)
        return
    if now - _own.paused < STRETCH_SECONDS:
        return
    _own.paused = now
    if call is None or now - call.began < USUAL_SECONDS:
        time.sleep(PAUSE_SECONDS)
        return
    call.is_long = True
    for _ in range(MOST_WAITS):
        time.sleep(WAIT_SECONDS)
        if all(one.is_long or one.thread == call.thread for one in list(_under_way)):
            return


def _pass_on(call: Call, now: float) -> None:
    """A call that takes long lets all others that wait come first."""
    if now - call.began >= USUAL_SECONDS and now - _own.paused >= STRETCH_SECONDS and _turns.awaited:
        _own.paused = now
        _turns.give(call)
        _turns.take(call)


def in_pieces(text: str, pieces: Iterable[T]) -> Iterable[T]:
    """The pieces of the work on a text; on a long one, with a chance for others before each of them.

    >>> list(in_pieces("a b", ["a", "b"]))
    ['a', 'b']
    """
    return pieces if len(text) < LONG else _paced(pieces)


def _paced(pieces: Iterable[T]) -> Iterator[T]:
    for piece in pieces:
        let_others_run()
        yield piece


def _alone() -> None:
    """A fork leaves the other threads behind, with their calls and turns."""
    global _turns
    own, _turns = _own.call, Turns()
    _under_way.clear()
    if own is not None:
        _under_way[own] = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)
