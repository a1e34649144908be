"""How does a reader hold a memory? A share of it, a loan that it never closes, or nothing if it was given one."""

from __future__ import annotations

from typing import NoReturn

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.errors import ClosedError
from adaptive_memory_core.shared_memories import Share
from llama_adaptive_memory.scopes import Fallback, Over, scope_of


class Lease:
    """A memory in use. One that was given by the caller has no share, and is left open."""

    def __init__(self, memory: AdaptiveMemory | UserMemory, share: Share | None = None, *, lent: bool = False) -> None:
        self.memory = memory
        self._share, self._lent, self._closed = share, lent, False

    def __reduce__(self) -> NoReturn:
        refuse_to_pickle()

    def check_open(self) -> None:
        """Refuse to be read after `close`, also while others still have the memory open."""
        if self._closed:
            raise ClosedError("This reader was closed. Make another one, e.g. by from_index(index).")

    def scope(self, user_id: str | int | None, fallback: Fallback = None, over: Over = None) -> UserMemory:
        return scope_of(self.memory, user_id, fallback, over)

    def first_scope(self, user_id: str | int | None, fallback: Fallback = None, over: Over = None) -> UserMemory:
        """The same while something is being made with it: if that fails, nobody will give the memory back."""
        try:
            return self.scope(user_id, fallback, over)
        except BaseException:
            self.close()
            raise

    def lent(self) -> Lease:
        """The same memory for one more, who need not give it back."""
        return Lease(self.memory, self._share, lent=True)

    def close(self) -> None:
        """Write back what was learned; where it is no loan, also let go of the memory, which the last one closes."""
        self._closed = True
        share, self._share = self._share, None
        if share is not None:
            (Share(share.memory) if self._lent else share).close()


def refuse_to_pickle() -> NoReturn:
    """Said of all that holds a lease."""
    raise TypeError(
        "What reads a memory cannot be pickled: it holds an open ledger. Make it in the process that uses it, e.g. by "
        "from_index(index)."
    )
