"""Memories shared by all readers of a collection in one process, until the last reader closes its share."""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from typing_extensions import Unpack

from adaptive_memory_core.errors import AdaptiveMemoryError, ClosedError
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.embedder import as_embedder, of_collection
from adaptive_memory_core.options import Options
from adaptive_memory_core.store import locations
from adaptive_memory_core.wiring import check_options

if TYPE_CHECKING:
    from chromadb import Collection

Key = tuple[Hashable, ...]
_guard = threading.RLock()
_memories: weakref.WeakValueDictionary[Key, AdaptiveMemory] = weakref.WeakValueDictionary()
_shares: weakref.WeakKeyDictionary[AdaptiveMemory, weakref.WeakSet[Share]] = weakref.WeakKeyDictionary()


class Share:
    """One user's share of a memory. The last share to be closed closes the memory.

    A share that is dropped without being closed counts as closed.
    """

    def __init__(self, memory: AdaptiveMemory) -> None:
        self.memory = memory
        self._is_open = True
        with _guard:
            _shares.setdefault(memory, weakref.WeakSet()).add(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A reader of a memory cannot be pickled: it holds an open ledger. Create it in the process that uses it, "
            "e.g. by from_vectorstore(vectorstore) or from_index(index)."
        )

    def close(self) -> None:
        """Write back learned state, and close the memory if nobody else uses it."""
        with _guard:
            others = _shares.setdefault(self.memory, weakref.WeakSet())
            others.discard(self)
            was_open, self._is_open = self._is_open, False
            last = was_open and not others
            if last:
                for key in [key for key, memory in _memories.items() if memory is self.memory]:
                    del _memories[key]
        if last:
            self.memory.close()
        elif was_open:
            _write_back(self.memory)

    async def aclose(self) -> None:
        """`close`, async."""
        import asyncio

        await asyncio.to_thread(self.close)


def share(collection: Collection, *, found_as: str | None = None, **options: Unpack[Options]) -> Share:
    """A share of the memory over a collection: an open memory with the same options and embedder name, or a new memory.

    `found_as` is used for the comparison instead of the embedder's own name.
    """
    locations.check_collection(collection)
    check_options(options)
    given = options.get("embedder")
    options["embedder"] = embedder = of_collection(collection) if given is None else as_embedder(given)
    options = cast("Options", {name: _kept(value) for name, value in options.items()})
    name = found_as or (f"{embedder.name}#{id(given)}" if "<lambda>" in embedder.name else embedder.name)
    with _guard:
        key = (*_key(collection, options), name)
        memory = _memories.get(key)
        if memory is None or memory.closed:
            memory = _memories[key] = AdaptiveMemory(collection, **options)
        return Share(memory)


def find_memory(collection: Collection, **options: Unpack[Options]) -> Share | None:
    """A share of an open memory over a collection with these options and any embedder; None if there is none."""
    locations.check_collection(collection)
    wanted = _key(collection, options)
    with _guard:
        found = [memory for key, memory in _memories.items() if key[:-1] == wanted and not memory.closed]
        return Share(found[0]) if found else None


def _key(collection: Collection, options: Options) -> Key:
    """A key that is equal for requests that can share a memory, without the embedder. The memory keeps all objects
    alive whose address is part of the key."""
    named = {name: _value(value) for name, value in options.items() if name != "embedder" and value is not None}
    return (os.getpid(), str(collection.id), locations.address_of(collection), *sorted(named.items(), key=str))


def _kept(option: Any) -> Any:
    """The option, with an iterator converted to a tuple so that it can be read again."""
    return tuple(option) if isinstance(option, Iterator) else option


def _value(option: Any) -> Hashable:
    """A hashable value: policies, paths and strings are compared by value, functions and open files by identity."""
    if isinstance(option, Mapping):
        return tuple((name, id(one)) for name, one in option.items())
    if isinstance(option, list | tuple | set | frozenset):
        return tuple(_value(one) for one in option)
    named: Hashable = option
    return named if isinstance(option, str | Path) or is_dataclass(option) else id(option)


def _write_back(memory: AdaptiveMemory) -> None:
    """Write learned state into the collection while others continue to use the memory."""
    try:
        memory.flush()
    except ClosedError:  # closed by another share in the meantime, so it is written
        return
    except AdaptiveMemoryError as error:
        warnings.warn(
            f"Not everything could be written back into the collection yet: {error} It waits in the ledger.",
            RuntimeWarning,
            stacklevel=4,
        )
