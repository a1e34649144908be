"""Do the two drivers do the same? One flow, run blocking and async, with values, errors and cancellation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from adaptive_memory_core.flow.calls import drive
from adaptive_memory_core.flow.calls.drive import Flow, arun, ask, attempt, run


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as executor:
        yield executor


def failing() -> int:
    raise LookupError("not there")


def sums(count: int) -> Flow[int]:
    total = 0
    for number in range(count):
        total += yield from ask(lambda number=number: number)  # type: ignore[misc]
    return total


def careful() -> Flow[str]:
    outcome = yield from attempt(LookupError, failing)
    return f"{outcome.value} {outcome.error}"


def cleaning(done: list[str]) -> Flow[int]:
    try:
        return (yield from ask(failing))
    finally:
        done.append("cleaned")


def test_an_interrupt_between_two_steps_ends_the_flow_though_its_traceback_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def struck(flow: Flow[int]) -> None:
        next(flow)
        raise KeyboardInterrupt

    done: list[str] = []
    monkeypatch.setattr(drive, "_driven", struck)
    with pytest.raises(KeyboardInterrupt) as kept:
        run(cleaning(done))
    assert (done, kept.type) == (["cleaned"], KeyboardInterrupt)


async def test_both_drivers_give_the_same_value(threads: ThreadPoolExecutor) -> None:
    assert run(sums(5)) == await arun(sums(5), threads) == 10


async def test_an_attempt_turns_its_error_into_an_answer_in_both(threads: ThreadPoolExecutor) -> None:
    assert run(careful()) == await arun(careful(), threads) == "None not there"


async def test_an_error_goes_through_the_flow_to_the_caller_in_both(threads: ThreadPoolExecutor) -> None:
    done: list[str] = []
    with pytest.raises(LookupError, match="not there"):
        run(cleaning(done))
    with pytest.raises(LookupError, match="not there"):
        await arun(cleaning(done), threads)
    assert done == ["cleaned", "cleaned"]


async def test_an_attempt_lets_other_errors_pass(threads: ThreadPoolExecutor) -> None:
    def strict() -> Flow[object]:
        return (yield from attempt(ZeroDivisionError, failing))

    with pytest.raises(LookupError):
        run(strict())
    with pytest.raises(LookupError):
        await arun(strict(), threads)


def test_blocking_calls_stay_in_the_callers_thread() -> None:
    assert run(ask(threading.get_ident)) == threading.get_ident()


async def test_async_calls_leave_the_event_loops_thread(threads: ThreadPoolExecutor) -> None:
    assert await arun(ask(threading.get_ident), threads) != threading.get_ident()


async def test_all_calls_of_an_async_flow_are_made_in_one_go_by_one_thread(threads: ThreadPoolExecutor) -> None:
    def flow() -> Flow[set[int]]:
        seen = set()
        for _ in range(20):
            seen.add((yield from ask(threading.get_ident)))
        return seen

    assert [len(seen) for seen in await asyncio.gather(*(arun(flow(), threads) for _ in range(8)))] == [1] * 8


async def test_a_flow_that_is_cancelled_while_it_runs_makes_no_further_call(threads: ThreadPoolExecutor) -> None:
    """Here the flow itself is busy, not a call of its: its thread tells it, and the loop does not wait for that."""
    let_go, started, called = threading.Event(), threading.Event(), []
    ended = threading.Event()

    def flow() -> Flow[None]:
        try:
            yield from ask(lambda: called.append("before"))
            started.set()
            let_go.wait(10)
            yield from ask(lambda: called.append("after"))
        finally:
            ended.set()

    task = asyncio.ensure_future(arun(flow(), threads))
    await asyncio.to_thread(started.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    let_go.set()
    assert await asyncio.to_thread(ended.wait, 10)
    assert called == ["before"]


async def test_a_cancelled_flow_is_told_and_stops(threads: ThreadPoolExecutor) -> None:
    let_go, started, told = threading.Event(), threading.Event(), []

    def waiting() -> None:
        started.set()
        let_go.wait(10)

    def flow() -> Flow[None]:
        try:
            yield from ask(waiting)
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    task = asyncio.ensure_future(arun(flow(), threads))
    await asyncio.to_thread(started.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    let_go.set()
    assert told == ["cancelled"]
