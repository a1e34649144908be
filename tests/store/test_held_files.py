"""Does looking at a ledger's files leave SQLite's locks on them in place? Else another process empties their log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adaptive_memory_core import SQLiteLedger

ROOT = Path(__file__).parents[2]
OTHER = """
import os, sys
from adaptive_memory_core import SQLiteLedger
ledger = SQLiteLedger(sys.argv[1])
ledger.attach("uuid", "memories")
with ledger.file.writing() as sql:
    sql.execute("INSERT OR IGNORE INTO to_purge VALUES (?)", (sys.argv[2],))
print(ledger.notes.embedder()[0])
if sys.argv[2] == "killed":
    sys.stdout.flush()
    os._exit(0)
ledger.close()
"""


def opened(path: Path) -> SQLiteLedger:
    ledger = SQLiteLedger(str(path))
    ledger.attach("uuid", "memories")
    return ledger


def in_another_process(path: Path, how: str) -> str:
    """The embedder's name as another process reads it; it writes a row besides, and closes or is killed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "shared")])}
    command = [sys.executable, "-c", OTHER, str(path), how]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


@pytest.mark.skipif(sys.platform == "win32", reason="locks of a process go with any descriptor on POSIX only")
@pytest.mark.hard("processes")
def test_two_memories_of_a_process_lose_nothing_to_one_that_closes(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    first = opened(path)
    second = opened(path)
    second.close()
    third = opened(path)
    first.notes.keep_embedder("before", 3)
    assert in_another_process(path, "closed") == "before"
    first.notes.keep_embedder("after", 3)
    assert in_another_process(path, "closed") == "after"
    third.close()
    first.close()


@pytest.mark.skipif(sys.platform == "win32", reason="locks of a process go with any descriptor on POSIX only")
@pytest.mark.hard("kill")
def test_a_ledger_that_took_in_the_log_of_a_killed_one_loses_nothing_either(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    assert in_another_process(path, "killed") == "None"
    ledger = opened(path)
    assert in_another_process(path, "closed") == "None"
    ledger.notes.keep_embedder("after", 3)
    assert in_another_process(path, "closed") == "after"
    ledger.close()
    assert opened(path).notes.embedder() == ("after", 3)
