"""How is a file read that a public set publishes? As JSON, with an error that says what was expected of which place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError


def read_list(path: Path, what: str) -> list[Mapping[str, Any]]:
    """The objects of a file that holds a list of them."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{path} is no JSON that can be read: {error}. Give {what}, as it is published."
        ) from error
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InvalidInputError(f"{path} is no list of objects. Give {what}, as it is published.")
    return rows


def wanted(row: Mapping[str, Any], name: str, kind: type, where: str) -> Any:
    """A field that has to be there, of its kind."""
    value = row.get(name)
    if not isinstance(value, kind):
        raise InvalidInputError(f"{where} has the {name} {value!r:.60}. It must be a {kind.__name__} there.")
    return value


def same_length(lists: Mapping[str, Sequence[Any]], where: str) -> None:
    """Refuse lists that should go side by side and do not."""
    lengths = {name: len(one) for name, one in lists.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInputError(f"{where} has lists of different lengths: {lengths}. They must go side by side.")
