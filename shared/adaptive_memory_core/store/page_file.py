"""Where may a page be written? Into a file that is new, or that is an earlier page of ours; whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.pages.shell import MADE_BY
from adaptive_memory_core.shown_in_errors import reason, shown
from adaptive_memory_core.whole_file import write_whole

HEAD = 2_000  # bytes of a file in which its maker stands


def check_page_file(path: object) -> Path:
    """The file, in a directory that is there; no file of somebody else's."""
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidInputError(f"The page's path is {shown(path)}. Give the path of a file, e.g. 'memory.html'.")
    file = Path(path)
    try:
        return _checked(file)
    except InvalidInputError:
        raise
    except (OSError, ValueError) as error:  # a name too long, of characters that no path has, in a closed directory
        raise InvalidInputError(
            f"There can be no page in {str(path)!r:.200}: {error!s:.200}. Give the path of a file, e.g. 'memory.html'."
        ) from error


def _checked(file: Path) -> Path:
    with suppress(FileNotFoundError, NotADirectoryError):
        file.stat()  # which says what is wrong with the name, where `exists` says only that it is not there
    if not file.parent.is_dir() or file.is_dir():
        what = "is a directory" if file.is_dir() else "stands in no directory that is there"
        raise InvalidInputError(f"{str(file)!r} {what}. Give the path of a file, e.g. 'memory.html'.")
    if file.exists() and not _is_ours(file):
        raise InvalidInputError(
            f"{str(file)!r} is there and is no page that was made here. Name a new file, or remove it."
        )
    return file


def write_page(file: Path, page: str) -> None:
    """Write it beside, then exchange the two: nobody sees half a page."""
    try:
        write_whole(file, page)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"The page cannot be written to {str(file)!r}: {reason(error)}. Give another file."
        ) from error


def _is_ours(file: Path) -> bool:
    try:
        with file.open("rb") as content:
            return MADE_BY.encode() in content.read(HEAD)
    except OSError:
        return False
