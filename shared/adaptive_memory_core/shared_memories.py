"""Is a memory over this collection open already? One for all readers in a process, until the last lets go."""

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
            "What reads a memory cannot be pickled: it holds an open ledger. Make it in the process that uses it, e.g. "
            "by from_vectorstore(vectorstore) or from_index(index)."
        )

    def close(self) -> None:
        """Write back what was learned, and close the memory where nobody else uses it."""
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
    """The memory over a collection: the one that is open with an embedder of this name and these options, or a new one.

    `found_as` is another name than the embedder's own to find it by.
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
    """The memory that is open over a collection with these options, whatever its embedder; None where there is none."""
    locations.check_collection(collection)
    wanted = _key(collection, options)
    with _guard:
        found = [memory for key, memory in _memories.items() if key[:-1] == wanted and not memory.closed]
        return Share(found[0]) if found else None


def _key(collection: Collection, options: Options) -> Key:
    """What makes two requests one, but for the embedder. The memory holds on to all whose address is part of it."""
    said = {name: _value(value) for name, value in options.items() if name != "embedder" and value is not None}
    return (os.getpid(), str(collection.id), locations.address_of(collection), *sorted(said.items(), key=str))


def _kept(option: Any) -> Any:
    """The same, if it can be read more than once; else what is read from it."""
    return tuple(option) if isinstance(option, Iterator) else option


def _value(option: Any) -> Hashable:
    """Policies, paths and the like are compared by what they say; functions and open files by what they are."""
    if isinstance(option, Mapping):
        return tuple((name, id(one)) for name, one in option.items())
    if isinstance(option, list | tuple | set | frozenset):
        return tuple(_value(one) for one in option)
    said: Hashable = option
    return said if isinstance(option, str | Path) or is_dataclass(option) else id(option)


def _write_back(memory: AdaptiveMemory) -> None:
    """What was learned so far goes into the collection, though others go on using the memory."""
    try:
        memory.flush()
    except ClosedError:  # by somebody else, meanwhile: it is written
        return
    except AdaptiveMemoryError as error:
        warnings.warn(
            f"Not everything could be written back into the collection yet: {error} It waits in the ledger.",
            RuntimeWarning,
            stacklevel=4,
        )
