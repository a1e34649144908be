"""Has one process at a time what it takes, and the next one what a dead one had?"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from adaptive_memory_core.store.postgres import leases
from adaptive_memory_core.store.postgres.leases import LeaseHolder
from adaptive_memory_core.store.postgres.pool import Pool
from tests.postgres_server import new_database


@pytest.fixture
def two() -> Iterator[tuple[LeaseHolder, LeaseHolder]]:
    address = new_database()
    ours, theirs = LeaseHolder(Pool(address)), LeaseHolder(Pool(address))
    yield ours, theirs
    for one in (ours, theirs):
        one.close()
        one.pool.close()


def test_one_has_it_at_a_time(two: tuple[LeaseHolder, LeaseHolder]) -> None:
    ours, theirs = (one.lease("projector") for one in two)
    assert (ours.take(), theirs.take()) == (True, False)
    assert two[1].lease("another").take()
    theirs.give_back()  # it has nothing to give back
    assert not theirs.take(0.05)
    ours.give_back()
    ours.give_back()
    assert theirs.take()


def test_what_a_dead_process_had_goes_to_the_next(
    two: tuple[LeaseHolder, LeaseHolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.3)
    ours, theirs = (one.lease("projector") for one in two)
    assert ours.take()
    two[0].drop(ours)  # nobody renews it any more
    assert not theirs.take()
    assert theirs.take(5.0)


def test_who_lives_keeps_it(two: tuple[LeaseHolder, LeaseHolder], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "LEASE_SECONDS", 1.0)
    monkeypatch.setattr(leases, "RENEWED_SECONDS", 0.1)
    ours, theirs = (one.lease("projector") for one in two)
    assert ours.take()
    until = time.monotonic() + 2.5
    while time.monotonic() < until:
        assert not theirs.take()
        time.sleep(0.05)
