"""Operations of the store, in batches and together."""

from __future__ import annotations

import asyncio
import json
import math
import weakref
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, Result, SearchOp

from adaptive_memory_core import InvalidInputError
from adaptive_memory_core.error_messages import shown
from langchain_adaptive_memory.langgraph_store import rows
from langchain_adaptive_memory.langgraph_store.embedding import Embedding
from langchain_adaptive_memory.langgraph_store.rows import Write, check_names, clean, encoded, path_of

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
        """All as one; if that fails, each alone, so that one caller's mistake does not affect another."""
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


Place = tuple[str, str]


@dataclass
class Batch:
    """A checked batch. Of several writes to one key the last one counts."""

    ops: list[Op]
    writes: dict[Place, Write | None] = field(default_factory=dict)  # None: delete
    texts: dict[Place, list[str]] = field(default_factory=dict)  # of each item that is written

    @property
    def queries(self) -> list[str]:
        return [query for op in self.ops if isinstance(op, SearchOp) and (query := query_of(op))]

    @property
    def documents(self) -> list[str]:
        return [text for texts in self.texts.values() for text in texts]


def planned(ops: Iterable[Op], embedding: Embedding | None) -> Batch:
    """The batch that these operations make."""
    batch = Batch(list(ops))
    for op in batch.ops:
        if not isinstance(op, GetOp | SearchOp | PutOp | ListNamespacesOp):
            allowed = "GetOp, SearchOp, PutOp and ListNamespacesOp"
            raise ValueError(f"Unknown operation type: {type(op)}. Allowed are {allowed}.")  # noqa: TRY004 - as theirs
        check_names(op)
        if isinstance(op, PutOp):
            _plan_write(batch, op, embedding)
        elif not isinstance(op, GetOp):
            _check_page(op)
    return batch


def query_of(op: SearchOp) -> str | None:
    """The query, if any."""
    return clean(op.query) if op.query and op.query.strip() else None


def _plan_write(batch: Batch, op: PutOp, embedding: Embedding | None) -> None:
    place = (path_of(op.namespace), op.key)
    batch.writes.pop(place, None)
    batch.texts.pop(place, None)
    if op.value is None:
        batch.writes[place] = None
        return
    fields, value = _fields(op), encoded(op.value)
    texts = [] if embedding is None else embedding.texts(op.value, fields)
    batch.writes[place] = Write(*place, value, fields, _minutes(op), len(texts))
    batch.texts[place] = texts


def _fields(op: PutOp) -> str:
    if op.index is None or op.index is False:
        return json.dumps(op.index)
    if isinstance(op.index, str) or not all(isinstance(one, str) for one in op.index):
        raise InvalidInputError(f"index is {shown(op.index)}. Give None, False or a list of paths, e.g. ['text'].")
    return json.dumps(list(op.index))


def _minutes(op: PutOp) -> float | None:
    ttl = op.ttl
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not math.isfinite(ttl) or ttl < 0:
        raise InvalidInputError(f"ttl is {shown(ttl)}. Give minutes from 0, or None for no end.")
    return float(ttl)


def _check_page(op: SearchOp | ListNamespacesOp) -> None:
    for name in ("limit", "offset"):
        value = getattr(op, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InvalidInputError(f"{name} is {shown(value)}. Give a whole number from 0.")
    if isinstance(op, SearchOp):
        rows.check(op.filter)
