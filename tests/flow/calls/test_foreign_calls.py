"""Is code that is not ours asked without waiting longer than it may, whoever drives, and without piling up?"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from adaptive_memory_core.flow.calls.foreign_calls import (
    MOST_UNANSWERED,
    Begun,
    ForeignCall,
    Outcome,
    Unanswered,
    UnansweredBy,
)
from adaptive_memory_core.flow.calls.workers import Workers, in_worker

SOON = 0.01


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def asked(*questions: ForeignCall) -> list[Outcome[Any]]:
    return [one.outcome() for one in [Begun(question) for question in questions]]


async def both(*questions: ForeignCall) -> list[list[Outcome[Any]]]:
    """What comes of it for a blocking caller, and for a task."""
    with Workers(1, nullcontext) as workers:
        return [asked(*questions), await in_worker(workers, lambda: asked(*questions))]


async def test_answers_and_errors_come_in_order_whatever_gives_them() -> None:
    async def later(value: int) -> int:
        await asyncio.sleep(0)
        return value

    def broken() -> None:
        raise ValueError("no")

    none = Unanswered()
    questions = [
        ForeignCall(lambda: 1, 0, none),
        ForeignCall(lambda: later(2), 60, none, coroutine=True),
        ForeignCall(lambda: later(3), 60, none),
        ForeignCall(broken, 0, none),
    ]
    for outcomes in await both(*questions):
        assert [one.value for one in outcomes] == [1, 2, 3, None]
        assert str(outcomes[3].error) == "no"


async def test_they_are_asked_at_once() -> None:
    meeting = threading.Barrier(2, timeout=60)
    for outcomes in await both(*[ForeignCall(meeting.wait, 0, Unanswered()) for _ in range(2)]):
        assert {one.value for one in outcomes} == {0, 1}


async def test_what_is_late_is_an_error_and_is_counted_until_it_comes_back(gate: threading.Event) -> None:
    calls = 0

    def hang() -> None:
        nonlocal calls
        calls += 1
        gate.wait(60)

    late = Unanswered()
    for _ in range(MOST_UNANSWERED):
        for (outcome,) in await both(ForeignCall(hang, SOON, late)):
            assert isinstance(outcome.error, TimeoutError)
    assert calls == MOST_UNANSWERED
    assert late.too_many
    assert "still running" in str(asked(ForeignCall(hang, SOON, late))[0].error)
    gate.set()
    while late.too_many:  # noqa: ASYNC110 - threads come back when they do
        await asyncio.sleep(0.001)
    assert asked(ForeignCall(lambda: "back", 60, late))[0].value == "back"


async def test_a_coroutine_that_is_late_is_cancelled() -> None:
    cancelled = threading.Semaphore(0)

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.release()

    for (outcome,) in await both(ForeignCall(hang, SOON, Unanswered(), coroutine=True)):
        assert isinstance(outcome.error, TimeoutError)
    assert all([await asyncio.to_thread(cancelled.acquire, timeout=60) for _ in range(2)])


async def test_a_coroutine_that_cancels_itself_does_not_cancel_the_recall() -> None:
    async def gone() -> None:
        raise asyncio.CancelledError

    for (outcome,) in await both(ForeignCall(gone, 60, Unanswered(), coroutine=True)):
        assert outcome.error is not None


async def test_a_recall_that_is_cancelled_leaves_no_call_uncounted(gate: threading.Event) -> None:
    begun, late = threading.Semaphore(0), Unanswered()

    def hang() -> None:
        begun.release()
        gate.wait(60)

    with Workers(1, nullcontext) as workers:
        recalls = [
            asyncio.create_task(in_worker(workers, lambda: asked(ForeignCall(hang, 0, late))))
            for _ in range(MOST_UNANSWERED)
        ]
        assert all([await asyncio.to_thread(begun.acquire, timeout=60) for _ in recalls])
        for recall in recalls:
            recall.cancel()
        await asyncio.wait(recalls)
    assert all(recall.cancelled() for recall in recalls)
    assert late.too_many


async def test_the_context_of_the_caller_is_there() -> None:
    who = contextvars.ContextVar("who", default="nobody")
    who.set("alice")
    for (outcome,) in await both(ForeignCall(who.get, 0, Unanswered())):
        assert outcome.value == "alice"


def test_no_question_is_no_call() -> None:
    assert asked() == []


@pytest.mark.parametrize("raised", [asyncio.CancelledError(), SystemExit(1)])
async def test_code_that_cancels_or_ends_only_itself_is_answered_with_an_error(raised: BaseException) -> None:
    def broken() -> None:
        raise raised

    async def later() -> None:
        raise raised

    none = Unanswered()
    for outcomes in await both(ForeignCall(broken, 0, none), ForeignCall(later, 60, none, coroutine=True)):
        assert all(isinstance(one.error, Exception) for one in outcomes)


def test_what_hangs_is_counted_for_each_function_and_not_for_what_a_call_makes_anew() -> None:
    class Model:
        def score(self) -> None: ...

    def made() -> object:
        return lambda: None

    counts, one, other = UnansweredBy(), Model(), Model()
    assert counts.of(one) is counts.of(one)
    assert counts.of(one) is not counts.of(other)
    assert counts.of(one.score) is counts.of(one.score)
    assert counts.of(one.score) is not counts.of(other.score)
    assert counts.of(made()) is counts.of(made())
