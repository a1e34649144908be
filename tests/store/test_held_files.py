"""Are SQLite's locks on a ledger's files left in place by who looks at them, and may a forked child use the files?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adaptive_memory_core import SQLiteLedger
from tests import forked

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
    return forked.said_by(OTHER, path, how).strip()


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


FORKED_AMID = """
import os, sys, threading, time
from adaptive_memory_core import SQLiteLedger

ledger, within, go_on = SQLiteLedger(sys.argv[1]), threading.Event(), threading.Event()

def hold():
    with ledger.file.{block}() as sql:
        {statement}
        within.set()
        go_on.wait()

holding = threading.Thread(target=hold)
holding.start()
within.wait()
threading.Timer(0.2, go_on.set).start()
child = os.fork()
if child == 0:
    own = SQLiteLedger(sys.argv[1])
    with own.file.writing() as sql:
        sql.execute("INSERT INTO policies VALUES ('child', 'x')")
    with own.file.reading() as sql:
        print(sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone(), flush=True)
    own.close()
    os._exit(0)
holding.join()
deadline = time.monotonic() + 20
while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
    time.sleep(0.01)
if ended == (0, 0):
    os.kill(child, 9)
with ledger.file.reading() as sql:
    print(sorted(row[0] for row in sql.execute("SELECT * FROM policies")))
"""
HOLDS = {
    "a transaction": ("writing", "sql.execute(\"INSERT INTO policies VALUES ('parent', 'x')\")", ["child", "parent"]),
    "a long look": (
        "apart",
        "sql.execute('BEGIN'); sql.execute('SELECT count(*) FROM policies').fetchone()",
        ["child"],
    ),
}


@pytest.mark.hard("processes")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("held", HOLDS)
def test_a_child_that_was_forked_amid_it_can_write_and_empty_the_log_of_writes(held: str, tmp_path: Path) -> None:
    """For the child it would never end: nothing could be written, or the log would grow until nothing can."""
    block, statement, written = HOLDS[held]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "shared")])}
    program = FORKED_AMID.format(block=block, statement=statement)
    command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "ledger.sqlite3")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=60)
    assert done.stdout.splitlines() == ["(0, 0, 0)", str(written)]
