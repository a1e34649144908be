"""Collections whose calls are guarded: replaced collections are reported, and forked clients refused.

The threads of an embedded Chroma stay in the parent of a fork, and two processes over one directory damage it. Chroma
itself would give the parent's client to whoever opens the same directory in the child.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adaptive_memory_core.store.embedder_check import EmbedderVersion
from adaptive_memory_core.store.process_locks import never_claim

if TYPE_CHECKING:
    from chromadb import Collection

CALLS = frozenset({"add", "count", "delete", "get", "query", "update", "upsert"})


class _Replaceable:
    """A collection whose failures are looked at."""

    def __init__(self, collection: Collection, edition: EmbedderVersion) -> None:
        self._collection, self._edition = collection, edition

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._collection, name)
        return partial(_checked, found, self._edition) if name in CALLS else found


def replaceable(collection: Collection, edition: EmbedderVersion) -> Collection:
    """The collection; where a call fails since another one took its place, the error is `Edition.check`'s."""
    return cast("Collection", _Replaceable(collection, edition))


def _checked(call: Callable[..., Any], edition: EmbedderVersion, *args: Any, **named: Any) -> Any:
    from chromadb.errors import NotFoundError

    try:
        return call(*args, **named)
    except NotFoundError:
        edition.check()
        raise


_parents: list[Any] = []  # held on to: to let go of them would end them, in a process that has not begun them


def is_parents(collection: Collection) -> bool:
    """Whether the collection is of a client that was made before this process was forked."""
    return any(one is collection._client for system in _parents for one in system._instances.values())


def _forked() -> None:
    """In the child: forget the embedded clients of the parent, and open none."""
    module = sys.modules.get("chromadb.api.shared_system_client")
    if module is None:
        return
    registry = module.SharedSystemClient
    for name, system in list(registry._identifier_to_system.items()):
        if "fastapi" in str(system.settings.chroma_api_impl).lower():
            continue
        never_claim()
        if system.settings.is_persistent:
            _parents.append(registry._identifier_to_system.pop(name))
            registry._identifier_to_refcount.pop(name, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
