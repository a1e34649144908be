"""Has another program written to the collection? An embedded Chroma's file says so in a microsecond.

Only the file's time and size are looked at: to open it beside Chroma's own SQLite would, on closing, drop the locks
that Chroma holds. A time may be as coarse as a tick of the kernel: a file written just now tells nothing yet.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable
from pathlib import Path

from adaptive_memory_core.flow.calls.looks import look_again, looked_at

FILES = ("chroma.sqlite3", "chroma.sqlite3-wal")
JUST_NOW_NS = 50_000_000  # nanoseconds; several ticks of any kernel
Seen = tuple[tuple[int, int, int] | None, ...]


def unknown() -> int | None:
    """Nobody compares the collection."""
    return None


class ChangeWatch:
    """What changes when the collection does. Of one embedded in a directory its files tell, of one on a server whoever
    compares it from time to time."""

    def __init__(self, directory: Path | None, only_ours_since: Callable[[], int | None] = unknown) -> None:
        """`only_ours_since` gives another number as soon as others may have added or removed records, and None where it
        cannot tell."""
        self._files = () if directory is None else tuple(str(directory / name) for name in FILES)
        self.only_ours_since = only_ours_since

    def tells_of_overwriting(self) -> bool:
        """Whether nobody else wrote over a record either, as far as it is known; a server does not say so."""
        return bool(self._files) and self.only_ours_since() is not None

    def token(self) -> Hashable | None:
        """Equal as long as nobody wrote, in any process; None where that cannot be told."""
        seen = seen_in_call(self._files) if self._files else None
        if seen is None or any(one is not None and time.time_ns() - one[0] < JUST_NOW_NS for one in seen):
            return None
        return seen

    def token_of_others(self) -> Hashable | None:
        """Equal as long as nobody else wrote: as `token`, but what we write ourselves changes it not, where it is known
        that only we do. A server is asked no more often than the mirror asks it. What others write within the tick of
        the kernel that we write in is news once the mirror has compared the collection, as it does after each write."""
        ours = self.only_ours_since()
        return self.token() if ours is None else ours


def seen_in_call(files: tuple[str, ...]) -> Seen | None:
    """The files' times, sizes and numbers, as this call saw them a moment ago; None where the first is not there."""
    return looked_at(files, lambda: seen_now(files))


def seen_now(files: tuple[str, ...]) -> Seen | None:
    look_again(files)
    seen: list[tuple[int, int, int] | None] = []
    for file in files:
        try:
            found = os.stat(file)
        except FileNotFoundError:
            seen.append(None)
        except OSError:
            return None
        else:
            seen.append((found.st_mtime_ns, found.st_size, found.st_ino))
    return None if seen[0] is None else tuple(seen)
