"""Is a torn, foreign or older file named, and does it cost no more than it holds?"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.errors import DamagedLedgerError, DamagedStoreError
from adaptive_memory_core.records import NEVER_READ, Scope, Seen
from adaptive_memory_core.store.ledger.ledger_statistics import LedgerComparison
from adaptive_memory_core.store.sqlite_files import commits_noted
from tests import forked
from tests.chroma_server import ChromaServer
from tests.conftest import word_vectors

EVERY_READ_COUNTS = Policy(refresh_floor_seconds=0.0)
LEDGER = "adaptive_memory.sqlite3"
RECALLS = 61
KILLED = f"""
import os, sys
from adaptive_memory_core import AdaptiveMemory, Policy
from tests.conftest import word_vectors
memory = AdaptiveMemory.open(sys.argv[1], embedder=word_vectors, policy=Policy(refresh_floor_seconds=0.0))
alice = memory.for_user("alice")
alice.remember_many([{{"id": f"m{{one}}", "text": f"note {{one}}"}} for one in range(10)])
for one in range({RECALLS}):
    alice.recall(f"note {{one % 10}}", k=2)
os._exit(0)
"""


def opened(path: Path) -> AdaptiveMemory:
    return AdaptiveMemory.open(path, embedder=word_vectors, policy=EVERY_READ_COUNTS)


def recalls_in(path: Path) -> int:
    with opened(path) as memory:
        return memory.for_user("alice").stats().recalls


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory whose process ended without a word, so that its ledger stands in the write-ahead log."""
    directory = tmp_path_factory.mktemp("killed")
    forked.said_by(KILLED, directory)
    return directory


@pytest.fixture(scope="module")
def closed(killed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("closed") / "memory"
    shutil.copytree(killed, directory)
    opened(directory).close()
    return directory


@pytest.fixture
def copied(closed: Path, tmp_path: Path) -> Path:
    shutil.copytree(closed, tmp_path / "memory")
    return tmp_path / "memory"


@pytest.fixture
def copied_log(killed: Path, tmp_path: Path) -> Path:
    shutil.copytree(killed, tmp_path / "memory")
    return tmp_path / "memory"


def flip(file: Path, seed: int) -> None:
    chance, content = random.Random(seed), bytearray(file.read_bytes())
    for _ in range(40):
        content[chance.randrange(100, len(content))] ^= 0xFF
    file.write_bytes(content)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.hard("random run")
def test_flipped_bytes_in_the_ledger_are_named_and_never_raise_anything_else(copied: Path, seed: int) -> None:
    flip(copied / LEDGER, seed)
    for _ in range(2):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # closing says that not all could be written back
                with opened(copied) as memory:
                    memory.for_user("alice").recall("note 1")
                    report = memory.check()
        except DamagedLedgerError as error:
            assert "aside" in str(error)  # noqa: PT017 - it may be named by the check instead
        else:
            assert report.ok or "ledger:" in str(report)  # letters of a text, or a page that is free


def test_a_text_that_cannot_be_read_is_found_by_a_check(copied: Path) -> None:
    with sqlite3.connect(copied / LEDGER) as sql:
        sql.execute("UPDATE recalls SET cue = CAST(x'ff6e6f7465' AS TEXT) WHERE step = 7")
        sql.execute("UPDATE records SET retrieval_count = -5 WHERE stored_id = 'm1'")
        sql.execute("UPDATE recalls SET candidates = CAST(x'0102ff' AS BLOB) WHERE step = 9")
    with opened(copied) as memory:
        report = memory.check()
        assert not report.ok
        assert "Could not decode" in str(report)
        assert "The log or the paces cannot be read" in str(report)
        assert "reads of 1 record" in str(report)
        with pytest.raises(DamagedLedgerError, match="a line of the log cannot be decoded"):
            memory.for_user("alice").recalls(limit=100)


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"hello", "not an SQLite file"), (os.urandom(5_000), "not an SQLite file"), (None, r"torn: 8192 bytes of \d+")],
)
def test_a_file_that_is_no_ledger_is_named(copied: Path, content: bytes | None, what: str) -> None:
    file = copied / LEDGER
    file.write_bytes(file.read_bytes()[:8192] if content is None else content)
    before = file.read_bytes()
    for _ in range(2):
        with pytest.raises(DamagedLedgerError, match=what):
            opened(copied)
    assert file.read_bytes() == before


def test_another_programs_database_is_not_written_into(copied: Path, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "others.sqlite3") as sql:
        sql.execute("CREATE TABLE invoices (number)")
    with pytest.raises(DamagedLedgerError, match=r"holds invoices\. Nothing was written"):
        AdaptiveMemory.open(copied, embedder=word_vectors, ledger=tmp_path / "others.sqlite3")
    with pytest.raises(DamagedLedgerError, match="another program's"):
        AdaptiveMemory.open(copied, embedder=word_vectors, ledger=copied / "chroma.sqlite3")


def test_reads_go_on_from_the_collection_where_a_damaged_ledger_is_put_aside(copied: Path) -> None:
    with opened(copied) as memory:
        before = memory.for_user("alice").get("m1").read.retrieval_count
    (copied / LEDGER).write_bytes(b"hello")
    (copied / LEDGER).rename(copied / "aside")
    with opened(copied) as memory:
        assert memory.for_user("alice").get("m1").read.retrieval_count == before > 0


def cut(share: float) -> Callable[[Path], None]:
    def tear(wal: Path) -> None:
        with wal.open("r+b") as content:
            content.truncate(int(wal.stat().st_size * share))

    return tear


def spoil(wal: Path) -> None:
    """Another byte in the middle of the page of a commit."""
    content = bytearray(wal.read_bytes())
    content[len(content) // 3 // 4_120 * 4_120 + 32 + 24 + 2_000] ^= 0xFF
    wal.write_bytes(content)


@pytest.mark.parametrize("tear", [cut(0.5), cut(0.0), cut(0.999), spoil, Path.unlink])
@pytest.mark.parametrize("index", [True, False])
def test_a_torn_write_ahead_log_is_told(copied_log: Path, tear: Callable[[Path], None], index: bool) -> None:
    wal, shared = (copied_log / f"{LEDGER}{ending}" for ending in ("-wal", "-shm"))
    tear(wal)
    left = wal.exists() and wal.stat().st_size > 0
    if not index:
        shared.unlink()
        if commits_noted(copied_log / LEDGER) is None or tear is not spoil:
            return  # a log that ends early looks like one that was never longer
    with pytest.warns(RuntimeWarning, match="write-ahead log of the ledger .* is torn"):
        assert recalls_in(copied_log) < RECALLS
    assert (copied_log / f"{LEDGER}-wal.torn").exists() == left


def test_a_log_that_a_kill_left_is_taken_in_without_a_word(copied_log: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recalls_in(copied_log) == RECALLS


def test_half_a_transaction_at_the_end_of_the_log_is_no_loss(copied_log: Path) -> None:
    wal = copied_log / f"{LEDGER}-wal"
    last = wal.read_bytes()[-4_120:]
    with wal.open("ab") as content:  # a page that no commit followed
        content.write(last[:4] + bytes(4) + last[8:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recalls_in(copied_log) == RECALLS


@pytest.mark.parametrize("length", [1_000, 40_960])
def test_chromas_torn_database_is_named_every_time(copied: Path, length: int) -> None:
    with (copied / "chroma.sqlite3").open("r+b") as content:
        content.truncate(length)
    for _ in range(2):
        with pytest.raises(DamagedStoreError, match=r"chroma\.sqlite3.* is torn: .* backup"):
            opened(copied)


def test_flipped_bytes_in_chromas_database_are_found(copied: Path) -> None:
    flip(copied / "chroma.sqlite3", 3)
    for _ in range(2):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                with opened(copied) as memory:
                    assert "database: chroma.sqlite3" in str(memory.check())
        except DamagedStoreError as error:
            assert "backup" in str(error)  # noqa: PT017 - it may be found by the check instead


def test_a_collection_that_is_gone_is_told(copied: Path) -> None:
    for file in [one for one in copied.iterdir() if not one.name.startswith("adaptive_memory")]:
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    with pytest.warns(RuntimeWarning, match="is new and empty, but the ledger has 10 records of one that is gone"):
        memory = opened(copied)
    with memory:
        report = memory.check()
        assert not report.ok
        assert "records: The collection 'memories' is new and empty" in str(report)


def test_what_was_opened_without_chromas_files_is_made_again_or_is_as_before_with_them(
    copied: Path, tmp_path: Path
) -> None:
    chromas = [one for one in copied.iterdir() if not one.name.startswith("adaptive_memory")]
    aside = tmp_path / "aside"
    aside.mkdir()
    for file in chromas:
        shutil.move(file, aside / file.name)
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match=r"AdaptiveMemory\.repair\(.*copy of 10 records"):
            memory = opened(copied)
        with memory:
            memory.for_user("alice").recall("anything", k=1)
            memory.flush()
            assert "AdaptiveMemory.repair(" in str(memory.check())
    made_again = tmp_path / "made again"
    shutil.copytree(copied, made_again)
    assert "copy: 10 records" in str(AdaptiveMemory.repair(made_again, embedder=word_vectors))
    for file in [one for one in copied.iterdir() if not one.name.startswith("adaptive_memory")]:
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    for file in aside.iterdir():
        shutil.move(file, copied / file.name)
    for place in (made_again, copied):
        with opened(place) as memory:
            assert memory.check().ok
            alice = memory.for_user("alice")
            assert alice.stats().records == 10
            assert len(alice.recalls(limit=100)) == RECALLS


def test_what_a_deleted_collection_left_goes_once_the_new_one_of_its_name_has_records(copied: Path) -> None:
    client: Any = chromadb.PersistentClient(str(copied))
    with client:
        client.delete_collection("memories")
    with pytest.warns(RuntimeWarning, match="copy of 10 records"):
        memory = opened(copied)
    with memory:
        memory.for_user("alice").remember("begun anew")
    with opened(copied) as memory:
        memory.flush()
        assert memory.ports().ledger.retention.collections() == {memory.ports().ledger.notes.uuid()}
        assert [one.text for one in memory.for_user("alice").records(current=True)] == ["begun anew"]


def test_a_first_load_that_was_killed_is_not_called_gone(tmp_path: Path) -> None:
    """What it had enrolled, and not yet written, was never there."""
    with AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors) as memory:
        memory.sync()
        fresh = {f"m{one}": Seen(NEVER_READ, "event") for one in range(9)}
        assert memory.ports().ledger.states.enrol(Scope("alice"), fresh, now=1.0) == [True] * 9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors) as memory:
            assert memory.check().ok


def test_records_that_others_deleted_all_are_told(copied: Path) -> None:
    client: Any = chromadb.PersistentClient(str(copied))
    with client:
        client.get_collection("memories", embedding_function=None).delete(ids=[f"m{one}" for one in range(10)])
    with pytest.warns(RuntimeWarning, match="is empty, but the ledger has 10 of its records"):
        opened(copied).close()


def test_what_another_machine_is_just_writing_is_not_called_gone(
    chroma_server: ChromaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first record goes to the ledger, then to the server: who opens in between sees an empty collection."""
    collection: Any = chromadb.HttpClient("127.0.0.1", chroma_server.port).create_collection(
        "memories", embedding_function=None
    )
    with AdaptiveMemory(collection, embedder=word_vectors, ledger=tmp_path / LEDGER) as memory:
        memory.for_user("alice").remember("a note", id="m0")
        memory.flush()
    first = collection.get(include=["embeddings", "documents", "metadatas"])
    collection.delete(ids=first["ids"])
    known = LedgerComparison.records_known

    def known_and_then_written(self: LedgerComparison, name: str) -> tuple[int, int]:
        found = known(self, name)
        collection.add(first["ids"], first["embeddings"], first["metadatas"], first["documents"])
        return found

    monkeypatch.setattr(LedgerComparison, "records_known", known_and_then_written)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with AdaptiveMemory(collection, embedder=word_vectors, ledger=tmp_path / LEDGER) as memory:
            assert memory.for_user("alice").get("m0").text == "a note"


def test_a_new_memory_and_one_in_use_say_nothing(copied: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with opened(tmp_path / "new") as memory:
            assert memory.check().ok
        with opened(copied) as memory:
            assert str(memory.check()) == "Nothing is wrong."


def test_an_older_ledger_undoes_no_read(copied: Path) -> None:
    backup = (copied / LEDGER).read_bytes()
    with opened(copied) as memory:
        alice = memory.for_user("alice")
        for _ in range(5):
            alice.recall("note 1", k=1)
        newer = {one: alice.get(one).read for one in ("m1", "m2")}
    (copied / LEDGER).write_bytes(backup)
    with pytest.warns(RuntimeWarning, match="is older than the collection, which shows later reads of 1 record"):
        memory = opened(copied)
    with memory:
        alice = memory.for_user("alice")
        alice.recall("note 1", k=1)
        assert alice.get("m1").read.retrieval_count == newer["m1"].retrieval_count + 1
        assert alice.get("m2").read == newer["m2"]
        memory.flush()
        assert memory.check().ok
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with opened(copied) as memory:
            assert memory.for_user("alice").get("m1").read.retrieval_count == newer["m1"].retrieval_count + 1


def test_an_older_ledger_is_found_by_a_check_as_well(copied: Path) -> None:
    with opened(copied) as memory:
        alice = memory.for_user("alice")
        alice.recall("note 1", k=1)
        memory.flush()
        count = alice.get("m1").read.retrieval_count
        ledger: Any = memory.ports().ledger
        with ledger.file.writing() as sql:
            sql.execute("UPDATE records SET last_read = last_read - 10, retrieval_count = 1")
        ledger._shared.cache.clear()
        assert "ledger: The ledger is older than the collection, which shows later reads of" in str(memory.check())
        report = memory.check(repair=True)
        assert (report.ok, len(report)) == (True, 1)
        assert alice.get("m1").read.retrieval_count == count
        assert memory.check().findings == ()
