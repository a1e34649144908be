"""Are the vectors still those that this memory was opened with? Another embedder's may have taken their place."""

from __future__ import annotations

from adaptive_memory_core.errors import EmbedderMismatchError
from adaptive_memory_core.flow.ports import Ledger


class Edition:
    """The collection as the ledger knew it when a memory's parts were made: with other vectors it is another one."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._uuid = ledger.notes.uuid()

    @property
    def is_over(self) -> bool:
        """Whether this memory's embedder no longer fits."""
        return self._ledger.notes.uuid() not in (self._uuid, None)

    def check(self) -> None:
        """Refuse to mix vectors of two embedders. Within a transaction it holds to the end of it."""
        if self.is_over:
            embedder = self._ledger.notes.embedder()[0]
            raise EmbedderMismatchError(
                f"The collection was embedded anew, with {embedder!r}, since this memory was opened with its embedder. "
                "Nothing of this call is kept. Close this memory and open it again with that embedder."
            )
