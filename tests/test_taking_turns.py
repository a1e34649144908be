"""Do calls compute one at a time, in the order they came, and does nobody wait for one that has stopped?"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from adaptive_memory_core import let_others_run, taking_turns
from adaptive_memory_core.let_others_run import Call, aside, let_go
from adaptive_memory_core.taking_turns import LONGEST_SECONDS, Turns
from tests.conftest import Open, word_vectors

THREADS = 8
PATIENCE_SECONDS = 30.0  # that no test waits unless it fails
AT_LEISURE = 3600.0


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """Turns of this test alone, which nobody loses for having them for long."""
    monkeypatch.setattr(taking_turns, "LONGEST_SECONDS", AT_LEISURE)
    own = Turns()
    monkeypatch.setattr(let_others_run, "_turns", own)
    return own


def waiting(turns: Turns, work: Callable[[], object]) -> threading.Thread:
    """A thread at this work, which has come to wait for its turn."""
    before = len(turns._line)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    until(lambda: len(turns._line) > before)
    return thread


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def in_call(work: Callable[[], object]) -> Callable[[], None]:
    """Work as a call does it, in turn."""

    def done() -> None:
        call = Call(in_turn=True)
        let_others_run.begin(call)
        try:
            work()
        finally:
            let_others_run.end(call, None)

    return done


def test_calls_come_in_the_order_they_came_but_who_was_aside_comes_first(turns: Turns) -> None:
    now, one, two, back = calls = [Call() for _ in range(4)]
    order: list[Call] = []

    def take(call: Call, *, first: bool = False) -> None:
        turns.take(call, first=first)
        order.append(call)

    take(now)
    threads = [waiting(turns, partial(take, one)), waiting(turns, partial(take, two))]
    threads.append(waiting(turns, partial(take, back, first=True)))
    for count, call in enumerate((now, back, one), start=2):
        turns.give(call)
        until(lambda: len(order) == count)  # noqa: B023 - called at once
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert [calls.index(call) for call in order] == [0, 3, 1, 2]
    assert turns.has(two)
    assert not turns.awaited


def test_calls_compute_one_at_a_time(turns: Turns) -> None:
    inside, most = [0], [0]

    def compute() -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.002)  # so that others would come in between
        inside[0] -= 1

    threads = [threading.Thread(target=in_call(compute), daemon=True) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert (inside, most) == ([0], [1])
    assert not turns.awaited


def test_meanwhile_others_compute_but_then_nobody_does(turns: Turns) -> None:
    """While one waits, or runs what is not ours, the next one has its turn; afterwards it has its own again."""
    seen: list[object] = []

    def foreign() -> None:
        thread = threading.Thread(target=in_call(lambda: seen.append("another")), daemon=True)
        thread.start()
        thread.join(PATIENCE_SECONDS)

    def work() -> None:
        aside(foreign)
        seen.append(turns.has(let_others_run.own_call()))
        let_go()
        seen.append(turns.has(let_others_run.own_call()))
        foreign()

    in_call(work)()
    assert seen == ["another", True, False, "another"]


def test_nobody_waits_for_one_that_has_stopped() -> None:
    turns = Turns()
    turns.take("stopped")
    began = time.monotonic()
    turns.take("next")
    assert turns.has("next")
    assert time.monotonic() - began >= LONGEST_SECONDS / 2
    turns.give("stopped")
    assert turns.has("next")


def test_who_is_interrupted_waits_no_longer(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupt(BaseException):
        """What strikes."""

    struck: list[bool] = []

    def work() -> None:
        try:
            turns.take("struck")
        except Interrupt:
            struck.append(turns.has("struck"))

    monkeypatch.setattr(taking_turns, "LONGEST_SECONDS", 0.01)
    monkeypatch.setattr(turns, "_pass_over", lambda: None)
    turns.take("now")
    thread = waiting(turns, work)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Interrupt))
    thread.join(PATIENCE_SECONDS)
    assert struck == [False]
    assert not turns.awaited


def test_a_long_call_lets_those_who_wait_come_first(turns: Turns) -> None:
    order: list[str] = []

    def long() -> None:
        other = waiting(turns, in_call(lambda: order.append("usual")))
        until_used = time.thread_time() + 2 * let_others_run.USUAL_SECONDS
        while time.thread_time() < until_used:
            pass
        let_others_run.let_others_run()
        order.append("long")
        other.join(PATIENCE_SECONDS)

    in_call(long)()
    assert order == ["usual", "long"]


def test_a_usual_call_goes_on_to_its_end(turns: Turns) -> None:
    order: list[str] = []

    def usual() -> None:
        other.append(waiting(turns, in_call(lambda: order.append("later"))))
        let_others_run.let_others_run()
        order.append("first")

    other: list[threading.Thread] = []
    in_call(usual)()
    other[0].join(PATIENCE_SECONDS)
    assert order == ["first", "later"]


def test_recalls_wait_for_their_embedder_all_at_once(turns: Turns, open_memory: Open) -> None:
    """One that takes long, such as a model on a server, is asked by all of them beside each other."""
    assert turns is let_others_run._turns
    together = threading.Barrier(THREADS)

    def embed(texts: list[str]) -> object:
        if texts == ["tea"]:
            together.wait(PATIENCE_SECONDS)
        return word_vectors(texts)

    alice = open_memory(embedder=embed).for_user("alice")
    alice.remember("green tea", id="a")
    found: list[tuple[str, ...]] = []
    threads = [
        threading.Thread(target=lambda: found.append(alice.recall("tea").ids), daemon=True) for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert found == [("a",)] * THREADS


def test_a_quick_embedder_is_called_in_turn_and_a_slow_one_no_longer(turns: Turns, open_memory: Open) -> None:
    had: list[bool] = []
    slow = threading.Event()

    def embed(texts: list[str]) -> object:
        had.append(turns.has(let_others_run.own_call()))
        if slow.is_set():
            time.sleep(0.05)
        return word_vectors(texts)

    alice = open_memory(embedder=embed).for_user("alice")
    alice.remember("green tea", id="a")
    del had[:]
    until(lambda: alice.recall("tea").ids == ("a",) and had[-1])
    slow.set()
    alice.recall("tea")
    del had[:]
    alice.recall("tea")
    assert had == [False]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_leaves_the_turns_of_other_threads_behind() -> None:
    begun, over = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        over.wait(PATIENCE_SECONDS)

    thread = threading.Thread(target=in_call(hold), daemon=True)
    thread.start()
    begun.wait(PATIENCE_SECONDS)
    child = os.fork()
    if child == 0:
        free = not let_others_run.is_anybody_busy() and let_others_run._turns.has(None)
        os._exit(0 if free else 1)
    over.set()
    thread.join(PATIENCE_SECONDS)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_call_within_a_call_has_its_turn_already(open_memory: Open) -> None:
    opened = open_memory()._opened
    with opened.call():
        outer = let_others_run.own_call()
        with opened.call():
            inner = let_others_run.own_call()
    assert outer is not None
    assert inner is not None
    assert (outer.in_turn, inner.in_turn) == (True, False)
