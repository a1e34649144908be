"""What does a file or stdin say? Its text, or its JSON; what cannot be read so is wrong usage and no traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import reason

STDIN = "-"


def text_of(file: Path | str) -> str:
    """The text of a file, or of stdin for `-`, which must be UTF-8."""
    if str(file) == STDIN:
        return _encodable(sys.stdin.read)
    return _encodable(lambda: Path(file).read_text(encoding="utf-8-sig"), repr(str(file)))


def is_readable(file: Path) -> bool:
    """Whether there is a file, or a pipe such as a shell makes of `<(...)`; a device may have no end."""
    return file.is_file() or file.is_fifo()


def json_of(text: str, name: str) -> Any:
    """What a text says as JSON.

    >>> json_of("[1", "it")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: it is no JSON: Expecting ',' delimiter: line 1 column 3 (char 2).
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInputError(f"{name} is no JSON: {reason(error)}.") from error
    except RecursionError as error:
        raise InvalidInputError(f"{name} is nested too deeply to be read.") from error


def _encodable(read: Callable[[], str], name: str = "stdin") -> str:
    try:
        said = read()
        said.encode()
    except UnicodeError as error:
        raise InvalidInputError(f"{name} is no text in UTF-8: {reason(error)}. Write it anew in UTF-8.") from error
    return said
