"""What is left where an interrupt struck? No lock, no open transaction, no index that says less than the collection."""

from __future__ import annotations

import ctypes
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from functools import partial
from types import FrameType
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, UserMemory, Weights
from adaptive_memory_core.flow.ports import Found
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.policy import Fusion
from adaptive_memory_core.store.words import up_to_date
from tests.conftest import Clock, Open, background_done

INTERRUPTS = 200
EVERY, LEAST_PLACES = 17, 40  # functions that begin, or are through in C, between two tries; tries
WORDS = Policy(channels=("dense", "lexical"))
ONLY_WORDS = WORDS.replace(weights=Weights(0, 0, 1), fusion=Fusion(dense=0), score_floor=0.01)


class Interrupt(BaseException):
    """What Ctrl-C is: no error that anybody handles."""


@pytest.fixture
def often() -> Iterator[None]:
    """Threads take turns after a few steps, so that an interrupt strikes anywhere."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


class Victim(threading.Thread):
    """A thread that does the same over and over, though it is interrupted. Every traceback is kept to the end."""

    def __init__(self, work: Callable[[], object], times: int) -> None:
        super().__init__(daemon=True)
        self.work, self.times = work, times
        self.kept: list[Interrupt] = []
        self.ready = -1  # after how many interrupts it is at work again
        self.failed: Exception | None = None

    def run(self) -> None:
        while len(self.kept) < self.times and self.failed is None:
            try:
                self.ready = len(self.kept)
                while self.ready < self.times:
                    self.work()
            except Interrupt as error:
                self.kept.append(error)
            except Exception as error:
                self.failed = error


def interrupted(work: Callable[[], object], times: int) -> list[Interrupt]:
    """Do this over and over in a thread that is interrupted so many times."""
    victim, chance, pause = Victim(work, times), random.Random(7), threading.Event()
    victim.start()
    while victim.is_alive():
        pause.wait(chance.uniform(0, 0.02))
        strike_until_felt(victim)
    if victim.failed is not None:
        raise victim.failed
    return victim.kept


def strike_until_felt(victim: Victim) -> None:
    """Once it is at work; again after a second, for what strikes in a `__del__` is lost. Who feels nothing for a minute
    hangs."""
    while victim.ready < len(victim.kept) and victim.is_alive():
        threading.Event().wait(0.0005)
    if not victim.is_alive():
        return
    seen, struck = len(victim.kept), time.monotonic()
    deadline = struck + 60
    strike(victim)
    while len(victim.kept) == seen and victim.is_alive():
        threading.Event().wait(0.0005)
        if time.monotonic() - struck > 1:
            assert time.monotonic() < deadline, f"a lock was left taken; it waits in:\n{where(victim)}"
            struck = time.monotonic()
            strike(victim)


def where(thread: threading.Thread) -> str:
    """Where a thread is."""
    frame = sys._current_frames().get(thread.ident or 0)
    return "nowhere: it has ended" if frame is None else "".join(traceback.format_stack(frame))


def strike(thread: threading.Thread) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Interrupt))


def in_another_thread(call: Callable[[], Any]) -> Any:
    """What it gives there, for whom a lock that was left taken is taken for ever."""
    given: list[Any] = []
    thread = threading.Thread(target=lambda: given.append(call()), daemon=True)
    thread.start()
    thread.join(30)
    assert given, f"it never came back: a lock was left taken, or it failed; it is in:\n{where(thread)}"
    return given[0]


@pytest.mark.slow
@pytest.mark.usefixtures("often")
def test_a_block_is_left_whenever_it_is_interrupted() -> None:
    lock = threading.RLock()

    @interruptible
    def taken() -> Generator[None, None, None]:
        with lock:
            yield

    def work() -> None:
        with taken():
            random.random()

    kept = interrupted(work, 3 * INTERRUPTS)
    assert len(kept) == 3 * INTERRUPTS
    assert in_another_thread(lambda: lock.acquire(blocking=False))


@pytest.mark.slow
@pytest.mark.usefixtures("often")
def test_interrupted_recalls_and_writes_leave_a_memory_that_works(open_memory: Open, clock: Clock) -> None:
    memory = open_memory(policy=WORDS, keeping=Keeping(lag_seconds=0.05))
    alice, number = memory.for_user("alice"), iter(range(1_000_000))
    alice.remember_many([{"id": f"start {n}", "text": f"note number {n}"} for n in range(20)])

    def work() -> None:
        one = next(number)
        clock.pass_seconds(100)
        alice.remember(f"zebra number {one}", id=f"zebra {one % 30}")
        answer = alice.recall(f"zebra number {one}")
        alice.feedback(answer, helpful=answer.ids[:1])
        alice.recall("note number 3", reinforce=False)
        if one % 7 == 0:
            alice.forget(f"zebra {one % 30}")

    interrupted(work, INTERRUPTS)
    assert in_another_thread(lambda: len(alice.recall("note number 3")))
    in_another_thread(memory.flush)
    in_another_thread(lambda: alice.remember("a last giraffe", id="giraffe"))
    answer = in_another_thread(lambda: alice.recall("giraffe", k=1))
    assert (answer.ids, answer.trace) == (("giraffe",), ())
    assert in_another_thread(lambda: not_found(memory)) == []


def test_two_calls_that_were_broken_off_do_not_hide_each_other_from_the_words(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(up_to_date, "COMPARED_SECONDS", 3_600.0)  # a swap is told by nothing but the numbers of records
    memory = open_memory(policy=ONLY_WORDS)
    alice = memory.for_user("alice")
    alice.remember_many([{"id": f"note {n}", "text": f"note number {n}"} for n in range(30)])
    alice.recall("note")
    background_done(memory)
    broken_off(memory, "remove", lambda: alice.forget("note 3"))
    broken_off(memory, "revise", lambda: alice.remember("a giraffe slept", id="note 4"))
    assert alice.recall("giraffe").ids == ("note 4",)


def test_a_new_record_whose_writing_was_broken_off_is_found_at_once(open_memory: Open) -> None:
    memory = open_memory(policy=WORDS)
    alice = memory.for_user("alice")
    alice.remember_many([{"id": f"note {n}", "text": f"note number {n}"} for n in range(30)])
    assert alice.recall("note").trace == ()
    broken_off(memory, "add", lambda: alice.remember("a giraffe slept", id="giraffe"))
    broken_off(memory, "add", lambda: alice.remember("a zebra ran", id="zebra"))
    answers = [in_another_thread(partial(alice.recall, cue, k=40)) for cue in ("giraffe slept", "zebra ran")]
    assert ["giraffe" in answers[0].ids, "zebra" in answers[1].ids] == [True, True]


def test_a_record_that_is_written_again_does_not_hide_one_whose_writing_was_broken_off(open_memory: Open) -> None:
    memory = open_memory(policy=WORDS)
    alice, records = memory.for_user("alice"), memory.ports().records
    alice.remember_many([{"id": f"note {n}", "text": f"note number {n}"} for n in range(30)])
    assert alice.recall("note").trace == ()
    found: list[tuple[str, ...]] = []

    def while_it_is_written(done: Callable[..., None]) -> Callable[..., None]:
        def then_looked_for(*given: object) -> None:
            done(*given)
            found.append(in_another_thread(lambda: alice.recall("giraffe slept", k=40, reinforce=False)).ids)

        return then_looked_for

    broken_off(memory, "add", lambda: alice.remember("a giraffe slept", id="giraffe"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "revise", while_it_is_written(records.revise))
        alice.remember("a giraffe slept", id="giraffe")
    assert ["giraffe" in ids for ids in found] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["remember", "write over", "forget", "feedback"])
def test_wherever_a_call_is_broken_off_what_is_there_is_found_at_once(open_memory: Open, verb: str) -> None:
    memory = open_memory(policy=WORDS, keeping=Keeping(lag_seconds=0.05))
    alice, records = memory.for_user("alice"), memory.ports().records
    alice.remember_many([{"id": f"note {n}", "text": f"note number {n}"} for n in range(200)])
    alice.recall("note")
    lost: list[tuple[str, str]] = []
    places = 0
    for step in range(1, 100_000, EVERY):
        number, places = step % 40, places + 1
        answer = alice.recall(f"note number {number}", reinforce=False)
        calls: dict[str, Callable[[], object]] = {
            "remember": partial(alice.remember, f"zebra number {step}", id=f"zebra {step}"),
            "write over": partial(alice.remember, f"okapi number {step}", id=f"note {number}"),
            "forget": partial(alice.forget, f"note {places}"),
            "feedback": partial(alice.feedback, answer, helpful=answer.ids[:1]),
        }
        where_broken = broken_off_at(step, calls[verb])
        if where_broken is None:
            break
        there = [one for page in records.pages(alice.scope) for one in page]
        touched = [one for one in there if one.stored_id in (f"zebra {step}", f"note {number}")]
        lost += [(where_broken, one.stored_id) for one in touched if not is_found(alice, one)]
    assert lost == []
    assert places > LEAST_PLACES


def is_found(alice: UserMemory, one: Found) -> bool:
    """By its own words."""
    return one.stored_id in alice.recall(str(one.text), k=90, reinforce=False).ids


def broken_off_at(step: int, call: Callable[[], object], code: str = "adaptive_memory_core") -> str | None:
    """Where the call was broken off, after so many functions of this code began or called one in C; None if it ended
    before. There Python itself looks for interrupts."""
    seen, place = 0, None

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal seen, place
        if event not in {"call", "c_return"} or code not in frame.f_code.co_filename:
            return
        seen += 1
        if seen == step:
            sys.setprofile(None)
            place = f"{event} {frame.f_code.co_name}"
            raise Interrupt

    sys.setprofile(count)
    try:
        call()
    except Interrupt:
        pass
    finally:
        sys.setprofile(None)
    return place


def broken_off(memory: AdaptiveMemory, name: str, call: Callable[[], object]) -> None:
    """Interrupted right after this has been done to the collection."""
    store = memory.ports().records
    done = getattr(store, name)

    def then_struck(*given: object) -> None:
        done(*given)
        raise Interrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, name, then_struck)
        with pytest.raises(Interrupt):
            call()


def not_found(memory: AdaptiveMemory) -> list[tuple[str, str, tuple[str, ...]]]:
    """The records that are there and that their own words do not find, with what those find."""
    alice, store = memory.for_user("alice"), memory.ports().records
    texts = {one.stored_id: str(one.text) for page in store.pages(alice.scope) for one in page}
    found = {one: alice.recall(text, k=60, reinforce=False) for one, text in texts.items()}
    return [(one, texts[one], answer.ids) for one, answer in found.items() if one not in answer.ids]
