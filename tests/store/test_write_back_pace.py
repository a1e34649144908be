"""Are the writes of the write-back small enough, spaced, and done in time?"""

from __future__ import annotations

import time
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping
from adaptive_memory_core.store.write_back import FEWEST, RESTS, WritePace
from tests.conftest import Open, running

RECORDS = 160


def test_a_write_that_took_too_long_is_followed_by_a_smaller_one_and_a_quick_one_by_a_larger() -> None:
    pace = WritePace(stall_ms=200.0, most=500)
    assert pace.records == 200
    pace.took(200, 0.600, late=False)
    assert pace.records == 100
    for _ in range(5):
        pace.took(pace.records, 1.0, late=False)
    assert pace.records == FEWEST
    for _ in range(40):
        pace.took(pace.records, 0.001, late=False)
    assert pace.records == 500


def test_it_rests_for_several_times_as_long_as_it_wrote_unless_it_is_late() -> None:
    pace, now = WritePace(stall_ms=20.0, most=500), time.monotonic()
    pace.took(20, 10.0, late=False)
    assert pace.not_before >= now + RESTS * 10.0
    now = time.monotonic()
    pace.took(pace.records, 10.0, late=True)
    assert now + 10.0 <= pace.not_before < now + RESTS * 10.0


def test_late_records_make_writes_larger_as_long_as_these_do_not_delay_recalls_too_much() -> None:
    pace = WritePace(stall_ms=20.0, most=500)
    pace.took(pace.records, 0.030, late=True)
    assert pace.records == 2 * FEWEST
    pace.took(pace.records, 0.030, late=True)
    assert pace.records == 4 * FEWEST
    pace.took(pace.records, 0.100, late=True)
    assert pace.records == 2 * FEWEST


def write_back_of(memory: AdaptiveMemory) -> Any:
    records: Any = memory.ports().records
    return records._access.open.write_back


@pytest.fixture
def read(open_memory: Open) -> AdaptiveMemory:
    """A memory with so many records that wait to be written back, and none that is written by itself."""
    memory = open_memory(keeping=Keeping(lag_seconds=3_600.0, stall_ms=20.0))
    alice = memory.for_user("alice")
    alice.remember_many([f"note {one} about tea" for one in range(RECORDS)])
    memory.flush()
    assert len(alice.recall("tea", k=RECORDS)) == RECORDS
    return memory


def test_a_pass_writes_everything_that_is_due_a_few_records_at_a_time(
    read: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[int] = []
    back = write_back_of(read)
    update = back._store.update_metadata

    def counted(changes: dict[str, Any]) -> None:
        writes.append(len(changes))
        update(changes)

    monkeypatch.setattr(back._store, "update_metadata", counted)
    ledger = read.ports().ledger
    back.work(lambda: True)
    while back._pass is not None:
        assert back.wait() <= 1.0
        back.work(lambda: True)
    assert ledger.outbox.waiting() == 0
    assert sum(writes) == RECORDS
    assert writes[0] == FEWEST
    assert len(writes) >= 3


def test_what_is_read_again_during_a_pass_waits_for_the_next_one(read: AdaptiveMemory) -> None:
    back = write_back_of(read)
    back.work(lambda: True)
    first = read.ports().records.collection.get(limit=1)["ids"][0]
    read.for_user("alice").pin(first)
    assert back._since is not None
    while back._pass is not None:
        back.work(lambda: True)
    assert [one.stored_id for one in read.ports().ledger.outbox.due(10)] == [first]


def test_where_too_many_records_wait_it_does_not_rest(open_memory: Open) -> None:
    memory = open_memory(keeping=Keeping(lag_seconds=3_600.0, queue_limit=3))
    alice = memory.for_user("alice")
    alice.remember_many([f"note {one} about tea" for one in range(6)])
    memory.flush()
    back = write_back_of(memory)
    with back.paused():  # nobody writes meanwhile
        alice.recall("tea", k=6)
        until = time.monotonic() + 10.0
        while back.wait() != 0.0:  # the background may be counting them right now
            assert time.monotonic() < until


def test_it_waits_for_a_moment_without_a_call_as_long_as_it_has_time(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(keeping=Keeping(lag_seconds=3_600.0))
    alice = memory.for_user("alice")
    alice.remember("we drink tea")
    memory.flush()
    alice.recall("tea")
    back = write_back_of(memory)
    monkeypatch.setattr(back, "work", lambda going: time.sleep(0.01))  # not begun beside this
    back._since = time.monotonic() - 2_000.0  # more than half of the lag ago: a pass is due
    assert back.wait() == 0.0
    with running():
        assert back.wait() > 0.0
        back._since -= 2_000.0  # late by now
        assert back.wait() == 0.0
