"""How are names compared? They are embedded in the background, some at a time, and then each is held against all.

Only where somebody takes names for others that are like them (`Graphs.names_alike`); else no name is ever embedded.
The embedder is asked while no connection and no lock is held.
"""

from __future__ import annotations

from adaptive_memory_core.flow.ports.graph import GraphAlike
from adaptive_memory_core.flow.ports.models import Embedder

EMBEDDED, COMPARED = 256, 1_024  # names at a time


class ComparedNames:
    """`wanted` once somebody asks for it in this process."""

    def __init__(self, rows: GraphAlike, embedder: Embedder, made_by: str | None, *, read_only: bool) -> None:
        self._rows, self._embedder, self._made_by, self._read_only = rows, embedder, made_by, read_only
        self._after = 0  # the key up to which all names have a vector, in this round
        self.wanted = self.due = False

    def want(self) -> bool:
        """Whether nobody did before."""
        begins = not self.wanted and not self._read_only
        if begins:
            self.wanted = self.due = True
        return begins

    def changed(self) -> None:
        """There may be new names."""
        self.due = self.wanted

    def page(self) -> bool:
        """Embed some names, else compare some; whether there may be more. Who does it twice at once does no harm."""
        if not self.due:
            return False
        self.due = False  # what comes in from now on says so
        try:
            self._after, more = self._step(self._after)
        except BaseException:
            self.due = True
            raise
        self.due = self.due or more
        return self.due

    def complete(self) -> None:
        """All there is, now."""
        after, more, self.due = 0, self.wanted, False  # what comes in from now on says so
        try:
            while more:
                after, more = self._step(after)
        except BaseException:
            self.due = self.wanted
            raise

    def _step(self, after: int) -> tuple[int, bool]:
        names = self._rows.unembedded(after, EMBEDDED)
        if not names:
            return 0, self._rows.compare(COMPARED)
        vectors = self._embedder.embed_documents([one.name for one in names])
        kept = self._rows.keep(self._made_by, names, vectors)
        return (names[-1].key, True) if kept else (0, False)
