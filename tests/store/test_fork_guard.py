"""Can a child that was forked amid another thread's transaction write the ledger's file?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORKED = """
import os, sys, threading, time
from adaptive_memory_core import SQLiteLedger

ledger, within, go_on = SQLiteLedger(sys.argv[1]), threading.Event(), threading.Event()

def write():
    with ledger.file.writing() as sql:
        sql.execute("INSERT INTO policies VALUES ('parent', 'x')")
        within.set()
        go_on.wait()

writer = threading.Thread(target=write)
writer.start()
within.wait()
threading.Timer(0.2, go_on.set).start()
child = os.fork()
if child == 0:
    own = SQLiteLedger(sys.argv[1])
    with own.file.writing() as sql:
        sql.execute("INSERT INTO policies VALUES ('child', 'x')")
    own.close()
    os._exit(0)
writer.join()
deadline = time.monotonic() + 20
while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
    time.sleep(0.01)
if ended == (0, 0):
    os.kill(child, 9)
with ledger.file.reading() as sql:
    print(sorted(row[0] for row in sql.execute("SELECT * FROM policies")))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_that_was_forked_amid_a_transaction_can_write(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "shared")])}
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path / "ledger.sqlite3")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=60)
    assert done.stdout.strip() == "['child', 'parent']"
