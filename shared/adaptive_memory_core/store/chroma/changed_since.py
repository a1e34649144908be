"""Which records were written since? Chroma numbers every write in its own SQLite file, and keeps the last one of each.

The file is read by a process of its own: to open it in one that has Chroma open would, on closing, drop the locks that
Chroma holds, and SQLite would not see that Chroma is in the midst of a write.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from adaptive_memory_core.store.chroma.own_database import DATABASE, IN_SQLITE

PATIENCE_SECONDS = 20.0
_READ = """
import json, sqlite3, sys
place, collection, kind, since = sys.argv[1:]
sql = sqlite3.connect(place, uri=True, timeout=10)
((rows,),) = sql.execute("SELECT id FROM segments WHERE collection = ? AND type = ?", (collection, kind))
sql.execute("BEGIN")
last = sql.execute("SELECT seq_id FROM max_seq_id WHERE segment_id = ?", (rows,)).fetchone()
size = sql.execute("SELECT count(*) FROM embeddings WHERE segment_id = ?", (rows,)).fetchone()
ids = sql.execute("SELECT embedding_id FROM embeddings WHERE segment_id = ? AND seq_id > ?", (rows, int(since)))
print(json.dumps([0 if last is None else last[0], size[0], [one for (one,) in ids] if int(since) >= 0 else []]))
"""


class Written(NamedTuple):
    """The number of the collection's last write, how many records it holds, and which of them were written since."""

    last: int
    size: int
    ids: Sequence[str]


def written_since(directory: Path, collection_id: str, number: int) -> Written | None:
    """What was written after the write of that number; -1 asks for the last number alone. None where it cannot be told:
    the file is in use or of another layout, or no process can be started."""
    place = f"{(directory / DATABASE).resolve().as_uri()}?mode=ro"
    command = [sys.executable, "-I", "-S", "-c", _READ, place, collection_id, IN_SQLITE, str(number)]
    try:
        told = subprocess.run(  # noqa: S603 - our own words
            command, capture_output=True, timeout=PATIENCE_SECONDS, check=True, stdin=subprocess.DEVNULL
        )
        last, size, ids = json.loads(told.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Written(last, size, ids) if isinstance(last, int) else None
