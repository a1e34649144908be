"""Was this Chroma client made in another process? What a fork brings along must not be used, nor given to anybody.

The threads of an embedded Chroma stay in the parent, and two processes over one directory damage it. Chroma itself
would give the parent's client to whoever opens the same directory in the child.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chromadb import Collection

_parents: list[Any] = []  # held on to: to let go of them would end them, in a process that has not begun them


def is_parents(collection: Collection) -> bool:
    """Whether the collection is of a client that was made before this process was forked."""
    return any(one is collection._client for system in _parents for one in system._instances.values())


def _forked() -> None:
    """In the child: forget the embedded clients of the parent."""
    module = sys.modules.get("chromadb.api.shared_system_client")
    if module is None:
        return
    registry = module.SharedSystemClient
    for name, system in list(registry._identifier_to_system.items()):
        if system.settings.is_persistent and "fastapi" not in str(system.settings.chroma_api_impl).lower():
            _parents.append(registry._identifier_to_system.pop(name))
            registry._identifier_to_refcount.pop(name, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
