"""Where does a pruned memory go, if it is not to be lost? A file of JSON lines that `remember_many` takes back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.records import Record


class JSONLines:
    """Appends records to a file and waits until they are on disk: only then may they leave the collection."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __call__(self, records: Sequence[Record]) -> None:
        try:
            with self.path.open("ab") as file:
                file.writelines(orjson.dumps(as_arguments(one)) + b"\n" for one in records)
                file.flush()
                os.fsync(file.fileno())
        except (OSError, TypeError, ValueError) as error:
            raise StoreError(
                f"The archive {str(self.path)!r} cannot be written: {error}. Nothing was removed that is not in it. "
                "Give a file in a directory that may be written."
            ) from error


def as_arguments(record: Record) -> dict[str, Any]:
    """A record as the arguments of `remember`; what is unknown is left out.

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
    }
    return {name: value for name, value in values.items() if value is not None}
