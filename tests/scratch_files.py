"""Where do the files of the tests lie? In memory, where the machine has room: a durable commit then costs microseconds,
not the milliseconds of a disk. What a killed process leaves behind is the same: the system lives on, and its files.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import psutil

MEMORY = Path("/dev/shm")
ROOM_BYTES = 6 << 30  # a run needs about half of it, most of it for databases of PostgreSQL


def into_memory() -> None:
    """From here on this process and those it starts have their temporary files in a folder in memory, unless TMPDIR
    says another place or there is no room. The folder goes when this process ends."""
    if "TMPDIR" in os.environ or not _has_room(MEMORY):
        return
    folder = Path(tempfile.mkdtemp(prefix="adaptive-memory-tests-", dir=MEMORY))
    folder.chmod(0o711)  # PostgreSQL does not run as root, and has its folder there
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    atexit.register(_remove, folder, os.getpid())  # after whatever is registered later, such as the end of a server


def keep() -> None:
    """The folder stays, to be looked at: a test has failed."""
    atexit.unregister(_remove)


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a fork of it
        shutil.rmtree(folder, ignore_errors=True)


def _has_room(place: Path) -> bool:
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        return False
    if os.statvfs(place).f_flag & os.ST_NOEXEC:  # programs are unpacked there, and run
        return False
    room = min(shutil.disk_usage(place).free, psutil.virtual_memory().available)
    return bool(room > ROOM_BYTES)
