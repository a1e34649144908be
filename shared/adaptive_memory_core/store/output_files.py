"""Files written for users: pruned records as JSON lines that `remember_many` accepts, and HTML pages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import orjson

from adaptive_memory_core.error_messages import reason, shown
from adaptive_memory_core.errors import InvalidInputError, StoreError
from adaptive_memory_core.records import Record
from adaptive_memory_core.whole_file import expanded, write_whole

LONGEST_LINE = 1_000_000  # bytes at the end of the file that are always checked


class JSONLines:
    """Appends records to a file and waits until they are on disk; only then may they leave the collection.

    Records that could not leave it are appended again later: lines already at the file's end are not written twice.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = expanded(path)

    def __call__(self, records: Sequence[Record]) -> None:
        try:
            lines = [orjson.dumps(as_arguments(one)) + b"\n" for one in records]
            with self.path.open("ab+") as file:
                known = _last_lines(file, 2 * sum(map(len, lines)))
                _append(file, [one for one in lines if one not in known])
        except (OSError, TypeError, ValueError) as error:
            raise StoreError(
                f"The archive {str(self.path)!r} cannot be written: {reason(error)}. Nothing was removed that is not "
                "in it. Give a file in a directory that may be written."
            ) from error


def _last_lines(file: IO[bytes], most: int) -> set[bytes]:
    """The lines at the end of a file. A partial line of this library, left by a crash, is cut off."""
    size = file.seek(0, os.SEEK_END)
    length = min(size, max(most, LONGEST_LINE))
    file.seek(size - length)
    lines = file.read(length).splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        if lines[-1].startswith(b'{"text":') and not _is_whole(lines[-1]):
            file.truncate(size - len(lines.pop()))
        else:
            file.write(b"\n")
            lines[-1] += b"\n"
    return set(lines)


def _is_whole(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return True


def _append(file: IO[bytes], lines: Sequence[bytes]) -> None:
    """Append all of the lines, or none of them."""
    size = file.seek(0, os.SEEK_END)
    try:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            file.truncate(size)
        raise


def as_arguments(record: Record) -> dict[str, Any]:
    """A record as the arguments of `remember`; unknown values are left out.

    >>> as_arguments(Record("a", "tea", kind="fact"))
    {'text': 'tea', 'id': 'a', 'kind': 'fact'}
    """
    values = {
        "text": record.text,
        "id": record.id,
        "kind": record.kind,
        "importance": record.written_importance,
        "created_at": record.created_at,
        "valid_from": record.valid_from,
        "valid_until": record.valid_until,
        "metadata": dict(record.metadata) or None,
        "derived_from": list(record.derived_from) or None,
    }
    return {name: value for name, value in values.items() if value is not None}


HEAD = 2_000  # bytes at the beginning of a file that contain its generator's name


def check_page_file(path: object) -> Path:
    """The path of a page, in an existing directory. Raises for a file that this library did not write."""
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidInputError(f"The page's path is {shown(path)}. Give the path of a file, e.g. 'memory.html'.")
    file = expanded(path)
    try:
        return _checked(file)
    except InvalidInputError:
        raise
    except (OSError, ValueError) as error:  # a name too long or with invalid characters, or a directory without access
        raise InvalidInputError(
            f"A page cannot be written to {str(path)!r:.200}: {error!s:.200}. Give a path such as 'memory.html'."
        ) from error


def _checked(file: Path) -> Path:
    with suppress(FileNotFoundError, NotADirectoryError):
        file.stat()  # raises if the name is invalid, unlike `exists`
    if not file.parent.is_dir() or file.is_dir():
        what = "is a directory" if file.is_dir() else "is in a directory that does not exist"
        raise InvalidInputError(f"{str(file)!r} {what}. Give the path of a file, e.g. 'memory.html'.")
    if file.exists() and not _is_ours(file):
        raise InvalidInputError(
            f"{str(file)!r} exists and is not a page made by this library. Name a new file, or remove it."
        )
    return file


def write_page(file: Path, page: str) -> None:
    """Write the page to a second file and then rename it, so that no reader sees half a page."""
    try:
        write_whole(file, page)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"The page cannot be written to {str(file)!r}: {reason(error)}. Give another file."
        ) from error


def _is_ours(file: Path) -> bool:
    from adaptive_memory_core.pages.markup import MADE_BY  # imported here, because few programs make pages

    try:
        with file.open("rb") as content:
            return MADE_BY.encode() in content.read(HEAD)
    except OSError:
        return False
