"""How is a memory opened, closed and divided by user? `AdaptiveMemory`, the front door over a Chroma collection."""

from __future__ import annotations

import asyncio
import atexit
import os
import time
import uuid
import weakref
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from typing_extensions import Self, Unpack

from adaptive_memory_core import arguments as check
from adaptive_memory_core import wiring
from adaptive_memory_core.arguments import user_scope
from adaptive_memory_core.errors import ClosedError, ScopeError
from adaptive_memory_core.flow.calls.foreign_calls import Theirs
from adaptive_memory_core.flow.calls.under_way import CLOSED
from adaptive_memory_core.flow.candidates.shared_scope import fallback_of
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from adaptive_memory_core.models.reranker import Reranker
from adaptive_memory_core.options import Options, checked
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Fields, Scope
from adaptive_memory_core.reports import CheckReport
from adaptive_memory_core.store import background, locations, process_lock
from adaptive_memory_core.store.chroma.repair import repair_index
from adaptive_memory_core.store.embedder_check import notes_on
from adaptive_memory_core.user_memory import UserMemory

if TYPE_CHECKING:
    from chromadb import Collection

_open: weakref.WeakSet[AdaptiveMemory] = weakref.WeakSet()


class AdaptiveMemory:
    """Memory over a Chroma collection that learns from being read.

    `collection` is any `chromadb.Collection`, with or without records of ours; `Options` says what else can be given,
    and `embedder`, `ledger` and `policy` are what most give.

    Close it, or use `with`. One that is dropped without is closed in the background, which writes back what is due.

    >>> import chromadb
    >>> letters = lambda texts: [[float(text.count(letter)) for letter in "aeiou"] for text in texts]
    >>> collection = chromadb.EphemeralClient().create_collection("doctest-front-door", embedding_function=None)
    >>> with AdaptiveMemory(collection, embedder=letters) as memory:
    ...     alice = memory.for_user("alice")
    ...     _ = alice.remember_many(["tea", "coffee"])
    ...     alice.recall("tea", k=1)[0].text
    'tea'
    """

    def __init__(self, collection: Collection, **options: Unpack[Options]) -> None:
        given = checked(options, usual_clock=time.time)
        self._pid = os.getpid()
        self.shared = check.shared(given["shared"])
        self._opened = wiring.opened(collection, given)
        weakref.finalize(self, self._opened.background.leave).atexit = False
        self.fields, self.keeping = self._opened.fields, self._opened.keeping
        _open.add(self)

    @classmethod
    def open(cls, path: str | Path, collection: str = "memories", **options: Unpack[Options]) -> Self:
        """A memory in a directory: embedded Chroma and the ledger in one locations.

        It takes the same options. Without an `embedder` it is the bundled one, which needs the extra `local`.
        """
        options["embedder"] = source = _embedder(options.get("embedder"))
        with process_lock.held(locations.checked(path)):
            client = locations.open_client(path)
            try:
                memory = cls(locations.open_collection(client, collection, notes_on(source)), **options)
            except BaseException:
                locations.close_client(client)
                raise
        memory._opened.handles.callback(locations.close_client, client)
        return memory

    @classmethod
    def repair(
        cls,
        path: str | Path,
        collection: str = "memories",
        *,
        embedder: Any = None,
        ledger: str | Path | None = None,
        fields: Fields | None = None,
        progress: Callable[[int, int], object] | None = None,
        anew: bool = False,
    ) -> CheckReport:
        """Mend a memory in a directory, one that cannot be opened as well; gives what was wrong. No read is lost.

        A damaged index is made anew from the collection's own records. Vectors that cannot be read any more are made
        again with `embedder` (omitted, the bundled one); `progress` is called with how many records are done, of how
        many. The old files are kept. With `anew` an index that is whole is made again too: until then Chroma's files
        keep the vectors of what was forgotten, and the old files do until you delete them. Then the memory is opened,
        and what `check(repair=True)` mends is mended.
        """
        beside = locations.checked(path) / locations.LEDGER_NAME if ledger is None else Path(ledger)
        made = partial(_embedder, embedder)
        found = repair_index(locations.checked(path), collection, made, beside, progress, anew=anew)
        with cls.open(path, collection, embedder=made(), ledger=ledger, fields=fields) as memory:
            return CheckReport((*found, *memory.check(repair=True).findings))

    def check(self, repair: bool = False) -> CheckReport:
        """Look at everything this memory stands on, and say what is wrong and what can be done; this reads every file.

        With `repair`, what can be mended while the memory is open is mended: records the index lacks, two records of
        one id, reads that a newer collection knows of.
        """
        self.ports()
        with self.call():
            return CheckReport(tuple(self._opened.whole(repair=repair)))

    def for_user(self, user: str, *, fallback: str | UserMemory | None = None, fallback_below: int = 1) -> UserMemory:
        """The memory of one user; every read and write goes through such a scope.

        `fallback` is what recalls of a user without a history fill up with: a user named in `shared` when this memory
        was made, or `for_everyone()`. It ends when the user has `fallback_below` records of their own.
        """
        scope = user_scope(user)
        if fallback is None:
            return UserMemory(self, scope)
        if isinstance(fallback, UserMemory) and fallback.memory is not self:
            raise ScopeError(f"The fallback {fallback!r} is of another memory. Give one of this memory's scopes.")
        behind = fallback.scope if isinstance(fallback, UserMemory) else user_scope(fallback)
        return UserMemory(self, scope, fallback_of(scope, behind, self.shared, fallback_below))

    def for_everyone(self) -> UserMemory:
        """The memory of the records that belong to no user; it never returns one that belongs to a user."""
        return UserMemory(self, Scope(None))

    def flush(self) -> None:
        """Write everything learned so far into the collection's metadata, before this returns."""
        ports = self.ports()
        with self.call():
            ports.write_back.flush()
            ports.write_back.tidy()

    async def aflush(self) -> None:
        """`flush`, async."""
        await asyncio.get_running_loop().run_in_executor(self.executor, self.flush)

    def close(self) -> None:
        """Flush and let go, once the calls under way have ended. What could not be written back waits in the ledger for
        the next time it is opened."""
        if self._pid == os.getpid():
            _open.discard(self)
            self._opened.close()

    async def aclose(self) -> None:
        """`close`, async: the event loop goes on meanwhile, and with it the calls that are awaited on it."""
        await asyncio.to_thread(self.close)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A memory cannot be pickled: it holds an open ledger and a lock. Open it in the process that uses it, e.g. "
            "AdaptiveMemory.open('./memory')."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def policy(self) -> Policy:
        """How recalls rank, unless a call brings its own policy; may be set while the memory is in use."""
        return self._opened.in_force.policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        self._opened.change_policy(policy)

    @property
    def regime(self) -> Regime:
        """The paces of this memory's policies so far."""
        return self._opened.in_force.regime

    @property
    def embedder_name(self) -> str:
        """What the vectors here are made with, as a collection remembers it."""
        return self._opened.embedder_name

    @property
    def closed(self) -> bool:
        """Whether it was closed, or belongs to another process."""
        return self._opened.closed or self._pid != os.getpid()

    @property
    def executor(self) -> Executor:
        """The threads that the async twins do their I/O in."""
        self.ports()
        return self._opened.executor

    def call(self) -> AbstractContextManager[None]:
        """A call from its begin to its end, for which `close` waits."""
        return self._opened.call()

    def waits(self) -> AbstractContextManager[None]:
        """The patience of a call that is awaited."""
        return self._opened.waits()

    def ports(self) -> Ports:
        """What the flows ask; refuses where this memory was closed or came over from another process."""
        if self._opened.closed:
            raise ClosedError(CLOSED)
        if self._pid != os.getpid():
            raise ClosedError(
                "This memory was opened in the parent process. Neither Chroma nor SQLite survives a fork: open it in "
                "the process that uses it; for several processes use a Chroma server."
            )
        return self._opened.ports

    def now(self) -> float:
        """The time, read once for each call of a verb."""
        return self._opened.in_force.now()

    def new_id(self) -> str:
        return str(uuid.uuid4())

    def reranker_of(self, given: Reranker | None) -> Theirs | None:
        """What a call brings, else this memory's."""
        return self._opened.reranker_of(given)


def _embedder(given: Any) -> Embedder:
    """What was given, else the bundled one."""
    if given is None:
        from adaptive_memory_core.models.local import LocalEmbedder

        given = LocalEmbedder()
    return as_embedder(given)


@atexit.register
def _close_all() -> None:
    """A normal end of the interpreter loses nothing."""
    for memory in list(_open):
        memory.close()
    background.join_all()
