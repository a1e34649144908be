"""Paths from callers, and atomic writing of text files: first next to the file, then in its place."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path


def expanded(path: str | os.PathLike[str]) -> Path:
    """The path, with `~` as the user's home directory.

    >>> expanded("notes"), expanded("~/notes") == Path.home() / "notes"
    (PosixPath('notes'), True)
    """
    return Path(os.path.expanduser(path))  # Path.expanduser raises for an unknown user


def write_whole(path: str | Path, text: str) -> None:
    """Write a file atomically: it contains either its earlier text or the new one. Its permissions stay the same.

    A link is followed; a pipe or a device is written directly. A path that cannot be written raises OSError, and a
    value that is not a path TypeError or ValueError, for which the caller has its own message.
    """
    given = expanded(path)
    if given.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(given))
    if given.exists() and not given.is_file():
        given.write_text(text, encoding="utf-8")
        return
    place = given.resolve()
    partial = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        partial.touch()
        if place.exists():
            shutil.copymode(place, partial)
        partial.write_text(text, encoding="utf-8")
        partial.replace(place)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
