"""Has another program written to the collection? An embedded Chroma's file says so in a microsecond.

Only the file's time and size are looked at: to open it beside Chroma's own SQLite would, on closing, drop the locks
that Chroma holds. A time may be as coarse as a tick of the kernel: a file written just now tells nothing yet.
"""

from __future__ import annotations

import os
import time
from collections.abc import Hashable
from pathlib import Path

FILES = ("chroma.sqlite3", "chroma.sqlite3-wal")
JUST_NOW_NS = 50_000_000  # nanoseconds; several ticks of any kernel


class ChangeWatch:
    """What changes when the collection does, where it is embedded in a directory."""

    def __init__(self, directory: Path | None) -> None:
        self._files = () if directory is None else tuple(str(directory / name) for name in FILES)

    def token(self) -> Hashable | None:
        """Equal as long as nobody wrote, in any process; None where that cannot be told."""
        if not self._files:
            return None
        seen: list[tuple[int, int, int] | None] = []
        for file in self._files:
            try:
                found = os.stat(file)
            except FileNotFoundError:
                seen.append(None)
                continue
            except OSError:
                return None
            if time.time_ns() - found.st_mtime_ns < JUST_NOW_NS:
                return None
            seen.append((found.st_mtime_ns, found.st_size, found.st_ino))
        return None if seen[0] is None else tuple(seen)
