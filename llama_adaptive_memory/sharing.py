"""What have our three classes in common? They read one scope of a memory, and let go of it when they are closed."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from typing_extensions import Self

from adaptive_memory_core import Recall, UserMemory


class Sharing:
    """Access to the memory behind, and the end of its use."""

    @property
    def memory(self: Any) -> UserMemory:
        """What is read here, with all that can be done with it: feedback, pin, forget, recalls, stats."""
        scope: UserMemory = self._scope
        return scope

    @property
    def last_recall(self: Any) -> Recall | None:
        """The newest answer, of whichever thread: `explain()` it, judge it with `memory.feedback(...)`."""
        found: Recall | None = self._last_recall
        return found

    def close(self: Any) -> None:
        """Write back what was learned, and let go of the memory; it is closed where nobody else uses it."""
        self._lease.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
