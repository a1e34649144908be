"""What is a record called? The title among its metadata, under the caller's key or one that frameworks use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.records import Metadata

TITLE_KEYS = ("title", "document_title", "file_name")  # where frameworks' loaders put it, after the caller's own


def title_of(metadata: Metadata | None, fields: Fields) -> str | None:
    """What a record's metadata call it.

    >>> title_of({"file_name": "rome.md"}, Fields()), title_of({"title": 7}, Fields()) is None
    ('rome.md', True)
    """
    found: Mapping[str, Any] = metadata or {}
    named = (found.get(key) for key in (fields.title, *TITLE_KEYS))
    return next((one for one in named if isinstance(one, str) and one.strip()), None)
