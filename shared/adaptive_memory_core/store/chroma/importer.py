"""The importer: it copies what other programs wrote into the collection to the ledger.

Writes of other clients in this process are intercepted, and imported before their calls return. Writes of other
processes are noticed within `others_seen_seconds`. For an embedded collection, file times show a change, and Chroma's
numbers show which records were written. For a collection on a server, its size, its last record and the records that
recalls returned are checked; then the ids are compared. Everything on a server is read again from time to time.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive_memory_core.errors import AdaptiveMemoryError, StoreError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_values import Extent, MirrorRow
from adaptive_memory_core.record_metadata import REMOVED, exported_digest, owner_of
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.chroma.chroma_calls import DeletedCollectionError, call_chroma, reload_index
from adaptive_memory_core.store.chroma.chroma_changes import (
    FILES,
    WrittenSince,
    file_states,
    written_since,
)
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.embedder_check import EmbedderVersion
from adaptive_memory_core.store.ledger.mirror_rows import EMPTIED, RESTORED

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

FIRST_RECORDS = 200  # records that opening a memory waits for; more are read in the background
SHARE = 3.0  # pauses between comparisons, in multiples of what the last one took
AGAIN_SECONDS = 30.0  # between reading everything on a server, which does not report changes in place
PAGE = 500  # records per query
RETURNED = 200  # latest records returned by recalls, which are compared first on a server
ON_SERVER = "server"  # means that everything was compared, if Chroma's numbers are not available
MOST_GONE = 50  # records that others may always remove at once
DONE = object()


class Importer:
    """A chore of every process that may open the collection. Until everything was compared once, it is not `ready`, and
    recalls query the collection itself."""

    name = "import"

    def __init__(
        self,
        store: ChromaRecords,
        ledger: Ledger,
        directory: Path | None,
        *,
        seen_seconds: float,
        copies: bool,
        copy_limit: int,
        in_ram: bool,
        settle: Callable[[Sequence[str] | None], object],
    ) -> None:
        """`copies` says whether the ledger should have all records, if there are at most `copy_limit` at first.
        `settle` exports pending changes of the given records, or of all."""
        self._store, self._ledger, self._rows, self._due = store, ledger, ledger.mirror, ledger.due_records
        self._directory, self._seen_seconds, self._in_ram = directory, seen_seconds, in_ram
        self.is_on_server = directory is None and not in_ram
        self._copies, self._copy_limit = copies, copy_limit
        self._settle = settle
        self._embedder_version = EmbedderVersion(ledger)
        self.imported: Callable[[Sequence[str]], object] = len  # called after each change, with the deleted ids
        self.ready = copies and ledger.mirror.complete_at() is not None  # whether the ledger has all records
        self._is_deleted = False  # whether the collection was deleted
        self.is_over = False  # whether the memory was closed
        self._same: Hashable = None  # the collection's state at the last comparison
        self._left: Iterator[None] | None = None  # the rest of the comparison in progress
        self._began = self._not_before = -math.inf  # start of the last check, and the earliest next one (monotonic)
        self._all_at = time.monotonic()  # when reading everything on a server last began
        self._returned: deque[str] = deque(maxlen=RETURNED)
        self.turn = threading.RLock()  # of a comparison; taken before `only_writer`, as a comparison may write
        self._is_worked_off = False  # whether Chroma has applied writes that a killed process left in its queue

    def open(self) -> None:
        """Compare the collection with the ledger now, if that is quick."""
        if self._copies and not self.ready:
            with suppress(StoreError):  # it is not reachable, and is compared later
                self._copies = self._store.size() <= self._copy_limit
        if self._copies:
            with self.turn, suppress(AdaptiveMemoryError):  # it is then compared in the background
                self._look(self._compare(FIRST_RECORDS))

    def others_ask(self, stored_ids: Sequence[str] | None, *, writes: bool) -> None:
        """Export pending records before another client of this process reads or writes them. A client that reads
        without giving ids does not wait for a large export."""
        if not self._listens() or not (waiting := self._due.waiting()):
            return
        if waiting <= PAGE or (writes and stored_ids is None):
            self._settle(None)
        elif stored_ids is not None and self._due.among(stored_ids):
            self._settle(stored_ids)

    def others_wrote(self, stored_ids: Sequence[str], by: object) -> None:
        """Import records that another client of this process wrote. A client that spells the directory differently has
        its own index."""
        if self._copies and self._listens():
            if self._directory is not None and by is not self._store.collection._client:
                reload_index(self._store.collection)
            self.take_in(stored_ids, heard=True)

    def others_deleted(self) -> None:
        """Check whether the collection that another client of this process deleted is this one."""
        if self._listens():
            with suppress(DeletedCollectionError), self._noticing_deletion():
                self._store.size()

    def _listens(self) -> bool:
        return not self.is_over and not self._embedder_version.is_over

    def returned(self, stored_ids: Sequence[str]) -> None:
        """Note that recalls returned these records from a server, so that they are compared first."""
        self._returned.extend(stored_ids)

    def take_in(self, stored_ids: Sequence[str], *, heard: bool = False) -> None:
        """Compare these records until nobody writes them meanwhile; `heard` means that a client of this process just
        wrote them."""
        left = list(dict.fromkeys(stored_ids))
        while left:
            left = self._renew(left[:PAGE], heard=heard) + left[PAGE:]

    def distrust(self) -> None:
        """Have everything read again, because the ledger's copies are wrong."""
        self.ready = False
        self._same = None
        if self._rows.complete_at() is not None:
            self._rows.keep_complete_at(None)

    def sync(self, *, everything: bool = True) -> None:
        """Compare everything now, or only what others may have written."""
        if not self._copies:
            return
        with self.turn:
            self._left = None
            # an embedded collection's numbers show every change
            self._look(self._compare(everything=everything and self._directory is None, asked=everything))

    def _look(self, comparison: Iterator[None]) -> None:
        """Run a whole comparison; the background's next one can then wait."""
        began = time.monotonic()
        deque(comparison, maxlen=0)
        if self.ready:
            self._began = began

    def wait(self) -> float | None:
        if not self._copies or self._is_deleted:
            return None
        now = time.monotonic()
        if self._left is not None:
            return 0.0
        return max(0.0, self._began + self._seen_seconds - now, self._not_before - now)

    def work(self, _going: Going) -> None:
        """Compare the next page, or check whether a comparison is needed."""
        with self.turn, self._noticing_deletion():
            if self._left is None:
                self._began = time.monotonic()
                if self._returned:
                    self.take_in([self._returned.popleft() for _ in range(len(self._returned))])
                everything = self._all_is_due()
                if self.ready and not everything and not self._is_due():
                    return
                self._left = self._compare(everything=everything)
            try:
                done = next(self._left, DONE) is DONE
            except BaseException:
                self._left = None
                raise
            if done:
                self._left = None
                now = time.monotonic()
                self._not_before = now + SHARE * (now - self._began)

    def keep_last(self) -> None:
        """Record up to which write the ledger equals the collection, so that the next opening can tell whether the
        collection is the same or older."""
        if self._directory is not None and self.ready:
            self.sync(everything=False)

    @contextmanager
    def _noticing_deletion(self) -> Generator[None, None, None]:
        try:
            yield
        except DeletedCollectionError:
            self._is_deleted, self.ready = True, False  # what asks the collection from now on raises this as well
            raise

    def _is_due(self) -> bool:
        """Whether others may have written since the last comparison."""
        if self._in_ram:
            return False  # nobody else can
        if self._directory is not None:
            return self._state() is None or self._state() != self._same
        return not self._is_as_expected()

    def _all_is_due(self) -> bool:
        if self._directory is not None or time.monotonic() - self._all_at < AGAIN_SECONDS:
            return False
        self._all_at = time.monotonic()
        return True

    def _is_as_expected(self) -> bool:
        """Whether a server's collection has as many records as the ledger, and its last record is known."""
        if self._due.waiting():
            return False
        known = self._size()
        extent = self._store.extent(self._same if isinstance(self._same, Extent) else None)
        if extent.size != known or (extent.last is not None and not self._rows.rows([extent.last])):
            return False
        self._same = extent
        return True

    def _size(self) -> int:
        return self._rows.size() if self._store.only is None else len(self._rows.stored_ids())

    def _state(self) -> Hashable:
        """A value that changes with every change of an embedded collection; None if unknown."""
        return None if self._directory is None else file_states([str(self._directory / name) for name in FILES])

    def _compare(self, most: int | None = None, *, everything: bool = False, asked: bool = False) -> Iterator[None]:
        """Compare page by page. Nothing is done if more than `most` records would have to be read. `asked` says whether
        the memory's user wants it."""
        if self._rows.complete_at() in ((RESTORED,) if asked else (RESTORED, EMPTIED)):
            return
        state, known = self._state(), self._known()
        written = self._written(-1 if everything else known)
        if most is not None and self._directory is not None and written is None:
            return
        todo = deque(self._listed(written, known, everything=everything, asked=asked))
        if most is not None and len(todo) > most:
            return
        if todo and self._directory is not None:
            reload_index(self._store.collection)
        yield
        while todo:
            page = [todo.popleft() for _ in range(min(PAGE, len(todo)))]
            todo += self._renew(page)
            yield
        self._end(written, state)

    def _end(self, written: WrittenSince | None, state: Hashable) -> None:
        """Record that the ledger equals the collection as of the beginning of the comparison."""
        complete_at = ON_SERVER if written is None else str(written.last)
        if self._store.only is None and self._rows.complete_at() != complete_at:
            with self._ledger.transaction():
                if self._embedder_version.is_over:
                    return
                self._rows.keep_complete_at(complete_at)
        self._same, self.ready = state, self._copies

    def _known(self) -> int:
        """The number of the write up to which everything was compared; -1 if there is none."""
        kept = self._rows.complete_at()
        return int(kept) if kept is not None and kept.isdecimal() else -1

    def _written(self, known: int) -> WrittenSince | None:
        if self._directory is None:
            return None
        if not self._is_worked_off:
            self._store.size()  # Chroma applies its queue at the first query
            self._is_worked_off = True
        return written_since(self._directory, str(self._store.collection.id), known)

    def _listed(self, written: WrittenSince | None, known: int, *, everything: bool, asked: bool) -> list[str]:
        """The records that may differ."""
        if written is not None and known >= 0 and not everything:
            changed = list(written.ids)
            new = set(changed).difference(self._rows.versions(changed).rows)
            if self._rows.size() + len(new) == written.size:
                return changed
            there, copied = self._there_and_copied(asked=asked)
            return sorted(set(changed) | (there ^ copied))
        there, copied = self._there_and_copied(asked=asked)
        if self._directory is None and not everything and self._rows.complete_at() is not None:
            return sorted(there ^ copied)
        return sorted(there | copied)

    def _there_and_copied(self, *, asked: bool) -> tuple[set[str], set[str]]:
        """The ids of the collection and of the ledger. If more than half of the records are gone at once, the
        collection counts as an older copy. Then it is imported only if that was `asked` for."""
        copied = self._rows.stored_ids()
        there = set(self._store.ids())
        gone = copied - there
        if not asked and len(gone) > max(MOST_GONE, len(copied) / 2):
            gone -= self._due.among(gone)
        if asked or len(gone) <= max(MOST_GONE, len(copied) / 2):
            return there, copied
        self._rows.keep_complete_at(EMPTIED)
        raise StoreError(
            f"{len(gone):,} of {len(copied):,} records are gone from the collection {self._store.collection.name!r} at "
            "once. The ledger keeps them. check(repair=True) writes them again; sync() removes them."
        )

    def _renew(self, page: Sequence[str], *, heard: bool = False) -> list[str]:
        """Update the copies of these records from the collection; return those that were written meanwhile."""
        before = self._rows.versions(page)  # first: else a record exported meanwhile would go unnoticed
        due = self._due.among(page)  # the ledger's version of these is newer, and still to be exported
        page = [one for one in page if one not in due]
        if not page or self._embedder_version.is_over:  # if it is replaced later, `before` no longer matches
            return []
        found = self._read(page)
        gone = set(page) - {row[0] for row in found}
        differing = self._differing(found, before.rows)
        known = [one for one in gone if one in before.rows]
        if not heard and self.is_on_server and (late := self._late_exports(found, differing, known)):
            self._due.mark(late, gone=False)  # the ledger's version is exported again
            return self._renew([one for one in page if one not in late])
        newer: list[str] = []
        for portion in differing.portions(known, self._store.fields):
            newer += self._rows.renew(portion.rows, portion.gone, before, portion.revised)
        if differing.whole or differing.revised or known:
            self.imported([one for one in known if one not in newer])
        return newer

    def _late_exports(self, found: Sequence[ComparedRow], differing: Differing, gone: Sequence[str]) -> list[str]:
        """The records that differ because of a late write or removal by an exporter that had been stopped."""
        fields, changed = self._store.fields, {row[0] for row in differing.whole} | differing.revised.keys()
        ours = {row[0]: exported_digest(*row, fields) for row in self._rows.rows(sorted(changed))}
        theirs = {row[0]: exported_digest(*row[:3], fields) for row in found if row[0] in ours}
        of = {digest: one for one, digest in theirs.items() if digest != ours[one]}
        of |= {exported_digest(one, REMOVED, None, fields): one for one in gone}
        return [of[one] for one in self._ledger.exports.among(list(of))]

    def _differing(self, found: Sequence[ComparedRow], known: Collection[str]) -> Differing:
        ids = [row[0] for row in found if row[0] in known]
        copies = {row[0]: row for row in self._rows.rows(ids)}
        return differing(found, copies, self._rows.vectors(ids), self._store.fields)

    def _read(self, page: Sequence[str]) -> list[ComparedRow]:
        include: Any = ["documents", "metadatas", "embeddings"]
        collection = self._store.collection
        found: Any = call_chroma(lambda: collection.get(ids=list(page), include=include))
        return list(zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True))


ALIKE = 1e-4  # difference up to which two unit vectors count as equal: Chroma stores single precision
PORTION = 50  # records per transaction: recalls of this process wait for its end
ComparedRow = tuple[str, str | None, Metadata | None, Any]
CopyInLedger = tuple[str, str | None, Metadata | None]


class Portion(NamedTuple):
    """The changes of one transaction: rows of each owner, deleted records, and metadata of otherwise unchanged
    copies."""

    rows: Mapping[Scope | None, Sequence[MirrorRow]]
    gone: Sequence[str]
    revised: Mapping[str, Metadata | None]


class Differing(NamedTuple):
    """The records that the ledger lacks or has with other content, and those with only other metadata."""

    whole: Sequence[ComparedRow]
    revised: Mapping[str, Metadata | None]

    def portions(self, gone: Sequence[str], fields: Fields) -> Iterator[Portion]:
        """All changes and deletions, in portions."""
        for rows in _parts(self.whole):
            owners: dict[Scope | None, list[MirrorRow]] = {}
            for stored_id, text, metadata, vector in rows:
                copy = MirrorRow(stored_id, text, metadata, np.asarray(vector, dtype="<f4").tobytes())
                owners.setdefault(owner_of(metadata, fields), []).append(copy)
            yield Portion(owners, (), {})
        for some in _parts(list(self.revised.items())):
            yield Portion({}, (), dict(some))
        for ids in _parts(gone):
            yield Portion({}, ids, {})


def differing(
    found: Sequence[ComparedRow], copies: Mapping[str, CopyInLedger], vectors: Mapping[str, bytes], fields: Fields
) -> Differing:
    """The differences between the collection's rows and the ledger's copies and vectors, if it has any.

    >>> tea, hot = ("a", "tea", {"n": 1}, [1.0]), {"a": ("a", "tea", {"n": 2})}
    >>> one = np.array([1.0], dtype="<f4").tobytes()
    >>> differing([tea], hot, {"a": one}, Fields())
    Differing(whole=[], revised={'a': {'n': 1}})
    >>> differing([tea], {"a": tea[:3]}, {"a": one}, Fields())
    Differing(whole=[], revised={})
    >>> differing([tea], {}, {}, Fields()).whole == [tea]
    True
    """
    whole, revised = list[ComparedRow](), dict[str, Metadata | None]()
    for row in found:
        stored_id, copy = row[0], copies.get(row[0])
        if copy is None or not _is_alike(row[3], vectors.get(stored_id)) or not _same_but_metadata(row, copy, fields):
            whole.append(row)
        elif (copy[2] or None) != (row[2] or None):
            revised[stored_id] = row[2]
    return Differing(whole, revised)


def _same_but_metadata(row: ComparedRow, copy: CopyInLedger, fields: Fields) -> bool:
    return copy[1] == row[1] and owner_of(copy[2], fields) == owner_of(row[2], fields)


def _is_alike(vector: Any, kept: bytes | None) -> bool:
    one = np.asarray(vector, dtype="<f4")
    if kept is None or one.nbytes != len(kept):
        return False
    other = np.frombuffer(kept, dtype="<f4")
    lengths = float(np.linalg.norm(one)) or 1.0
    return bool(np.abs(one - other).max(initial=0.0) <= ALIKE * lengths)


def _parts(ones: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(ones), PORTION):
        yield ones[start : start + PORTION]
