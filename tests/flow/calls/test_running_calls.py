"""Does `close` wait for calls, and an exchange of parts for all of them? Is what a `with` was given closed at its
end?"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.flow.calls.running_calls import CallGate, ClosedByWith, is_any_running


class Door(ClosedByWith):
    closed = 0

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 10


def test_a_body_that_fails_closes_it_and_keeps_its_error() -> None:
    door = Door()
    with pytest.raises(KeyError), door:
        raise KeyError("in the body")
    assert door.closed == 1


def test_async_with_awaits_its_own_closing() -> None:
    async def through() -> int:
        async with Door() as door:
            assert door.closed == 0
        return door.closed

    assert asyncio.run(through()) == 10


def in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


class OtherCall:
    """A call in another thread, which waits for foreign code where that is asked for."""

    def __init__(self, gate: CallGate, *, waits: bool = False) -> None:
        self.begun, self.let_go, self.error = threading.Event(), threading.Event(), list[BaseException]()
        self._gate, self._waits = gate, waits
        self.thread = in_thread(self._run)
        assert self.begun.wait(10)

    def _run(self) -> None:
        self._gate.begin(self)
        try:
            if self._waits:
                with self._gate.paused():
                    self._until_told()
            else:
                self._until_told()
        except ClosedError as error:
            self.error.append(error)
        finally:
            self._gate.over(self)

    def _until_told(self) -> None:
        self.begun.set()
        self.let_go.wait(10)

    def end(self) -> None:
        self.let_go.set()
        self.thread.join(10)


def test_closing_waits_for_calls_of_other_threads_but_for_those_that_wait_for_foreign_code() -> None:
    gate, closed = CallGate(), threading.Event()
    busy, hung = OtherCall(gate), OtherCall(gate, waits=True)
    own = object()
    gate.begin(own)

    def close() -> None:
        gate.end()
        closed.set()

    closing = in_thread(close)
    assert not closed.wait(0.05)
    gate.over(own)
    assert not closed.wait(0.05)
    busy.end()
    assert closed.wait(10)
    closing.join(10)
    with pytest.raises(ClosedError):
        gate.begin(object())
    hung.end()
    assert len(hung.error) == 1
    assert not is_any_running()


def test_parts_are_exchanged_while_no_other_thread_is_in_a_call_even_one_that_waits() -> None:
    gate, alone = CallGate(), threading.Event()
    hung, let_go = OtherCall(gate, waits=True), threading.Event()

    def exchange() -> None:
        own, within = object(), object()
        gate.begin(own)
        with gate.alone():
            gate.begin(within)  # a call within its own
            gate.over(within)
            alone.set()
            let_go.wait(10)
        gate.over(own)

    exchanging = in_thread(exchange)
    assert not alone.wait(0.05)
    hung.end()
    assert alone.wait(10)
    begun = threading.Event()

    def begin() -> None:
        gate.begin(begun)
        begun.set()
        gate.over(begun)

    late = in_thread(begin)
    assert not begun.wait(0.05)
    let_go.set()
    assert begun.wait(10)
    for one in (exchanging, late):
        one.join(10)
