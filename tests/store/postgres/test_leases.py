"""Has one process at a time what it takes, and the next one what a dead one had?"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from adaptive_memory_core.store.postgres import lost_connections
from adaptive_memory_core.store.postgres.lost_connections import LeaseHolder
from adaptive_memory_core.store.postgres.postgres_connections import Pool
from tests.postgres_server import new_database

pytestmark = pytest.mark.hard("PostgreSQL")


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
    ours, theirs = (one.lease("projector") for one in two)
    assert ours.take()
    two[0].drop(ours)  # nobody renews it any more
    assert not theirs.take()
    monkeypatch.setattr(lost_connections, "LEASE_SECONDS", 0.3)
    assert ours.take()  # for so long, from now on
    two[0].drop(ours)
    assert theirs.take(30.0)


def test_who_lives_keeps_it(two: tuple[LeaseHolder, LeaseHolder], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_connections, "LEASE_SECONDS", 3.0)
    monkeypatch.setattr(lost_connections, "RENEWED_SECONDS", 0.1)
    ours, theirs = (one.lease("projector") for one in two)
    assert ours.take()
    until = time.monotonic() + 4.0
    while time.monotonic() < until:
        assert not theirs.take()
        time.sleep(0.05)


def test_what_is_given_back_late_does_no_harm(two: tuple[LeaseHolder, LeaseHolder]) -> None:
    ours = two[0].lease("projector")
    assert ours.take()
    two[0].close()
    two[0].pool.close()
    ours.give_back()
    assert not two[1].lease("projector").take()  # it lapses


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_does_not_keep_what_its_parent_had(
    two: tuple[LeaseHolder, LeaseHolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_connections, "LEASE_SECONDS", 0.5)
    monkeypatch.setattr(lost_connections, "RENEWED_SECONDS", 0.05)
    ours, theirs = (one.lease("projector") for one in two)
    assert ours.take()
    child = os.fork()
    if child == 0:
        try:
            its = two[0].lease("another")
            its.take()
            time.sleep(30.0)  # it lives on, and renews what is its own
        finally:
            os._exit(1)
    try:
        two[0].close()  # the parent renews no more
        assert theirs.take(30.0)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
