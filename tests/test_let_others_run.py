"""Does a call that computes long let those of other threads run, and only them?"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adaptive_memory_core import let_others_run as module
from adaptive_memory_core.let_others_run import in_pieces, let_others_run, under_way


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long this thread has paused, each time. Others, which earlier tests may have left, sleep as ever."""
    found: list[float] = []
    sleep, own = time.sleep, threading.current_thread()

    def noted(seconds: float) -> None:
        (found.append if threading.current_thread() is own else sleep)(seconds)

    monkeypatch.setattr(time, "sleep", noted)
    return found


@contextmanager
def call_beside(*, computing_first: bool = False) -> Iterator[None]:
    """A call of another thread is under way; maybe one that has computed for long."""
    begun, over = threading.Event(), threading.Event()

    def call() -> None:
        with under_way():
            if computing_first:
                compute(2 * module.USUAL_SECONDS)
                let_others_run()
            begun.set()
            over.wait()

    thread = threading.Thread(target=call)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


def compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_whoever_is_alone_never_pauses(pauses: list[float]) -> None:
    with under_way():
        for _ in range(3):
            compute(2 * module.STRETCH_SECONDS)
            let_others_run()
    assert pauses == []


def test_beside_another_call_it_pauses_once_for_a_stretch_of_work(pauses: list[float]) -> None:
    with call_beside(), under_way():
        compute(2 * module.STRETCH_SECONDS)
        let_others_run()
        let_others_run()
    assert pauses == [module.PAUSE_SECONDS]


def test_a_long_call_waits_for_usual_ones_but_not_for_ever(pauses: list[float]) -> None:
    with call_beside(), under_way():
        compute(2 * module.USUAL_SECONDS)
        let_others_run()
    assert pauses == [module.WAIT_SECONDS] * module.MOST_WAITS


def test_two_long_calls_do_not_wait_for_each_other(pauses: list[float]) -> None:
    with under_way(), call_beside(computing_first=True):
        del pauses[:]
        compute(2 * module.USUAL_SECONDS)
        let_others_run()
    assert pauses == [module.WAIT_SECONDS]


def test_short_texts_are_done_at_once(pauses: list[float]) -> None:
    with call_beside(), under_way():
        compute(2 * module.STRETCH_SECONDS)
        assert list(in_pieces("short", "abc")) == ["a", "b", "c"]
        assert pauses == []
        assert list(in_pieces("long" * 1_000, "abc")) == ["a", "b", "c"]
    assert pauses
