"""Can a child that was forked amid another thread's transaction, or its long look, use the ledger's file?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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
