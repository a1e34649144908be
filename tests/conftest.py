"""What does every test stand on? A clock that moves when told, a cheap embedder, and memories over real Chroma."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import hashlib
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import chromadb
import numpy as np
import numpy.typing as npt
import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from chromadb import Collection
from chromadb.api import ClientAPI

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.flow.calls.running_calls import CallGate
from adaptive_memory_core.models.embedder import name_of_embedder
from adaptive_memory_core.wiring import parts
from tests import scratch_files, suites
from tests.chroma_server import ChromaServer
from tests.longest_first import longest_first

DAY = 86_400.0
START = 1_760_000_000.0  # October 2025
DIMENSIONS = 32
Vectors = npt.NDArray[np.float32]
Rows = dict[str, list[tuple[Any, ...]]]
Contents = dict[str, tuple[str | None, dict[str, Any] | None, tuple[float, ...]]]

scratch_files.into_memory()  # before any process of the run is started


def pytest_configure(config: pytest.Config) -> None:
    suites.load_profile(config.getoption("--hypothesis-profile"))


def pytest_sessionfinish(exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.TESTS_FAILED:
        scratch_files.keep()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every hard test has a known kind. With several workers, the longest files come first."""
    for item in items:
        list(suites.kinds(item))
    if hasattr(config, "workerinput"):
        items[:] = longest_first((item.path, item) for item in items)


def pytest_collectstart() -> None:
    gc.disable()  # what is imported and collected is no garbage


def pytest_collection_finish() -> None:
    """No test that looks for garbage need look through what was imported so far."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item) -> None:
    """A test that failed may hang while it is taken down: pytest stops watching it when it fails."""
    seconds = float(node.config.getini("faulthandler_timeout"))
    faulthandler.dump_traceback_later(seconds, exit=True, file=node.config.stash[fault_handler_stderr_fd_key])


class Clock:
    """POSIX seconds that pass only when a test says so."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += seconds

    def pass_days(self, days: float) -> None:
        self.now += days * DAY


@cache
def _word(word: str) -> Vectors:
    """A direction of its own for each word."""
    seed = int.from_bytes(hashlib.blake2b(word.encode(errors="replace"), digest_size=8).digest(), "big")
    vector: Vectors = np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)
    return vector


def word_vectors(texts: Sequence[str]) -> Vectors:
    """The unit vector of the sum of each text's words: texts that share words are near each other."""
    sums = np.stack([np.sum([_word(word) for word in (text.lower().split() or [""])[:50]], axis=0) for text in texts])
    unit: Vectors = (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)
    return unit


def delete(client: ClientAPI, collection: Collection) -> None:
    """Records first: `delete_collection` leaves lists in metadata to whoever comes next (chroma issue 7594)."""
    if ids := collection.get(include=[])["ids"]:
        for start in range(0, len(ids), 5_000):
            collection.delete(ids=ids[start : start + 5_000])
    client.delete_collection(collection.name)


class Open(Protocol):
    """Opens a memory; closed when the test ends, if not before."""

    def __call__(self, **arguments: Any) -> AdaptiveMemory: ...


@contextmanager
def running() -> Iterator[None]:
    """A call of some memory, for as long as this lasts."""
    gate, call = CallGate(), object()
    gate.begin(call)
    try:
        yield
    finally:
        gate.over(call)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def embed() -> Callable[[Sequence[str]], Vectors]:
    assert name_of_embedder(word_vectors) == "word_vectors"
    return word_vectors


@cache
def in_ram() -> ClientAPI:
    """The client of all collections in RAM: making one takes as long as a recall."""
    return chromadb.EphemeralClient()


@pytest.fixture
def new_collection() -> Iterator[Callable[..., Collection]]:
    """Makes collections in RAM, for cosine distance unless told otherwise."""
    client = in_ram()
    made: list[Collection] = []

    def new(space: str = "cosine", **arguments: Any) -> Collection:
        arguments.setdefault("embedding_function", None)
        configuration: Any = {"hnsw": {"space": space}}
        made.append(client.create_collection(f"test-{uuid.uuid4()}", configuration=configuration, **arguments))
        return made[-1]

    yield new
    for collection in made:
        delete(client, collection)


@pytest.fixture
def collection(new_collection: Callable[..., Collection]) -> Collection:
    return new_collection()


@pytest.fixture
def over(collection: Collection, clock: Clock) -> Iterator[Open]:
    """Opens a memory over the test's collection, with its embedder and clock unless told otherwise."""
    with ExitStack() as stack:

        def opener(**arguments: Any) -> AdaptiveMemory:
            given = {"embedder": word_vectors, "clock": clock, **arguments}
            return stack.enter_context(closing(AdaptiveMemory(collection, **given)))

        yield opener


@pytest.fixture
def others_unheard(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written into a collection is written as by another process: no memory hears of it."""
    monkeypatch.setattr(parts, "listen", lambda *_: None)


@pytest.fixture
def memory(over: Open) -> AdaptiveMemory:
    """A memory in RAM."""
    return over()


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    """A user of it."""
    return memory.for_user("alice")


@pytest.fixture
def chroma_server(tmp_path: Path) -> Iterator[ChromaServer]:
    """A real Chroma server of the test's own, on a port that is free."""
    with closing(ChromaServer(tmp_path / "server")) as server:
        server.start()
        yield server


@pytest.fixture
def open_memory(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Opens (again) a memory on disk, with the test's embedder and clock unless told otherwise."""
    with ExitStack() as stack:

        def opener(**arguments: Any) -> AdaptiveMemory:
            given = {"path": tmp_path / "memory", "embedder": word_vectors, "clock": clock, **arguments}
            return stack.enter_context(closing(AdaptiveMemory.open(**given)))

        yield opener


def ledger_rows(memory: AdaptiveMemory) -> Rows:
    """Every row of every table of a memory's ledger, but for copies of the collection, which are its words and the
    mirror, for what the background finds in those in its own time, and for how often the file was written."""
    ledger: Any = memory.ports().ledger
    with ledger.file.reading() as sql:
        tables = [row[0] for row in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        own = [
            table
            for table in tables
            if not table.startswith(("words", "mirror", "graph_links", "sqlite_", "file_version"))
        ]
        return {table: sorted(sql.execute(f'SELECT * FROM "{table}"'), key=repr) for table in own}


def contents(collection: Collection) -> Contents:
    """Everything a collection holds: id to text, metadata and vector."""
    found: Any = collection.get(include=["documents", "metadatas", "embeddings"])
    return {
        one: (text, metadata, tuple(float(x) for x in vector))
        for one, text, metadata, vector in zip(
            found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True
        )
    }


def background_done(memory: Any) -> None:
    """Returns once the memory's background thread has nothing left to do but the write-back."""
    ports, deadline = memory.ports(), time.monotonic() + 60
    while ports.background.stats().doing or any(one.wait() is not None for one in (ports.words, ports.floors)):
        assert time.monotonic() < deadline
        time.sleep(0.001)


class Held:
    """An embedder that can be held: it then answers only once the event loop has had a turn, and a blocked loop has
    none."""

    def __init__(self, embed: Callable[[Any], Any]) -> None:
        self.embed, self._entered, self._free = embed, threading.Event(), threading.Event()
        self._free.set()

    def __call__(self, texts: Any) -> Any:
        self._entered.set()
        if not self._free.wait(30):
            raise TimeoutError("the loop got no turn")
        return self.embed(texts)

    def hold(self) -> None:
        self._entered.clear()
        self._free.clear()

    async def released(self) -> None:
        """Once it is asked, let it answer."""
        await asyncio.to_thread(self._entered.wait, 30)
        self._free.set()
