"""What is left where an interrupt struck? No lock, no open transaction, no index that says less than the collection."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, UserMemory
from adaptive_memory_core.flow.ports.source import Found
from tests.conftest import Open

EVERY, LEAST_PLACES = 17, 40  # functions that begin, or are through in C, between two tries; tries
WORDS = Policy(channels=("dense", "lexical"))


class Interrupt(BaseException):
    """What Ctrl-C is: no error that anybody handles."""


def where(thread: threading.Thread) -> str:
    """Where a thread is."""
    frame = sys._current_frames().get(thread.ident or 0)
    return "nowhere: it has ended" if frame is None else "".join(traceback.format_stack(frame))


def in_another_thread(call: Callable[[], Any]) -> Any:
    """What it gives there, for whom a lock that was left taken is taken for ever."""
    given: list[Any] = []
    thread = threading.Thread(target=lambda: given.append(call()), daemon=True)
    thread.start()
    thread.join(30)
    assert given, f"it never came back: a lock was left taken, or it failed; it is in:\n{where(thread)}"
    return given[0]


@pytest.mark.parametrize("step", ["add", "revise", "remove"])
def test_a_call_that_is_broken_off_changes_nothing(open_memory: Open, step: str) -> None:
    memory = open_memory(policy=WORDS)
    alice = memory.for_user("alice")
    alice.remember_many([{"id": f"note {n}", "text": f"note number {n}"} for n in range(30)])
    assert alice.recall("note").trace == ()
    calls: dict[str, Callable[[], object]] = {
        "add": lambda: alice.remember("a giraffe slept", id="giraffe"),
        "revise": lambda: alice.remember("a giraffe slept", id="note 4"),
        "remove": lambda: alice.forget("note 3"),
    }
    for _ in range(2):
        broken_off(memory, step, calls[step])
    found = in_another_thread(partial(alice.recall, "giraffe slept", k=40)).ids
    assert sorted(found) == sorted(f"note {n}" for n in range(30))
    assert alice.get("note 4").text == "note number 4"
    calls[step]()
    assert ("note 3" in alice.recall("note number 3", k=40).ids) == (step != "remove")


@pytest.mark.hard("interrupt")
@pytest.mark.parametrize(
    "verb", ["remember", "write over", "forget", pytest.param("feedback", marks=pytest.mark.sample)]
)
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
    """Interrupted right after this has been done to the records."""
    store = memory.ports().records
    done = getattr(store, name)

    def then_struck(*given: object) -> None:
        done(*given)
        raise Interrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, name, then_struck)
        with pytest.raises(Interrupt):
            call()
