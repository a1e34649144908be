"""Does a memory answer whose ledger or whole directory may not be written, or has no room to grow?"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, AdaptiveMemoryError, InvalidInputError, Keeping, Policy, UserMemory
from adaptive_memory_core.errors import LedgerError, StoreError
from tests import forked
from tests.store.reader import embed

TEXTS = [{"text": f"memory {number}", "id": f"m{number}"} for number in range(6)]
SCRIPT = """
import sys
from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.errors import LedgerError
from tests.store.reader import embed
import os, chromadb
client = chromadb.PersistentClient(sys.argv[1])
collection = client.get_collection("memories", embedding_function=None)
memory = AdaptiveMemory(collection, embedder=embed, ledger=sys.argv[2])
{then}
alice = memory.for_user("alice")
recall = alice.recall("memory 1", k=2)
print(recall.ids, recall.step, recall.trace)
try:
    alice.pin("m1")
except LedgerError as error:
    print("refused:", error)
memory.close()
"""


def test_a_ledger_that_may_not_be_written_still_answers_and_says_so(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger" / "ledger.sqlite3"
    with AdaptiveMemory.open(tmp_path / "memory", embedder=embed, ledger=ledger) as memory:
        memory.for_user("alice").remember_many(TEXTS)
        memory.for_user("alice").recall("memory 1", k=1)
    ledger.chmod(0o444)
    script = SCRIPT.format(then="")
    uri = f"file:{ledger}?mode=ro"
    said = forked.said_by(script, str(tmp_path / "memory"), uri)
    assert said.startswith("('m1', ")
    assert " None " in said
    assert "this recall was not counted: " in said
    assert "refused: The ledger" in said
    with sqlite3.connect(uri, uri=True) as check:
        assert check.execute("SELECT sum(steps) FROM users").fetchone() == (1,)


def test_what_others_wrote_is_found_over_a_ledger_that_may_not_be_written(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger" / "ledger.sqlite3"
    with AdaptiveMemory.open(tmp_path / "memory", embedder=embed, ledger=ledger) as memory:
        memory.for_user("alice").remember_many(TEXTS)
    adds = """
collection.add(ids=["new"], documents=["zebra 30"], embeddings=embed(["zebra 30"]), metadatas=[{"user_id": "alice"}])
print(memory.for_user("alice").recall("zebra 30", k=1).ids)
"""
    said = forked.said_by(SCRIPT.format(then=adds), str(tmp_path / "memory"), f"file:{ledger}?mode=ro")
    assert said.startswith("('new',)")


def test_a_full_disk_costs_the_count_but_not_the_answer(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path / "memory", embedder=embed, ledger=tmp_path / "ledger.sqlite3") as memory:
        memory.for_user("alice").remember_many(TEXTS)
    fill = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))  # from here on no file of this process can grow"
    )
    said = forked.said_by(SCRIPT.format(then=fill), str(tmp_path / "memory"), str(tmp_path / "ledger.sqlite3"))
    assert said.startswith("('m1', ")
    assert "this recall was not counted: " in said
    assert "refused: The ledger" in said
    with AdaptiveMemory.open(tmp_path / "memory", embedder=embed, ledger=tmp_path / "ledger.sqlite3") as memory:
        alice = memory.for_user("alice")
        assert alice.recall("memory 1", k=1).ids == ("m1",)
        assert alice.stats().recalls == 1


AS_ANOTHER_USER = """
import os, sys, warnings
from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.errors import LedgerError
from tests.store.reader import embed
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    memory = AdaptiveMemory.open(sys.argv[1], embedder=embed)
print([str(one.message).partition(": ")[0][-21:] for one in warned if one.category is RuntimeWarning])
alice = memory.for_user("alice")
recall = alice.recall("memory 1", k=2)
print(recall.ids, recall.step, [one.partition(": ")[0] for one in recall.trace], alice.get("m1").read.retrieval_count)
for write in (lambda: alice.remember("memory 9"), lambda: alice.pin("m1"), lambda: alice.forget("m1")):
    try:
        write()
    except LedgerError as error:
        print("open for reading only" in str(error))
memory.close()
"""
WRITES: list[Callable[[UserMemory], object]] = [
    lambda alice: alice.remember("memory 9"),
    lambda alice: alice.remember_many(["memory 9"]),
    lambda alice: alice.observe([{"text": "memory 9"}]),
    lambda alice: alice.feedback(alice.recall("memory 1"), helpful=["m1"]),
    lambda alice: alice.pin("m1"),
    lambda alice: alice.demote("m1"),
    lambda alice: alice.forget("m1"),
    lambda alice: alice.prune(unread_for=1e-9),
    lambda alice: alice.restore_state({**alice.export_state(), "balance": 1.0}),
]


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that other users of the machine may enter, with six records of Alice's, one of them read."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    with AdaptiveMemory.open(folder / "a memory, 100%", embedder=embed) as memory:
        memory.for_user("alice").remember_many(TEXTS)
        memory.for_user("alice").recall("memory 1", k=1)
    yield folder / "a memory, 100%"
    shutil.rmtree(folder, onerror=_allow)


def _allow(function: Callable[..., Any], path: str, _: object) -> None:
    Path(path).parent.chmod(0o755)
    function(path)


def _close_to_writers(place: Path) -> None:
    for one in (place, *place.rglob("*")):
        one.chmod(one.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


def _files(place: Path) -> dict[str, bytes]:
    """What is in the directory's files, but for the empty ones that SQLite makes next to a file that it reads."""
    files = [one for one in place.rglob("*") if one.is_file() and not one.name.endswith("-shm")]
    return {str(one): one.read_bytes() for one in files if one.stat().st_size or not one.name.endswith("-wal")}


def test_a_memory_in_a_directory_that_may_not_be_written_opens_for_reading_with_one_warning(place: Path) -> None:
    _close_to_writers(place)
    first, second, *writes = forked.said_by(AS_ANOTHER_USER, str(place)).splitlines()
    assert first == "['open for reading only']"
    assert second == "('m1', 'm0') None ['this recall was not counted'] 1"
    assert writes == ["True"] * 3


def test_what_a_process_left_in_the_log_of_writes_is_read_there_too(place: Path) -> None:
    copy = place.parent / "copy"
    with AdaptiveMemory.open(place, embedder=embed) as memory:
        memory.for_user("alice").recall("memory 1", k=1, now=memory.now() + 3_600)
        shutil.copytree(place, copy)  # as after a crash
    assert (copy / "adaptive_memory.sqlite3-wal").stat().st_size
    _close_to_writers(copy)
    second = forked.said_by(AS_ANOTHER_USER, str(copy)).splitlines()[1]
    assert second == "('m1', 'm0') None ['this recall was not counted'] 2"


def test_a_memory_that_is_opened_for_reading_changes_no_file(place: Path) -> None:
    before = _files(place)
    with AdaptiveMemory.open(place, embedder=embed, read_only=True) as memory:
        alice = memory.for_user("alice")
        recall = alice.recall("memory 1", k=2)
        assert (recall.ids, recall.step) == (("m1", "m0"), None)
        assert "this recall was not counted: " in recall.trace[-1]
        assert (alice.get("m1").read.retrieval_count, alice.stats().records, len(alice.recalls())) == (1, 6, 1)
        for write in WRITES:
            with pytest.raises(LedgerError, match="open for reading only"):
                write(alice)
        with pytest.raises(LedgerError, match="open for reading only"):
            memory.for_user("bob", policy=Policy(half_life_days=1))
        for look in (memory.check, lambda: memory.reembed(embed)):
            with pytest.raises(StoreError, match="open for reading only"):
                look()
        memory.flush()
    assert _files(place) == before


def test_a_reader_sees_what_a_writer_adds(place: Path) -> None:
    with (
        AdaptiveMemory.open(place, embedder=embed) as writer,
        AdaptiveMemory.open(place, embedder=embed, read_only=True) as reader,
    ):
        writer.for_user("alice").remember("memory 40", id="new")
        writer.for_user("alice").forget("m1")
        assert reader.for_user("alice").recall("memory 40", k=1).ids == ("new",)
        assert "m1" not in reader.for_user("alice").recall("memory 1", k=10).ids


def test_what_cannot_be_read_is_refused_and_nothing_is_made(place: Path) -> None:
    def refused(error: type[AdaptiveMemoryError], what: str, path: Path = place, **options: Any) -> None:
        with pytest.raises(error, match=what):
            AdaptiveMemory.open(path, embedder=embed, read_only=True, **options)

    refused(InvalidInputError, "There is no memory in", place / "none")
    refused(StoreError, "no whole copy", collection="another")
    refused(InvalidInputError, "Leave ledger out", ledger=place.parent / "elsewhere.sqlite3")
    with AdaptiveMemory.open(place.parent / "plain", embedder=embed, keeping=Keeping(copy_limit=0)) as memory:
        memory.for_user("alice").remember("memory 1")
    refused(StoreError, "no whole copy", place.parent / "plain")
    assert sorted(os.listdir(place.parent)) == [place.name, "plain"]
