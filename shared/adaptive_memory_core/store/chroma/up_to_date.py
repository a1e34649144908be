"""Does the collection show what other processes wrote? It is put in before this process asks or changes anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from chromadb import Collection

CALLS = frozenset({"add", "count", "delete", "get", "query", "update", "upsert"})


class _UpToDate:
    """A collection whose calls each see to that first."""

    def __init__(self, collection: Collection, settle: Callable[[], object]) -> None:
        self._collection, self._settle = collection, settle

    def __getattr__(self, name: str) -> Any:
        if name in CALLS:
            self._settle()
        return getattr(self._collection, name)


def up_to_date(collection: Collection, settle: Callable[[], object]) -> Collection:
    """The collection, for which `settle` is called before each call that asks or changes records."""
    return cast("Collection", _UpToDate(collection, settle))
