"""Is what a `with` statement was given closed at its end, also where the body fails?"""

from __future__ import annotations

import asyncio

import pytest

from adaptive_memory_core.running_calls import ClosedByWith


class Door(ClosedByWith):
    closed = 0

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 10


def test_a_body_that_fails_closes_it_and_keeps_its_error() -> None:
    door = Door()
    with pytest.raises(KeyError), door:
        raise KeyError("in the body")
    assert door.closed == 1


def test_async_with_awaits_its_own_closing() -> None:
    async def through() -> int:
        async with Door() as door:
            assert door.closed == 0
        return door.closed

    assert asyncio.run(through()) == 10
