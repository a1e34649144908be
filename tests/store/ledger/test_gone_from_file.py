"""Is what was deleted gone from every byte of our files? And what does Chroma keep, and until when?"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

import chromadb
import pytest

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store import sqlite_connection as log_of_writes
from adaptive_memory_core.store.locations import LEDGER_NAME
from tests.conftest import Clock, Open
from tests.store.ledger.reads import ALICE, NEW, read

OTHERS = 60
OF_CHROMA = {  # its database; and of its index those in which it makes room without clearing it
    "chroma.sqlite3", "chroma.sqlite3-wal", "chroma.sqlite3-journal", "data_level0.bin", "length.bin",
}  # fmt: skip


def files_with(directory: Path, *traces: str) -> set[str]:
    """The names of the files that have one of these in them."""
    return {
        file.name
        for file in directory.rglob("*")
        if file.is_file() and any(one.encode() in file.read_bytes() for one in traces)
    }


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name.startswith(LEDGER_NAME)}


@pytest.mark.hard("large")
def test_what_is_forgotten_is_in_no_byte_of_the_ledgers_files(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    alice = memory.for_user("alice")
    ids = alice.remember_many([{"text": f"note {number} on tea", "id": f"secret-{number}"} for number in range(OTHERS)])
    for number in range(OTHERS):
        found = alice.recall(f"note {number} tea")
        alice.feedback(found, helpful=[found[0].id])
    alice.prune(below=0.5)
    memory.flush()
    assert ours(files_with(tmp_path, "secret-"))
    copies = list(memory.ports().ledger.mirror.vectors(ids).values())
    assert len(copies) == OTHERS
    files = [file for file in tmp_path.rglob(f"{LEDGER_NAME}*") if file.is_file()]  # and not the folder of locks
    assert all(any(one in file.read_bytes() for file in files) for one in copies)
    for one in ids:
        alice.forget(one)
    memory.flush()
    assert ours(files_with(tmp_path, "secret-")) == set()
    left = [file.read_bytes() for file in tmp_path.rglob(f"{LEDGER_NAME}*") if file.is_file()]
    assert not any(one in data for one in copies for data in left)


def test_rows_that_were_moved_between_pages_leave_no_trace_either(tmp_path: Path) -> None:
    random, ledger = Random(5), SQLiteLedger(str(tmp_path / "ledger.sqlite3"))
    ledger.attach("uuid-of-a-collection", "memories")
    secret = [f"secret-{number}-{'x' * random.randrange(60)}" for number in range(250)]
    names = random.sample([*secret, *(f"other-{number}" for number in range(250))], 500)
    ledger.states.enrol(ALICE, dict.fromkeys(names, NEW), now=0.0)
    for number in range(150):
        read(ledger, ALICE, f"r{number}", *random.sample(names, 20), at=float(number))
    for one in random.sample(secret, len(secret)):
        ledger.removal.erase(ALICE, one, one, existed=True, now=200.0)
    ledger.retention.trim(now=300.0, log_days=30, log_recalls=100_000)
    assert files_with(tmp_path, "secret-") == set()
    assert ledger.faults() == []
    ledger.close()


def test_what_chroma_keeps_of_a_forgotten_record_is_in_its_own_files(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    alice = memory.for_user("alice")
    alice.remember("the password is swordfish", id="secret")
    memory.flush()
    receipt = alice.forget("secret")
    memory.flush()
    assert files_with(tmp_path, "swordfish") <= OF_CHROMA
    assert "Chroma keeps the text" in receipt.note


def test_cues_beyond_the_retention_are_in_no_byte_of_the_ledgers_files(
    open_memory: Open, tmp_path: Path, clock: Clock
) -> None:
    memory = open_memory()
    alice = memory.for_user("alice")
    alice.remember_many([f"note {number}" for number in range(20)])
    for number in range(OTHERS):
        alice.recall(f"question-{number} of the day", policy=memory.policy.replace(half_life_days=20.0 + number))
    memory.flush()
    assert ours(files_with(tmp_path, "question-"))
    clock.pass_days(31)
    memory.flush()
    clock.pass_days(0.5)
    memory.flush()
    assert alice.recalls() == []
    assert ours(files_with(tmp_path, "question-")) == set()
    with sqlite3.connect(tmp_path / "memory" / LEDGER_NAME) as sql:
        assert sql.execute("SELECT count(*) FROM policies").fetchone() == (0,)
        assert sql.execute("SELECT count(*) FROM logged_ids").fetchone() == (0,)


def test_rows_of_a_collection_that_was_deleted_go(open_memory: Open, tmp_path: Path) -> None:
    path = tmp_path / "memory"
    for name in ("doomed", "kept"):
        memory = open_memory(collection=name)
        scope = memory.for_user(f"{name}-user")
        scope.remember("green tea", id=f"{name}-tea")
        scope.recall("tea")
        memory.close()
    chromadb.PersistentClient(str(path)).delete_collection("doomed")
    memory = open_memory(collection="kept")
    memory.flush()
    assert ours(files_with(tmp_path, "doomed")) == set()
    assert memory.for_user("kept-user").get("kept-tea").read.retrieval_count == 1
    memory.close()


def test_a_reader_in_the_way_only_puts_it_off(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = SQLiteLedger(str(path))
    ledger.attach("uuid-of-a-collection", "memories")
    read(ledger, ALICE, "r1", "a-secret-id")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM records").fetchone()
    ledger.removal.erase(ALICE, "a-secret-id", "a-secret-id", existed=True, now=1.0)
    ledger.retention.trim(now=2.0, log_days=30, log_recalls=10)
    assert files_with(tmp_path, "a-secret-id") == {"ledger.sqlite3-wal"}
    reader.execute("COMMIT")
    ledger.retention.trim(now=3.0, log_days=30, log_recalls=10)
    assert files_with(tmp_path, "a-secret-id") == set()
    reader.close()
    ledger.close()


def test_a_reader_without_end_does_not_let_the_log_of_writes_grow_without_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 2**20
    monkeypatch.setattr(log_of_writes, "MOST_BYTES", most)
    path = tmp_path / "ledger.sqlite3"
    ledger = SQLiteLedger(str(path))
    ledger.attach("uuid-of-a-collection", "memories")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM records").fetchone()
    counted = 0

    def read_on() -> None:
        nonlocal counted
        for counted in range(2_000):
            read(ledger, ALICE, f"r{counted}", "m1", at=float(counted))

    with pytest.raises(LedgerError, match="does not end"):
        read_on()
    assert most < Path(f"{path}-wal").stat().st_size < 3 * most
    assert ledger.states.known(ALICE, ["m1"]).states["m1"].retrieval_count == counted
    reader.execute("COMMIT")
    read(ledger, ALICE, "after", "m1", at=5_000.0)
    assert Path(f"{path}-wal").stat().st_size < most
    reader.close()
    ledger.close()


def auto_vacuum(path: Path) -> int:
    with sqlite3.connect(path) as sql:
        return int(sql.execute("PRAGMA auto_vacuum").fetchone()[0])
