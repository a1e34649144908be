"""How are many concurrent puts written? Those that come while others are written are one batch."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Callable, Sequence

from langgraph.store.base import Op, Result

MOST_CALLS = 500  # that are written as one; guess
CarryOut = Callable[[Sequence[Op]], Awaitable[list[Result]]]


class Call:
    """The operations of one caller, and where the results go."""

    def __init__(self, ops: Sequence[Op], loop: asyncio.AbstractEventLoop) -> None:
        self.ops = ops
        self.results: asyncio.Future[list[Result]] = loop.create_future()


class WritesTogether:
    """Writes of each event loop, in the order they were asked for; each caller gets its own results or error."""

    def __init__(self) -> None:
        self._queues: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Queue] = weakref.WeakKeyDictionary()

    async def write(self, ops: Sequence[Op], carry_out: CarryOut) -> list[Result]:
        """Have them written with whatever else is waiting."""
        loop = asyncio.get_running_loop()
        call, queue = Call(ops, loop), self._queues.setdefault(loop, Queue())
        queue.calls.append(call)
        if queue.task is None or queue.task.done():
            queue.task = loop.create_task(self._empty(queue, carry_out))
        return await call.results

    async def _empty(self, queue: Queue, carry_out: CarryOut) -> None:
        while queue.calls:
            now, queue.calls = queue.calls[:MOST_CALLS], queue.calls[MOST_CALLS:]
            await self._write([one for one in now if not one.results.cancelled()], carry_out)

    async def _write(self, calls: Sequence[Call], carry_out: CarryOut) -> None:
        """All as one; where that fails, each alone, so that one caller's mistake is no other's."""
        try:
            results = await carry_out([op for one in calls for op in one.ops])
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the caller's
            if len(calls) > 1:
                for one in calls:
                    await self._write([one], carry_out)
            elif calls and not calls[0].results.done():
                calls[0].results.set_exception(error)
            return
        for one in calls:
            own, results = results[: len(one.ops)], results[len(one.ops) :]
            if not one.results.done():
                one.results.set_result(own)


class Queue:
    """What waits to be written in one event loop."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.task: asyncio.Task[None] | None = None
