"""A LangGraph store that learns from being read: `BaseStore` over items in SQLite and a memory in Chroma."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.store.base import BaseStore, IndexConfig, Op, PutOp, Result, TTLConfig

from adaptive_memory_core import AdaptiveMemory, Fields, Keeping, Policy, UserMemory
from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.flow.calls.running_calls import ClosedByWith
from langchain_adaptive_memory.langgraph_store.batch import Batch, WritesTogether, planned
from langchain_adaptive_memory.langgraph_store.embedding import Embedding, Vectors
from langchain_adaptive_memory.langgraph_store.expiry import Sweeper, check_expiry
from langchain_adaptive_memory.langgraph_store.place import Place, Settings
from langchain_adaptive_memory.langgraph_store.shelf import Shelf

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

SWEEP_MINUTES = 5.0  # as LangGraph's own stores


class AdaptiveMemoryStore(ClosedByWith, BaseStore):
    """A persistent LangGraph store instead of `InMemoryStore`, whose search learns from what is read.

    Setup:
        `pip install "adaptive-memory-retrieval[langchain]"`

    Key init args:
        index: IndexConfig | None
            As for `InMemoryStore`: `dims`, `embed`, `fields`. Without it, search filters and does not rank.
        path: str | Path | None
            A directory that keeps everything. Without path and client the store lives in RAM.
        client: chromadb.ClientAPI | None
            Your own Chroma client, for the vectors. If it is a server's client, give `path` too, for items and reads.
        collection: str
            The name of the collection and of the store: several may share a directory.
        policy: Policy | None
            How search ranks.
        fields: Fields | None
            The keys under which an item's value has its importance, kind and times: `importance` (in [0, 1]), `kind`,
            `created_at`, `valid_from` and `valid_until` unless set. Values of another kind are left alone.
        ttl: TTLConfig | None
            `default_ttl`, `refresh_on_read`, `omit_expired` (True unless set), `sweep_interval_minutes`.

    Instantiate and use:
        >>> letters = lambda texts: [[float(text.count(letter)) for letter in "aeiou"] for text in texts]
        >>> store = AdaptiveMemoryStore({"dims": 5, "embed": letters, "fields": ["text"]})
        >>> store.put(("users", "ana"), "1", {"text": "tea, never coffee"})
        >>> store.put(("users", "ana"), "2", {"text": "lives in Brno"})
        >>> [item.key for item in store.search(("users", "ana"), query="tea", limit=1)]
        ['1']
        >>> store.close()

    A `get` counts as a read of its item, and a `search` with a query as reads of the items that it returns, unless
    `refresh_ttl=False` (or `ttl={"refresh_on_read": False}`), which changes nothing.
    """

    supports_ttl = True

    def __init__(
        self,
        index: IndexConfig | None = None,
        *,
        path: str | Path | None = None,
        client: ClientAPI | None = None,
        collection: str = "langgraph",
        policy: Policy | None = None,
        fields: Fields | None = None,
        ttl: TTLConfig | None = None,
        keeping: Keeping | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_expiry(ttl)
        self.index_config = index
        self.ttl_config = ttl
        self._embedding = None if index is None else Embedding(index)
        self._place = place = Place(path, client, self._embedding, Settings(collection, policy, keeping, clock))
        omit_expired = (ttl or {}).get("omit_expired", True)
        self._shelf = Shelf(
            place.items, place.scope, self._embedding, clock, omit_expired=omit_expired, fields=fields or Fields()
        )
        self._sweeper = Sweeper()
        self._together = WritesTogether()
        self._letting_go = weakref.finalize(self, place.close)

    @property
    def memory(self) -> AdaptiveMemory | None:
        """The memory behind the index: its policy, its log, `flush()`. None without an index."""
        return self._place.memory

    @property
    def scope(self) -> UserMemory | None:
        """The memory's records of this store and all its namespaces: the log of searches, and statistics. It is for
        administrators of the store; no user's memory, nor `store.memory.for_everyone()`, sees any of it. None without
        an index."""
        return self._place.scope

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out these operations. Reads see the state before the writes; of two writes to a key the last wins."""
        batch = self._planned(ops)
        for due in self._shelf.due():
            texts = [text for _, texts in due for text in texts]
            self._shelf.mend(due, partial(self._embed, texts, []))
        return self._shelf.carry_out(batch, self._embed(batch.documents, batch.queries))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch`, async: with the embeddings' own async methods, and all else off the event loop.

        Writes of many tasks at once are carried out as one batch.
        """
        given = list(ops)
        if given and all(isinstance(one, PutOp) for one in given):
            return await self._together.write(given, self._abatch)
        return await self._abatch(given)

    async def _abatch(self, ops: Iterable[Op]) -> list[Result]:
        batch = await asyncio.to_thread(self._planned, ops)
        for due in await asyncio.to_thread(self._shelf.due):
            embedded = await self._aattempted([text for _, texts in due for text in texts])
            await asyncio.to_thread(self._shelf.mend, due, embedded)
        vectors = await self._aembed(batch.documents, batch.queries)
        return await asyncio.to_thread(self._shelf.carry_out, batch, vectors)

    def sweep_ttl(self) -> int:
        """Delete what has expired; gives how many items. Until then it is merely not found."""
        self._check_open()
        return self._shelf.sweep()

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep in the background, at an interval in minutes, until `stop_ttl_sweeper` or `close`."""
        self._check_open()
        minutes = sweep_interval_minutes or (self.ttl_config or {}).get("sweep_interval_minutes") or SWEEP_MINUTES
        reference = weakref.ref(self._shelf)

        def sweep() -> int | None:
            shelf = reference()
            return None if shelf is None else shelf.sweep()

        return self._sweeper.start(sweep, minutes)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop sweeping; False if a sweep is still running after this many seconds."""
        return self._sweeper.stop(timeout)

    def close(self) -> None:
        """Write back what was learned and release the files. A client that was given stays open."""
        self._sweeper.stop()
        self._letting_go()

    async def aclose(self) -> None:
        """`close`, async."""
        await asyncio.to_thread(self.close)

    def _planned(self, ops: Iterable[Op]) -> Batch:
        self._check_open()
        return planned(ops, self._embedding)

    def _check_open(self) -> None:
        if not self._letting_go.alive:
            raise ClosedError("This store was closed. Open it again: AdaptiveMemoryStore(...).")
        self._place.check_process()

    def _embed(self, texts: list[str], queries: list[str]) -> Vectors:
        return {} if self._embedding is None else self._embedding.embed(texts, queries)

    async def _aembed(self, texts: list[str], queries: list[str]) -> Vectors:
        return {} if self._embedding is None else await self._embedding.aembed(texts, queries)

    async def _aattempted(self, texts: list[str]) -> Callable[[], Vectors]:
        """What gives the vectors, or the error in their place."""
        made: Future[Vectors] = Future()
        try:
            made.set_result(await self._aembed(texts, []))
        except Exception as error:  # noqa: BLE001 - an embedder may raise anything; `mend` tells
            made.set_exception(error)
        return made.result
