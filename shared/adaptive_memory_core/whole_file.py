"""Paths as callers give them, and texts written into files as a whole: first next to the file, then in its place."""

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
    return Path(os.path.expanduser(path))  # Path's own raises where there is no such user


def write_whole(path: str | Path, text: str) -> None:
    """The file has its earlier text or this one, whatever happens meanwhile; its permissions stay the same.

    A link is followed; into a pipe or a device the text is written directly. A path that cannot be written to raises an
    OSError, and a value that is not a path a TypeError or a ValueError: the caller says in its own words what to give.
    """
    given = expanded(path)
    if given.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(given))
    if given.exists() and not given.is_file():
        given.write_text(text, encoding="utf-8")
        return
    place = given.resolve()
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        beside.touch()
        if place.exists():
            shutil.copymode(place, beside)
        beside.write_text(text, encoding="utf-8")
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
