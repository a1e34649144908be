"""Notice other programs' use of a collection: in this process through Chroma's API, in other processes by file times.

Calls of other clients of this process, e.g. a vector store of LangChain or LlamaIndex, are intercepted (`listen`).
Pending records are exported before such a client reads or writes, and its writes are imported before its call returns.

Other processes are noticed only by the file's time and size. Opening the file in a process that has Chroma open would,
on closing, drop Chroma's locks. A time may be as coarse as a kernel tick, so a file that was just written gives no
answer yet. The numbers of Chroma's writes are therefore read by a separate process.

That reader closes the file before it prints. A pipe holds 64 KB, and emptying it needs the GIL, which Chroma's `add`
keeps while it waits for the file. A reader that printed more with the file open would wait forever.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial, wraps
from importlib import import_module
from inspect import iscoroutinefunction, signature, unwrap
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from adaptive_memory_core.errors import AdaptiveMemoryError, ClosedError
from adaptive_memory_core.store.chroma.chroma_database import DATABASE, IN_SQLITE

FILES = ("chroma.sqlite3", "chroma.sqlite3-wal")
JUST_NOW_NS = 50_000_000  # nanoseconds; several ticks of any kernel
FileStates = tuple[tuple[int, int, int] | None, ...]
T = TypeVar("T")
APIS = (  # embedded, and clients of a server
    ("chromadb.api.rust", "RustBindingsAPI"),
    ("chromadb.api.fastapi", "FastAPI"),
    ("chromadb.api.async_fastapi", "AsyncFastAPI"),
)
READS = ("_get", "_query", "_count")
WRITES = ("_add", "_update", "_upsert", "_delete")
DELETIONS = ("delete_collection", "reset")
_log = logging.getLogger(__name__)


class OthersListener(Protocol):
    """Receives what clients other than a memory do with a collection in this process, in the thread that does it."""

    def others_ask(self, stored_ids: Sequence[str] | None, *, writes: bool) -> None:
        """Another client is about to read or write these records; None if it gives no ids."""

    def others_wrote(self, stored_ids: Sequence[str], by: object) -> None:
        """Another client added, changed or deleted these records, through the Chroma API `by`."""

    def others_deleted(self) -> None:
        """Another client deleted a collection, or all of them."""


_listeners: dict[str, weakref.WeakSet[OthersListener]] = {}  # by the collection's id
_patching = threading.Lock()
_own = threading.local()


def listen(collection_id: str, listener: OthersListener) -> None:
    """Pass all such calls to the listener as long as it exists. Each client class of Chroma is patched once. A class or
    method that this version of Chroma lacks is skipped; its changes are found by comparing."""
    with _patching:
        for module, name in APIS:
            with suppress(ImportError, AttributeError):
                api = getattr(import_module(module), name)
                for call in (*READS, *WRITES, *DELETIONS):
                    if not hasattr(real := getattr(api, call), "heard"):
                        setattr(api, call, _deletion(real) if call in DELETIONS else _patched(real))
        _listeners.setdefault(collection_id, weakref.WeakSet()).add(listener)


def as_own_call(call: Callable[[], T]) -> T:
    """Make a call of a memory, which listeners are not answer about."""
    outer, _own.calls = getattr(_own, "calls", False), True
    try:
        return call()
    finally:
        _own.calls = outer


def _patched(real: Callable[..., Any]) -> Callable[..., Any]:
    names, writes = tuple(signature(real).parameters), real.__name__ in WRITES

    def heard(args: Any, named: Any) -> tuple[dict[str, Any], tuple[OthersListener, ...]]:
        given = {**dict(zip(names, args, strict=False)), **named}
        listeners = _listeners.get(str(given.get("collection_id")), ())
        return given, () if getattr(_own, "calls", False) else tuple(listeners)

    @wraps(real)
    def call(*args: Any, **named: Any) -> Any:
        given, listeners = heard(args, named)
        if not listeners:
            return real(*args, **named)
        _ask(listeners, given.get("ids"), writes=writes)
        if not writes:
            return real(*args, **named)
        look = _look(given)
        ids = list(given.get("ids") or ()) if look is None else as_own_call(look)["ids"]
        try:
            return real(*args, **named)
        finally:
            _tell(listeners, ids, given["self"])

    @wraps(real)
    async def call_later(*args: Any, **named: Any) -> Any:
        import asyncio

        given, listeners = heard(args, named)
        if not listeners:
            return await real(*args, **named)
        await asyncio.to_thread(_ask, listeners, given.get("ids"), writes=writes)
        if not writes:
            return await real(*args, **named)
        look = _look(given)
        ids = list(given.get("ids") or ()) if look is None else (await look())["ids"]
        try:
            return await real(*args, **named)
        finally:
            await asyncio.to_thread(_tell, listeners, ids, given["self"])

    patched: Any = call_later if iscoroutinefunction(unwrap(real)) else call
    patched.heard = True
    return cast("Callable[..., Any]", patched)


def _deletion(real: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(real)
    def call(*args: Any, **named: Any) -> Any:
        try:
            return real(*args, **named)
        finally:
            _tell_of_deletion()

    @wraps(real)
    async def call_later(*args: Any, **named: Any) -> Any:
        import asyncio

        try:
            return await real(*args, **named)
        finally:
            await asyncio.to_thread(_tell_of_deletion)

    patched: Any = call_later if iscoroutinefunction(unwrap(real)) else call
    patched.heard = True
    return cast("Callable[..., Any]", patched)


def _tell_of_deletion() -> None:
    for one in [one for listeners in list(_listeners.values()) for one in listeners]:
        with _not_theirs():
            one.others_deleted()


def _look(given: dict[str, Any]) -> Callable[[], Any] | None:
    """A query for the records that a deletion's filter will find; None if the deletion has no filter."""
    if not (given.get("where") or given.get("where_document")):
        return None
    keys = ("collection_id", "ids", "where", "where_document", "limit", "tenant", "database")
    return partial(given["self"]._get, **{key: given[key] for key in keys if key in given}, include=[])


def _ask(listeners: Sequence[OthersListener], ids: Sequence[str] | None, *, writes: bool) -> None:
    for one in listeners:
        with _not_theirs():
            one.others_ask(ids or None, writes=writes)


def _tell(listeners: Sequence[OthersListener], ids: Sequence[str], by: object) -> None:
    for one in listeners:
        with _not_theirs():
            one.others_wrote(ids, by)


@contextmanager
def _not_theirs() -> Generator[None, None, None]:
    """Log errors of this library, so that the other client's call continues; the background repeats the work."""
    try:
        yield
    except ClosedError:  # the next opening compares the records
        return
    except AdaptiveMemoryError as error:
        _log.warning("Another client's change was not imported at once: %s", error)


def file_states(files: Sequence[str]) -> FileStates | None:
    """Times, sizes and inode numbers of the files; None if the first is missing, or if one was just written."""
    seen: list[tuple[int, int, int] | None] = []
    for file in files:
        try:
            found = os.stat(file)
        except FileNotFoundError:
            seen.append(None)
        except OSError:
            return None
        else:
            seen.append((found.st_mtime_ns, found.st_size, found.st_ino))
    written_just_now = any(one is not None and time.time_ns() - one[0] < JUST_NOW_NS for one in seen)
    return None if seen[0] is None or written_just_now else tuple(seen)


PATIENCE_SECONDS = 20.0
_READ = """
import sqlite3, sys
place, collection, kind, since = sys.argv[1:]
sql = sqlite3.connect(place, uri=True, timeout=10)
((rows,),) = sql.execute("SELECT id FROM segments WHERE collection = ? AND type = ?", (collection, kind))
sql.execute("BEGIN")
last = sql.execute("SELECT seq_id FROM max_seq_id WHERE segment_id = ?", (rows,)).fetchone()
size = sql.execute("SELECT count(*) FROM embeddings WHERE segment_id = ?", (rows,)).fetchone()
written = "SELECT embedding_id FROM embeddings WHERE segment_id = ? AND seq_id > ?"
ids = [one for (one,) in sql.execute(written, (rows, int(since)))] if int(since) >= 0 else []
sql.close()
told = [0 if last is None else last[0], size[0], len(ids), *ids]
sys.stdout.buffer.write("\\0".join(map(str, told)).encode("utf-8", "surrogatepass"))
"""


class WrittenSince(NamedTuple):
    """The number of the collection's last write, how many records it holds, and which of them were written since."""

    last: int
    size: int
    ids: Sequence[str]


def written_since(directory: Path, collection_id: str, number: int) -> WrittenSince | None:
    """The writes after the given number; -1 asks for the last number alone. None if this is unknown: the file is in use
    or has another layout, or no process can be started."""
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed command
            reader_command(directory, collection_id, number),
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        last, size, count, *ids = answer.stdout.decode("utf-8", "surrogatepass").split("\0")
        found = WrittenSince(int(last), int(size), ids)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return found if len(ids) == int(count) else None  # a zero is part of an id


def reader_command(directory: Path, collection_id: str, number: int) -> list[str]:
    """The command of the process that reads the file."""
    place = f"{(directory / DATABASE).resolve().as_uri()}?mode=ro"
    return [sys.executable, "-I", "-S", "-c", _READ, place, collection_id, IN_SQLITE, str(number)]
