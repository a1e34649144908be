"""What if a collection is deleted because another one took its place? The caller is told so, not that it is gone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adaptive_memory_core.store.chroma.up_to_date import CALLS
from adaptive_memory_core.store.edition import Edition

if TYPE_CHECKING:
    from chromadb import Collection


class _Replaceable:
    """A collection whose failures are looked at."""

    def __init__(self, collection: Collection, edition: Edition) -> None:
        self._collection, self._edition = collection, edition

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._collection, name)
        return partial(_told, found, self._edition) if name in CALLS else found


def replaceable(collection: Collection, edition: Edition) -> Collection:
    """The collection; where a call fails since another one took its place, the error is `Edition.check`'s."""
    return cast("Collection", _Replaceable(collection, edition))


def _told(call: Callable[..., Any], edition: Edition, *args: Any, **named: Any) -> Any:
    from chromadb.errors import NotFoundError

    try:
        return call(*args, **named)
    except NotFoundError:
        edition.check()
        raise
