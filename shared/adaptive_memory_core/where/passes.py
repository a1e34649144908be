"""Does a record's metadata pass a filter? As Chroma would answer, with what it refuses."""

from __future__ import annotations

from adaptive_memory_core.records import Metadata
from adaptive_memory_core.where.parse import Where, predicate


def passes(where: Where | None, metadata: Metadata | None, text: str | None = None) -> bool:
    """Whether Chroma would give the record for this filter; several keys in one mapping mean all of them.

    A key that is missing passes `$ne`, `$nin` and `$not_contains` alone; a list passes `$contains` and nothing else.

    >>> passes({"kind": "fact", "importance": {"$gte": 0.5}}, {"kind": "fact", "importance": 0.7})
    True
    >>> passes({"kind": {"$ne": "fact"}}, None), passes({"tags": {"$contains": "tea"}}, {"tags": ["tea", "milk"]})
    (True, True)
    >>> passes({"n": {"$lt": 3.5}}, {"n": 3})  # it compares an int with the int of what was given, here 3
    False
    """
    return where is None or predicate(where)({} if metadata is None else metadata, text)
