"""Who still uses a memory? Each retriever, post-processor and block holds a lease; the last one closes it."""

from __future__ import annotations

import threading
import warnings
from typing import Any, NoReturn

from adaptive_memory_core import AdaptiveMemory, AdaptiveMemoryError, UserMemory
from adaptive_memory_core.errors import ClosedError
from llama_adaptive_memory.scopes import Fallback, scope_of

Key = tuple[Any, ...]
shared: dict[Key, tuple[AdaptiveMemory, int]] = {}  # the memories we opened, and how many use each
guard = threading.RLock()


class Lease:
    """A memory in use. Giving it back closes the memory if we opened it and nobody else uses it, or else flushes it."""

    def __init__(self, memory: AdaptiveMemory | UserMemory, key: Key | None = None, *, lent: bool = False) -> None:
        self.memory = memory
        self._key, self._lent = key, lent

    def __reduce__(self) -> NoReturn:
        refuse_to_pickle()

    def scope(self, user_id: str | None, fallback: Fallback = None) -> UserMemory:
        return scope_of(self.memory, user_id, fallback)

    def first_scope(self, user_id: str | None, fallback: Fallback = None) -> UserMemory:
        """The same while something is being made with it: if that fails, nobody will give the memory back."""
        try:
            return self.scope(user_id, fallback)
        except BaseException:
            self.close()
            raise

    def lent(self) -> Lease:
        """The same memory for one more, who need not give it back."""
        return Lease(self.memory, self._key, lent=True)

    def close(self) -> None:
        key, self._key = self._key, None
        if key is None:
            return
        with guard:
            memory, users = shared.get(key, (None, 0))
            if memory is None or memory is not self.memory:
                return
            last = users == 1 and not self._lent
            if last:
                del shared[key]
            elif not self._lent:
                shared[key] = (memory, users - 1)
        if last:
            memory.close()
        else:
            _write_back(memory)


def refuse_to_pickle() -> NoReturn:
    """Said of all that holds a lease."""
    raise TypeError(
        "What reads a memory cannot be pickled: it holds an open ledger. Make it in the process that uses it, e.g. by "
        "from_index(index)."
    )


def _write_back(memory: AdaptiveMemory) -> None:
    """What was learned so far goes into the collection, though others go on using the memory."""
    try:
        memory.flush()
    except ClosedError:  # by the last of them, meanwhile: it is written
        return
    except AdaptiveMemoryError as error:
        warnings.warn(
            f"Not everything could be written back into the collection yet: {error} It waits in the ledger.",
            RuntimeWarning,
            stacklevel=4,
        )
