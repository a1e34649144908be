"""Where may the result of a comparison be written? Asked before the work of hours begins, not at its end."""

from __future__ import annotations

import os
from pathlib import Path

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.comparison import FORMAT

HEAD = 200  # bytes of a file in which its format stands


def check_result_file(file: Path) -> None:
    """Refuse a file in no directory, one that cannot be written, and one that holds something else than a result."""
    try:
        if file.is_dir() or not file.parent.is_dir():
            what = "is a directory" if file.is_dir() else "stands in no directory that is there"
        elif not os.access(file if file.exists() else file.parent, os.W_OK):
            what = "cannot be written"
        elif file.is_file() and not _is_result(file):
            what = "is there and holds no result of a comparison"
        else:
            return
    except (OSError, ValueError) as error:
        what = f"can be no file: {error!s:.200}"
    raise InvalidInputError(f"{str(file)!r:.200} {what}. Name a new file, or an earlier result to write over.")


def _is_result(file: Path) -> bool:
    with file.open("rb") as content:
        head = content.read(HEAD)
    return not head.strip() or f'"format": "{FORMAT}"'.encode() in head
