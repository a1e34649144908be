"""The importer: the ledger comes to have what other programs write into the collection, and loses nothing by it."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy
from adaptive_memory_core.metadata_columns import as_float
from adaptive_memory_core.store.chroma.importer import AGAIN_SECONDS, FIRST_RECORDS, Importer
from tests import forked
from tests.chroma_server import ChromaServer
from tests.conftest import START, Open, word_vectors
from tests.store.chroma.conftest import LATE, collection_of, importer_of, in_ledger, rows

BEFORE = {"tea": "green tea", "wine": "red wine", "rain": "rain on monday"}
WRITES: dict[str, tuple[Callable[[Any], Any], dict[str, str]]] = {
    "add": (lambda theirs: theirs.add(**rows(snow="snow at night")), {**BEFORE, "snow": "snow at night"}),
    "upsert": (
        lambda theirs: theirs.upsert(**rows(tea="black tea", snow="snow")),
        {**BEFORE, "tea": "black tea", "snow": "snow"},
    ),
    "update": (lambda theirs: theirs.update(**rows(tea="black tea", new="not there")), {**BEFORE, "tea": "black tea"}),
    "delete by id": (lambda theirs: theirs.delete(ids=["tea", "rain"]), {"wine": "red wine"}),
    "delete by metadata": (lambda theirs: theirs.delete(where={"served": "hot"}), {"rain": "rain on monday"}),
    "delete by text": (
        lambda theirs: theirs.delete(where_document={"$contains": "rain"}),
        {"tea": "green tea", "wine": "red wine"},
    ),
    "delete by both": (
        lambda theirs: theirs.delete(ids=["tea", "rain"], where={"served": "hot"}),
        {"wine": "red wine", "rain": "rain on monday"},
    ),
}


def remember_all(memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember_many(
        [
            {"id": one, "text": text, **({"metadata": {"served": "hot"}} if one != "rain" else {})}
            for one, text in BEFORE.items()
        ]
    )


def as_it_is(path: Path) -> str:
    return str(path)


def relative(path: Path) -> str:
    return os.path.relpath(path)


def by_a_link(path: Path) -> str:
    link = path.parent / "link"
    link.symlink_to(path, target_is_directory=True)
    return str(link)


@pytest.mark.parametrize("spelled", [as_it_is, relative, by_a_link])
@pytest.mark.parametrize(("write", "after"), WRITES.values(), ids=WRITES.keys())
def test_what_another_client_of_this_process_wrote_is_imported_before_its_call_returns(
    open_memory: Open,
    tmp_path: Path,
    write: Callable[[Any], Any],
    after: dict[str, str],
    spelled: Callable[[Path], str],
) -> None:
    memory = open_memory(keeping=LATE)
    remember_all(memory)
    assert memory.ports().ledger.due_records.waiting() == len(BEFORE)  # it is exported before they write
    with chromadb.PersistentClient(spelled(tmp_path / "memory")) as client:  # type: ignore[attr-defined]
        write(client.get_collection("memories", embedding_function=None))
        assert in_ledger(memory) == after
    found = memory.for_user("alice").recall("tea", k=9, reinforce=False)
    assert {hit.id: hit.text for hit in found} == after


def test_their_call_follows_nothing_once_the_memory_is_closed(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory(keeping=LATE)
    remember_all(memory)
    memory.close()
    with chromadb.PersistentClient(str(tmp_path / "memory")) as client:  # type: ignore[attr-defined]
        client.get_collection("memories", embedding_function=None).delete(ids=["tea"])
    assert set(in_ledger(open_memory(keeping=LATE))) == {"wine", "rain"}


def test_their_call_while_the_memory_is_closing_is_no_matter_for_the_log(
    open_memory: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = open_memory(keeping=LATE)
    importer = importer_of(memory)
    memory.close()
    importer.is_over = False  # it is asked as the ledger is being closed
    with chromadb.PersistentClient(str(tmp_path / "memory")) as client:  # type: ignore[attr-defined]
        client.get_collection("memories", embedding_function=None).delete(ids=["tea"])
    assert caplog.messages == []


@pytest.mark.hard("server")
def test_what_an_async_client_wrote_is_imported_before_its_call_returns(
    chroma_server: ChromaServer, tmp_path: Path
) -> None:
    client = chromadb.HttpClient("127.0.0.1", chroma_server.port)

    async def written(name: str, write: Callable[[Any], Awaitable[Any]], memory: AdaptiveMemory) -> dict[str, Any]:
        theirs = await (await chromadb.AsyncHttpClient("127.0.0.1", chroma_server.port)).get_collection(
            name, embedding_function=None
        )
        await write(theirs)
        return in_ledger(memory)

    for number, (write, after) in enumerate(WRITES.values()):
        mine: Any = client.create_collection(f"shared-{number}", embedding_function=None)
        ledger = str(tmp_path / f"{number}.sqlite3")
        with AdaptiveMemory(mine, embedder=word_vectors, ledger=ledger, keeping=LATE) as memory:
            remember_all(memory)
            assert asyncio.run(written(mine.name, write, memory)) == after


LOOKS: dict[str, Callable[[Importer], object]] = {
    "what changed": lambda importer: importer.sync(everything=False),
    "everything": lambda importer: importer.sync(),
}


def test_our_own_writes_are_not_taken_for_others(unheard: AdaptiveMemory) -> None:
    """Times that Chroma rounds, vectors that it makes anew, and read states that were written back."""
    heard: list[Sequence[str]] = []
    importer_of(unheard).imported = heard.append
    alice = unheard.for_user("alice")
    rounded = [one for one in (START + n / 7 for n in range(1_000)) if as_float(one) != one][:50]
    given: list[dict[str, Any]] = [
        {"id": f"r{n}", "text": f"note {n} about topic{n % 5}", "created_at": one, "metadata": {"tags": ["a", "b"]}}
        for n, one in enumerate(rounded)
    ]
    alice.remember_many(given)
    for n in range(5):
        assert len(alice.recall(f"topic{n}", k=5)) == 5
    unheard.flush()
    importer_of(unheard).sync(everything=False)
    importer_of(unheard).sync()
    assert heard == []


@pytest.mark.hard("server")
@pytest.mark.usefixtures("others_unheard")
def test_on_a_server_everything_is_read_again_from_time_to_time(chroma_server: ChromaServer, tmp_path: Path) -> None:
    """A change in place, of a record that no recall returned."""
    client, ledger = chromadb.HttpClient("127.0.0.1", chroma_server.port), str(tmp_path / "ledger.sqlite3")
    mine: Any = client.create_collection("memories", embedding_function=None)
    with AdaptiveMemory(mine, embedder=word_vectors, ledger=ledger, keeping=LATE) as memory:
        remember_all(memory)
        memory.flush()
        memory.sync()
        mine.update(**rows(tea="black tea"))
        importer = importer_of(memory)
        importer.work(lambda: True)
        assert in_ledger(memory)["tea"] == "green tea"
        importer._all_at -= AGAIN_SECONDS
        importer.work(lambda: True)
        while importer._left is not None:
            importer.work(lambda: True)
        assert in_ledger(memory)["tea"] == "black tea"


def test_where_nothing_is_to_be_copied_nothing_is(open_memory: Open) -> None:
    uncopied = open_memory(keeping=Keeping(lag_seconds=3_600.0, copy_limit=0))
    collection = collection_of(uncopied)
    collection.add(**rows(**{f"m{one}": f"note {one}" for one in range(30)}))
    alice = uncopied.for_user("alice")
    uncopied.sync()
    importer_of(uncopied).sync(everything=False)
    assert not importer_of(uncopied).ready
    assert in_ledger(uncopied) == {}
    assert alice.recall("note 7", k=1, reinforce=False).ids == ("m7",)
    alice.forget("m7")
    assert alice.recall("note 7", k=1, reinforce=False).ids != ("m7",)
    assert collection.get(ids=["m7"])["ids"] == []


def test_a_large_collection_is_copied_beside_recalls(tmp_path: Path, open_memory: Open) -> None:
    texts = {f"m{one}": f"note {one}" for one in range(FIRST_RECORDS + 1)}
    with chromadb.PersistentClient(str(tmp_path / "memory")) as client:  # type: ignore[attr-defined]
        configuration: Any = {"hnsw": {"space": "cosine"}}
        theirs: Any = client.create_collection("memories", embedding_function=None, configuration=configuration)
        theirs.add(**rows(**texts))
    memory = open_memory()
    assert memory.for_user("alice").recall("note 7", k=1, reinforce=False).ids == ("m7",)
    memory.sync()
    assert importer_of(memory).ready
    assert in_ledger(memory) == texts


def test_a_look_for_what_changed_reads_nothing_else(unheard: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    importer, pages = importer_of(unheard), list[Sequence[str]]()
    read = importer._read

    def noted(page: Sequence[str]) -> Any:
        pages.append(page)
        return read(page)

    monkeypatch.setattr(importer, "_read", noted)
    importer.sync(everything=False)
    assert pages == []
    collection_of(unheard).update(ids=["tea"], metadatas=[{"n": 1}])
    importer.sync(everything=False)
    assert pages == [["tea"]]


def test_what_was_just_compared_is_not_looked_at_again_at_once(open_memory: Open) -> None:
    importer = importer_of(open_memory(keeping=LATE))
    assert importer.ready
    assert (importer.wait() or 0.0) > LATE.others_seen_seconds - 60.0
    importer._began = -math.inf
    assert importer.wait() == 0.0
    importer.sync(everything=False)
    assert (importer.wait() or 0.0) > LATE.others_seen_seconds - 60.0


def test_what_another_wrote_while_the_memory_was_closing_is_seen_when_it_is_opened_again(
    unheard: AdaptiveMemory, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection, importer = collection_of(unheard), importer_of(unheard)
    sync = importer.sync

    def then_written(**how: bool) -> None:
        collection.update(**rows(tea="black tea"))
        sync(**how)
        collection.update(**rows(tea="white tea"))

    monkeypatch.setattr(importer, "sync", then_written)
    unheard.close()
    again = open_memory(keeping=LATE)
    importer_of(again).sync(everything=False)
    assert in_ledger(again)["tea"] == "white tea"


ANOTHER_PROCESS = """
import chromadb, sys
theirs = chromadb.PersistentClient(sys.argv[1]).get_collection("memories", embedding_function=None)
vector = [float(one) for one in sys.argv[2].split()]
theirs.update(ids=["tea"], embeddings=[vector])
theirs.add(ids=["snow"], documents=["snow at night"], embeddings=[vector], metadatas=[{"user_id": "alice"}])
"""


@pytest.mark.parametrize("look", ["what changed", "everything"])
def test_vectors_of_another_process_are_imported_though_chroma_has_its_index_in_ram(
    unheard: AdaptiveMemory, tmp_path: Path, look: str
) -> None:
    """Chroma reads another process's vectors with its own next write only, and until then gives the old ones."""
    mirror, vector = unheard.ports().ledger.mirror, word_vectors(["snow at night"])[0]
    collection_of(unheard).get(include=["embeddings"])
    forked.said_by(ANOTHER_PROCESS, tmp_path / "memory", " ".join(map(str, vector)))
    LOOKS[look](importer_of(unheard))
    found = mirror.vectors(["tea", "snow"])
    assert found.keys() == {"tea", "snow"}
    for one in found.values():
        np.testing.assert_allclose(np.frombuffer(one, dtype="<f4"), vector, atol=1e-6)
    assert collection_of(unheard).count() == 3


def test_many_clients_at_once_are_all_followed(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory(keeping=LATE)
    remember_all(memory)

    def add(name: str) -> None:
        theirs = client.get_collection("memories", embedding_function=None)
        for number in range(10):
            theirs.upsert(**rows(**{f"{name}{number}": f"text {number}", "shared": f"of {name}"}))

    with chromadb.PersistentClient(str(tmp_path / "memory")) as client:  # type: ignore[attr-defined]
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(add, "abc"))
        found = client.get_collection("memories", embedding_function=None).get()
    assert in_ledger(memory) == dict(zip(found["ids"], found["documents"] or [], strict=True))
    assert len(found["ids"]) == len(BEFORE) + 31


@pytest.mark.parametrize("limit", [2, 3])
def test_a_collection_beyond_the_limit_is_not_copied(open_memory: Open, tmp_path: Path, limit: int) -> None:
    made: Any = chromadb.PersistentClient(str(tmp_path / "memory")).create_collection("memories")
    texts, owner = ["green tea", "black coffee", "red wine"], {"user_id": "alice"}
    made.add(ids=texts, documents=texts, metadatas=[owner] * 3, embeddings=word_vectors(texts))
    memory = open_memory(keeping=Keeping(copy_limit=limit))
    alice = memory.for_user("alice")
    found = alice.recall("black coffee", k=1)
    assert found.ids == ("black coffee",)
    assert any("words say nothing" in note for note in found.trace) == (limit == 2)
    alice.remember("white tea", id="ours")
    alice.forget("red wine")
    assert set(alice.recall("tea", k=9, policy=Policy(channels=("dense",))).ids) == {*texts[:2], "ours"}
    assert importer_of(memory).ready == (limit == 3)
    memory.flush()
    assert set(made.get(include=[])["ids"]) == {*texts[:2], "ours"}
