"""Does a memory answer whose ledger may not be written, or has no room to grow?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from adaptive_memory_core import AdaptiveMemory
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
