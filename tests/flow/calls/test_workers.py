"""Does a call that a task awaits run in one other thread, hear of its end, and let others work while it waits?"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

import pytest

from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.flow.calls.foreign_calls import Begun, ForeignCall, Outcome, Unanswered, answered
from adaptive_memory_core.flow.calls.running_calls import have_waited, left, one_call, still_awaited
from adaptive_memory_core.flow.calls.workers import Workers, in_worker

T = TypeVar("T")
asker: ContextVar[str] = ContextVar("asker", default="nobody")


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers(2, nullcontext) as made:
        yield made


async def test_a_call_leaves_the_event_loops_thread_and_stays_in_one(workers: Workers) -> None:
    def threads() -> set[int]:
        return {threading.get_ident() for _ in range(20)}

    assert [len(seen - {threading.get_ident()}) for seen in await asyncio.gather(*_all(workers, threads, 8))] == [1] * 8


async def test_errors_reach_whoever_awaits_the_call(workers: Workers) -> None:
    def failing(error: type[BaseException]) -> None:
        raise error("not there")

    with pytest.raises(LookupError, match="not there"):
        await in_worker(workers, lambda: failing(LookupError))
    with pytest.raises(RuntimeError, match="StopIteration"):  # no future can hold it
        await in_worker(workers, lambda: failing(StopIteration))


async def test_a_call_that_is_cancelled_while_it_runs_makes_no_further_call(workers: Workers) -> None:
    let_go, started, ended, called = threading.Event(), threading.Event(), threading.Event(), []

    def work() -> None:
        try:
            called.append("before")
            started.set()
            let_go.wait(10)
            still_awaited()
            called.append("after")
        finally:
            ended.set()

    task = asyncio.ensure_future(in_worker(workers, work))
    await asyncio.to_thread(started.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    let_go.set()
    assert await asyncio.to_thread(ended.wait, 10)
    assert called == ["before"]


async def test_a_call_that_is_cancelled_while_it_waits_ends_at_once_with_what_it_waits_for(workers: Workers) -> None:
    begun, cancelled, ended = asyncio.Event(), asyncio.Event(), threading.Event()

    async def hang() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    def work() -> None:
        try:
            answered(ForeignCall(hang, 0.0, Unanswered(), coroutine=True))
        finally:
            ended.set()

    task = asyncio.ensure_future(in_worker(workers, work))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(cancelled.wait(), 10)
    assert await asyncio.to_thread(ended.wait, 10)


async def test_a_call_that_has_not_begun_when_it_is_cancelled_never_begins(workers: Workers) -> None:
    let_go, called = threading.Event(), []
    busy = [asyncio.ensure_future(in_worker(workers, lambda: let_go.wait(10))) for _ in range(2)]
    await asyncio.sleep(0)
    late = asyncio.ensure_future(in_worker(workers, lambda: called.append("late")))
    await asyncio.sleep(0)
    late.cancel()
    await asyncio.wait([late])
    let_go.set()
    await asyncio.gather(*busy)
    assert await in_worker(workers, lambda: called) == []


@pytest.mark.parametrize("coroutine", [True, False])
async def test_calls_that_wait_for_foreign_code_do_not_hold_up_others(workers: Workers, *, coroutine: bool) -> None:
    waiting, gate, let_go = threading.Semaphore(0), asyncio.Event(), threading.Event()

    async def later() -> str:
        waiting.release()
        await gate.wait()
        return "answer"

    def slow() -> str:
        waiting.release()
        let_go.wait(60)
        return "answer"

    def ask() -> Outcome[str]:
        return Begun(ForeignCall(later if coroutine else slow, 0.0, Unanswered(), coroutine)).outcome()

    hung = [asyncio.ensure_future(one) for one in _all(workers, ask, 20)]
    assert all([await asyncio.to_thread(waiting.acquire, timeout=60) for _ in hung])
    assert await asyncio.wait_for(in_worker(workers, lambda: "others"), 60) == "others"
    gate.set()
    let_go.set()
    assert [one.value for one in await asyncio.gather(*hung)] == ["answer"] * 20
    assert workers._working <= 2


async def test_so_many_work_at_a_time_and_no_more(workers: Workers) -> None:
    at_work, most, turn = 0, 0, threading.Lock()

    async def nothing() -> None: ...

    def work() -> None:
        nonlocal at_work, most
        with turn:
            at_work += 1
            most = max(most, at_work)
        with turn:
            at_work -= 1
        answered(ForeignCall(nothing, 0.0, Unanswered(), coroutine=True))

    await asyncio.gather(*_all(workers, work, 50))
    assert most <= 2 + 50  # those that come back from waiting do not wait for a place
    deadline = time.monotonic() + 30.0
    while await in_worker(workers, lambda: workers._working) != 1:  # the last of them may not have left yet
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_what_waits_for_foreign_code_does_not_hold_up_the_end(workers: Workers) -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.ensure_future(
        in_worker(workers, lambda: answered(ForeignCall(hang, 0.0, Unanswered(), coroutine=True)))
    )
    await begun.wait()
    workers.shutdown(wait=True)  # on the loop that the coroutine would need
    with pytest.raises(ClosedError):
        await task


async def test_an_async_call_waits_no_longer_than_it_may_in_all_whatever_its_caller_has_waited() -> None:
    call = one_call(5.0)(left)
    with Workers(1, nullcontext) as workers, one_call(1.0):
        have_waited(1.0)
        assert await in_worker(workers, lambda: call(7.0)) == 5.0


async def test_the_context_of_the_asker_is_there_and_stays_his(workers: Workers) -> None:
    for name in ("ana", "bob"):
        asker.set(name)
        assert await in_worker(workers, asker.get) == name


def _all(workers: Workers, work: Callable[[], T], count: int) -> list[Coroutine[Any, Any, T]]:
    return [in_worker(workers, work) for _ in range(count)]
