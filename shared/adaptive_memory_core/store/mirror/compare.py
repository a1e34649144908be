"""How does the mirror become as the collection is? What is new, changed or gone is read in pages, in the background.

Chroma numbers its writes, so that an embedded one is asked only for what was written since the last time. Of a
collection on a server, everything is read again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.let_others_run import let_others_run
from adaptive_memory_core.store.chroma import own_database
from adaptive_memory_core.store.chroma.calls import told
from adaptive_memory_core.store.chroma.changed_since import Written, written_since
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.chroma.write_gate import alone
from adaptive_memory_core.store.edition import Edition
from adaptive_memory_core.store.half_restored import RESTORED
from adaptive_memory_core.store.mirror.differing import Differing, Row, differing
from adaptive_memory_core.store.mirror.in_step import InStep

PAGE = 500  # records that are read at a time
AT_THE_END = 3_000  # records that closing waits for, where others may have written at the same moment as we


class Comparison:
    """The collection and the copies of its records, and up to which write they were compared."""

    def __init__(self, store: ChromaRecords, ledger: Ledger, in_step: InStep, directory: Path | None) -> None:
        self._store, self._in_step, self._directory = store, in_step, directory
        self._ledger, self._rows, self._due = ledger, ledger.mirror, ledger.due_records
        self._edition = Edition(ledger)
        self.changed = 0  # rows that were not as the collection's, so far
        self._written_before: int | None = None  # by us, when the last comparison that was made to its end began
        self._is_worked_off = False  # whether Chroma's tables have what a kill left in its queue of writes
        self._overwritten: Callable[[Sequence[str]], object] = len  # hears of what others wrote over or removed

    def run(self, most: int | None = None) -> Iterator[None]:
        """Compare, a page at a time. Afterwards the mirror is as the collection was at the beginning, and `in_step`
        says whether it still is. Where more than `most` records would have to be read, nothing is done."""
        if self._rows.complete_at() == RESTORED:
            self._in_step.lost()
            return
        known, before, written_before = self._known(), self.changed, self._in_step.written
        self._in_step.compare()
        written = self._written(known)
        if most is not None and (written is None or (known < 0 and written.size > most)):
            return
        yield
        todo = deque(self._listed(written, known))
        if most is not None and len(todo) > most:
            return
        yield
        while todo:
            page = [todo.popleft() for _ in range(min(PAGE, len(todo)))]
            todo += self._renew(page)
            yield
        self._end(written, known, found=self.changed != before)
        self._written_before = written_before

    def _end(self, written: Written | None, known: int, *, found: bool) -> None:
        if written is None or written.last == known:
            if not self._edition.is_over:
                self._in_step.compared(found=found)
            return
        with self._ledger.transaction():
            if self._edition.is_over:
                return
            self._rows.keep_complete_at(str(written.last))
        self._in_step.compared(found=found)

    def tell(self, overwritten: Callable[[Sequence[str]], object]) -> None:
        """Who hears of the records that others wrote over or removed, before the copies are as the collection: who is
        killed in between hears of them again."""
        self._overwritten = overwritten

    def keep_last(self) -> None:
        """Note up to which write the copies are as the collection, where they are: so the next opening knows whether it
        has the same collection, or an older one. What others may have written at the same moment as we is compared
        first: the next opening only looks at what is written from then on."""
        if self._directory is None or not self._in_step.holds():
            return
        if self._in_step.written != self._written_before:
            deque(self.run(AT_THE_END), maxlen=0)
            return
        with alone(self._directory):
            last = own_database.last_write(self._directory, str(self._store.collection.id))
            if last is not None and self._in_step.holds() and not self._edition.is_over:
                self._rows.keep_complete_at(str(last))

    def distrust(self) -> None:
        """The copies are not what they should be: everything is to be read again."""
        self._in_step.lost()
        if self._rows.complete_at() is not None:
            self._rows.keep_complete_at(None)

    def renew(self, stored_ids: Sequence[str]) -> None:
        """Compare these records until nobody writes them meanwhile."""
        left = list(stored_ids)
        while left:
            left = self._renew(left[:PAGE]) + left[PAGE:]

    def _known(self) -> int:
        """The number of the write up to which all was compared; -1 where it was not."""
        kept = self._rows.complete_at()
        return int(kept) if kept is not None and kept.isdecimal() else -1

    def _written(self, known: int) -> Written | None:
        if self._directory is None:
            return None
        if not self._is_worked_off:
            self._store.size()  # Chroma works its queue off when it is first asked for anything
            self._is_worked_off = True
        return written_since(self._directory, str(self._store.collection.id), known)

    def _listed(self, written: Written | None, known: int) -> list[str]:
        """The records that may differ: all of them, unless Chroma says which were written."""
        if written is not None and known >= 0:
            changed = list(written.ids)
            if len(changed) == 0 and written.size == self._rows.size():
                return []
            new = set(changed).difference(self._rows.versions(changed).rows)
            if self._rows.size() + len(new) == written.size:
                return changed
            there = set(self._store.ids())
            return sorted(set(changed) | (there ^ self._rows.stored_ids()))
        return sorted(set(self._store.ids()) | self._rows.stored_ids())

    def _renew(self, page: Sequence[str]) -> list[str]:
        """Make the copies of these as the collection has them; gives those that were written meanwhile."""
        due = self._due.among(page)  # what the mirror has first, and the collection is yet to be told
        page = [one for one in page if one not in due]
        before = self._rows.versions(page)
        if not page or self._edition.is_over:  # else the vectors have another version once they are another's
            return []
        found = self._read(page)
        gone = set(page) - {row[0] for row in found}
        differing = self._differing(found, before.rows)
        known = [one for one in gone if one in before.rows]
        self.changed += len(differing.whole) + len(differing.revised) + len(known)
        if differing.reworded or known:
            self._overwritten([*differing.reworded, *known])
        newer: list[str] = []
        for portion in differing.portions(known, self._store.fields):
            newer += self._rows.renew(portion.rows, portion.gone, before, portion.revised)
            let_others_run()
        return newer

    def _differing(self, found: Sequence[Row], known: Collection[str]) -> Differing:
        ids = [row[0] for row in found if row[0] in known]
        copies = {row[0]: row for row in self._rows.rows(ids)}
        return differing(found, copies, self._rows.vectors(ids), self._store.fields)

    def _read(self, page: Sequence[str]) -> list[Row]:
        include: Any = ["documents", "metadatas", "embeddings"]
        found: Any = told(lambda: self._store.collection.get(ids=list(page), include=include))
        return list(zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True))
