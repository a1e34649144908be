"""Are the chores done, in turn, paced when they fail, and stopped? With chores that say what happens to them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.flow.calls.running_calls import is_any_running
from adaptive_memory_core.store import background as background_module
from adaptive_memory_core.store.background import Background, Going
from tests.conftest import running


class Bits:
    """A chore of so many bits, which may fail first."""

    def __init__(self, name: str, bits: int, log: list[str], *, failures: int = 0) -> None:
        self.name, self.bits, self.log, self.failures = name, bits, log, failures
        self.done = threading.Event()

    def wait(self) -> float | None:
        return 0.0 if self.bits else None

    def work(self, going: Going) -> None:
        assert going()
        self.log.append(self.name)
        if self.failures:
            self.failures -= 1
            raise StoreError("the collection is away")
        self.bits -= 1
        if not self.bits:
            self.done.set()


@pytest.fixture
def background() -> Iterator[Background]:
    made = Background()
    yield made
    made.stop()


def test_chores_take_turns_bit_by_bit(background: Background) -> None:
    log: list[str] = []
    one, other = Bits("one", 3, log), Bits("other", 2, log)
    background.start([one, other], lambda: None)
    assert one.done.wait(10)
    assert other.done.wait(10)
    assert log == ["one", "other", "one", "other", "one"]


def test_a_chore_that_fails_is_reported_and_tried_again_later_and_holds_up_no_other(background: Background) -> None:
    log: list[str] = []
    failing, other = Bits("failing", 1, log, failures=1), Bits("other", 3, log)
    background.start([failing, other], lambda: None)
    assert other.done.wait(10)
    stats = background.stats()
    assert (stats.last_failed, stats.last_error, stats.failures) == ("failing", "StoreError", {"failing": 1})
    assert failing.done.wait(10)
    assert log == ["failing", "other", "other", "other", "failing"]


def test_a_chore_that_got_something_to_do_wakes_the_thread(background: Background) -> None:
    one = Bits("one", 0, [])
    background.start([one], lambda: None)
    one.bits = 1
    background.wake()
    assert one.done.wait(10)


class Beside(Bits):
    """A chore that notes whether a call was under way when it began."""

    busy: bool | None = None

    def work(self, going: Going) -> None:
        self.busy = is_any_running()
        super().work(going)


def test_what_a_call_left_to_be_done_begins_when_the_call_is_over(
    background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_module, "MOST_LOOKS", 100_000)
    one = Beside("one", 0, [])
    background.start([one], lambda: None)
    with running():
        one.bits = 1
        background.wake()
        time.sleep(0.05)
    assert one.done.wait(10)
    assert one.busy is False


def test_a_call_without_end_holds_no_chore_up_for_long(background: Background) -> None:
    one = Beside("one", 0, [])
    background.start([one], lambda: None)
    with running():
        one.bits = 1
        background.wake()
        assert one.done.wait(10)
    assert one.busy


def test_it_says_what_it_is_at(background: Background) -> None:
    seen: list[str | None] = []

    class Looking(Bits):
        def work(self, going: Going) -> None:
            seen.append(background.stats().doing)
            super().work(going)

    one = Looking("looking", 1, [])
    background.start([one], lambda: None)
    assert one.done.wait(10)
    background.stop()
    assert (seen, background.stats().doing) == (["looking"], None)


def test_a_bit_that_is_long_is_told_to_end(background: Background) -> None:
    class Long(Bits):
        def work(self, going: Going) -> None:
            self.done.set()
            while going():
                time.sleep(0.001)
            self.log.append("ended")

    one = Long("long", 1, [])
    background.start([one], lambda: None)
    assert one.done.wait(10)
    background.stop()
    assert one.log == ["ended"]


def test_where_it_is_left_it_lets_go_by_itself() -> None:
    left = threading.Event()
    background = Background()
    background.start([], left.set)
    background.leave()
    assert left.wait(10)
    background.join()
