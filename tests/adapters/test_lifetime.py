"""A reader may be made for each request, in many threads: all share one memory, which is gone when they are."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core.errors import ClosedError
from tests.adapters.conftest import Adapter

THREADS, TIMES, REQUESTS = 6, 12, 12


@pytest.fixture
def folder(adapter: Adapter, tmp_path: Path) -> Any:
    """A store of two texts on disk."""
    client = chromadb.PersistentClient(str(tmp_path))
    collection = client.create_collection("notes", embedding_function=None)
    return adapter.store(collection, ["green tea", "black coffee"], client=client)


def threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name.startswith("adaptive-memory")}


def all_gone(before: set[threading.Thread]) -> bool:
    gc.collect()
    for one in threads() - before:
        one.join(60)
    return threads() <= before


def open_files() -> set[str]:
    """Ours; Chroma keeps as many of its own as it likes."""
    files = []
    for one in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # closed meanwhile
            files.append(os.readlink(f"/proc/self/fd/{one}"))
    return {one for one in files if "adaptive_memory" in one.rpartition("/")[2]}


def kind(adapter: Adapter, number: int) -> str:
    return adapter.readers[number % len(adapter.readers)]


def use(adapter: Adapter, reader: Any, number: int, user: str | None = None) -> None:
    if isinstance(reader, adapter.package.AdaptiveMemoryRetriever):
        assert asyncio.run(adapter.find(reader, "tea", awaited=number % 2))
    else:
        assert adapter.scope(reader, user).recall("tea", k=1)


def test_six_threads_open_read_and_close_without_an_error(adapter: Adapter, folder: Any) -> None:
    def open_and_close(_: int) -> None:
        for number in range(TIMES):
            user = "ana" if number % 3 == 2 else None
            with adapter.reader(kind(adapter, number), folder, user) as reader:
                if user:
                    adapter.scope(reader, user).remember("tea at four", id="note")
                use(adapter, reader, number, user)

    before = threads()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # "not everything could be written back"
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(open_and_close, range(THREADS)))
    assert all_gone(before)
    with adapter.over_store(folder) as reader:
        known = adapter.scope(reader)
        assert known.stats().recalls == THREADS * len([n for n in range(TIMES) if n % 3 < 2])
        assert [one.read.retrieval_count > 0 for one in known.records()] == [True, True]


def test_a_reader_for_each_request_leaves_no_thread_and_no_descriptor(adapter: Adapter, folder: Any) -> None:
    before, others = threads(), open_files()
    use(adapter, adapter.over_store(folder), 0)
    assert all_gone(before)
    assert open_files() <= others
    alive = [adapter.reader(kind(adapter, number), folder, "ana") for number in range(REQUESTS)]
    assert len({id(adapter.scope(one).memory) for one in alive}) == 1
    use(adapter, adapter.over_store(folder), 0)
    assert adapter.scope(alive[0]).stats().recalls == 2
    assert len(threads() - before) == 1
    assert open_files() - others
    del alive
    for number in range(REQUESTS):
        adapter.reader(kind(adapter, number), folder, "ana")
    assert all_gone(before)
    assert open_files() <= others


async def test_closing_one_of_two_closes_no_memory_and_closing_both_does(adapter: Adapter, folder: Any) -> None:
    one, other = adapter.over_store(folder), adapter.over_store(folder)
    assert adapter.scope(one).memory is adapter.scope(other).memory
    (found, *_) = await adapter.look(one, "tea")
    assert adapter.scope(other).get(adapter.id(found)).read.retrieval_count == 1
    for _ in range(2):
        one.close()
    assert await adapter.find(other, "tea")
    other.close()
    for awaited in (False, True):
        for closed in (one, other):
            with pytest.raises(ClosedError):
                await adapter.find(closed, "tea", awaited=awaited)


async def test_async_with(adapter: Adapter, folder: Any) -> None:
    for reader in adapter.readers:
        async with adapter.reader(reader, folder, "ana") as opened:
            ana = adapter.scope(opened, "ana")
            await ana.arecall("tea")
        with pytest.raises(ClosedError):
            await ana.arecall("tea")


@pytest.mark.parametrize(
    "wrong",
    [
        *({"k": -1}, {"filter": 3}, {"user_id": ""}, {"user_id": 5.5}, {"score": "x"}, {"over": "bob"}, {"bogus": 1}),
        *({"fallback": "bob"}, {"policy": 3}, {"keeping": 3}, {"shared": 3}, {"ledger": ""}),
        *({"user_key": 3}, {"search_type": "x"}),  # LangChain's
    ],
    ids=str,
)
def test_a_wrong_argument_leaves_nothing_beside_a_collection(
    adapter: Adapter, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    collection = chromadb.PersistentClient(tmp_path).create_collection("notes", embedding_function=None)
    before = sorted(tmp_path.iterdir())
    names = {"k": adapter.k, "filter": adapter.filter}
    given = {"ledger": tmp_path / "new" / "reads.sqlite3"} | {names.get(key, key): one for key, one in wrong.items()}
    for reader in adapter.readers:
        with pytest.raises((TypeError, ValueError)):
            adapter.over_collection(reader, collection, **given)
    assert sorted(tmp_path.iterdir()) == before
