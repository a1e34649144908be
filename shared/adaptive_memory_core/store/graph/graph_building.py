"""Building the graph: adding records a page at a time, comparing names, and finding users whose records mention each
other's titles.

Names are compared only if a policy uses similar names (`Graphs.names_alike`), and embedded only then or for GAM-RAG's
form. The embedder is called while no connection and no lock is held.

If no policy asks for the channel, a sample of a user's records is read in the background, after some recalls that found
titled records, and again once there are twice as many records. The result is stored in the ledger. Users without
linked records get no graph.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive_memory_core.flow.ports.graph import GraphEntry, Links
from adaptive_memory_core.graph.build import (
    MOST_SAMPLED,
    Titled,
    build_passage,
    links_per_record,
    record_title,
    split_title,
)
from adaptive_memory_core.graph.names import Extract, handle, names_in_sentence
from adaptive_memory_core.record_metadata import metadata_of, owner_of

if TYPE_CHECKING:
    from adaptive_memory_core.fields import Fields
    from adaptive_memory_core.flow.ports.models import EmbedderPort
    from adaptive_memory_core.flow.ports.records import Stored, Vector
    from adaptive_memory_core.records import Metadata, Scope
    from adaptive_memory_core.store.graph.graph_index import GraphSetting
    from adaptive_memory_core.store.ledger.graph_rows import LedgerGraph
    from adaptive_memory_core.store.ledger.graph_view import LedgerGraphAlike
    from adaptive_memory_core.store.ledger_records import LedgerRecords
    from adaptive_memory_core.store.mirror.record_search import RecordSearch

PAGE = 100  # records that are added at a time
GROWTH = 1.1  # growth of the number of titles after which a record is read again; guess


class GraphAdditions:
    """Adds records to the graph by following the rows of words."""

    def __init__(
        self,
        rows: LedgerGraph,
        store: LedgerRecords,
        search: RecordSearch,
        fields: Fields,
        linked: LinkedUsers,
        made: GraphSetting,
    ) -> None:
        self._rows, self._store, self._search, self._fields = rows, store, search, fields
        self._linked, self._made, self.extract = linked, made, made.extract
        self._turn = threading.Lock()
        self._behind_hand: dict[Scope, None] = {}  # users whose graph is built automatically and may be incomplete
        self._to_link: list[Scope] = []  # users whose records are all added, but may need linking again
        self._followed: dict[Scope, int] = {}  # the last row of words that was added, by user

    def catch_up_with(self, scope: Scope) -> None:
        """Check this user for new records: another process may have written some."""
        if not self._linked.everybody:
            self._behind_hand[scope] = None

    def anew(self) -> None:
        """Remove the whole graph, and use this memory's setting for the next one."""
        with self._turn:
            self._made.begin(from_start=True)
            self._followed.clear()

    def written(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Add these records with their vectors at once."""
        found = [
            AddedRecord(one.stored_id, one.record.text, metadata_of(scope, one.record, self._fields), vector)
            for one, vector in zip(records, vectors, strict=True)
        ]
        self._rows.put(scope, graph_entries(self._rows, scope, found, self._fields, None))

    def page(self, *, growth: float = GROWTH) -> bool:
        """Add a page of new records or, if there are none, link one again. Return whether there may be more."""
        if not (self._linked.everybody or self._behind_hand or self._to_link):
            return False
        with self._turn:
            self._rows.drop_gone()
            if not self._made.is_ours():
                self._behind_hand.clear()
                return False
            if self._of_everybody() if self._linked.everybody else self._of_users():
                return True
            again = self._rows.to_link_again(PAGE, growth=growth)
            self._put(dict.fromkeys(again))
            while not again and self._to_link:
                self._linked.is_made(self._to_link.pop())
            return bool(again)

    def _of_everybody(self) -> bool:
        behind = self._rows.behind(PAGE)
        if behind:
            self._put({stored_id: row for row, stored_id in behind})
            self._rows.followed(behind[-1][0])
        return bool(behind)

    def _of_users(self) -> bool:
        """Add a page of one user's new records; return whether there were any."""
        while self._behind_hand:
            scope = next(iter(self._behind_hand))
            behind = self._rows.behind_of(scope, PAGE, self._followed.get(scope, 0))
            if behind:
                self._put({stored_id: row for row, stored_id in behind})
                self._followed[scope] = behind[-1][0]
                return True
            self._to_link.append(scope)
            self._behind_hand.pop(scope, None)
        return False

    def _put(self, word_rows: Mapping[str, int | None]) -> None:
        """Build the passages of these records from their texts in the collection."""
        by_owner: dict[Scope, list[tuple[str, str, Any]]] = {}
        for stored_id, text, metadata in self._store.rows(list(word_rows)):
            owner = owner_of(metadata, self._fields)
            if owner is not None:
                by_owner.setdefault(owner, []).append((stored_id, text or "", metadata))
        for scope, found in by_owner.items():
            vectors = self._search.vectors(scope, [one for one, _, _ in found])
            written = [AddedRecord(*one, vectors.get(one[0]), word_rows[one[0]]) for one in found]
            self._rows.put(scope, graph_entries(self._rows, scope, written, self._fields, self.extract))


class AddedRecord(NamedTuple):
    """A record as stored in the collection."""

    stored_id: str
    text: str
    metadata: Metadata | None
    vector: Any
    word_row: int | None = None


def graph_entries(
    rows: LedgerGraph, scope: Scope, records: Sequence[AddedRecord], fields: Fields, extract: Extract | None
) -> list[GraphEntry]:
    """The records' parts of the graph. Their own titles are found in the other texts, too."""
    titles = {one.stored_id: record_title(one.metadata, fields) for one in records}
    new = {handle(named) for one in records if (named := split_title(one.text, titles[one.stored_id])[0])}

    def known(possible: Collection[str]) -> set[str]:
        return rows.titles(scope, possible) | (new & set(possible))

    return [
        GraphEntry(
            one.stored_id,
            build_passage(one.text, titles[one.stored_id], known, extract or names_in_sentence),
            b"" if one.vector is None else np.asarray(one.vector, dtype="<f2").tobytes(),
            one.word_row,
        )
        for one in records
    ]


EMBEDDED, COMPARED = 256, 1_024  # names at a time


class ComparedNames:
    """Embeds and compares names in the background, once this process needs it (`wanted`)."""

    def __init__(self, rows: LedgerGraphAlike, embedder: EmbedderPort, made_by: str | None, *, read_only: bool) -> None:
        self._rows, self._embedder, self._made_by, self._read_only = rows, embedder, made_by, read_only
        self._after = 0  # the key up to which all names have a vector, in this round
        self.wanted = self.due = False

    def want(self) -> bool:
        """Begin to compare names; return whether this was the first request."""
        begins = not self.wanted and not self._read_only
        if begins:
            self.wanted = self.due = True
        return begins

    def changed(self) -> None:
        """Note that there may be new names."""
        self.due = self.wanted

    def page(self) -> bool:
        """Embed some names or, if all are embedded, compare some. Return whether there may be more. Two threads may do
        this at once."""
        if not self.due:
            return False
        self.due = False  # names added from now on set it again
        try:
            self._after, more = self._step(self._after)
        except BaseException:
            self.due = True
            raise
        self.due = self.due or more
        return self.due

    def embed_all(self) -> None:
        """Embed all names without comparing them."""
        after, more = 0, True
        while more:
            after, more = self._embed(after)

    def complete(self) -> None:
        """Embed and compare all names now."""
        after, more, self.due = 0, self.wanted, False  # names added from now on set it again
        try:
            while more:
                after, more = self._step(after)
        except BaseException:
            self.due = self.wanted
            raise

    def _step(self, after: int) -> tuple[int, bool]:
        after, more = self._embed(after)
        return (after, True) if more else (0, self._rows.compare(COMPARED))

    def _embed(self, after: int) -> tuple[int, bool]:
        """Embed some names after the key `after`; return the last key, and whether there may be more."""
        names = self._rows.unembedded(after, EMBEDDED)
        if not names:
            return 0, False
        vectors = self._embedder.embed_documents([one.name for one in names])
        kept = self._rows.keep(self._made_by, names, vectors)
        return (names[-1].key, True) if kept else (0, False)


RECALLS = 5  # that count as reads, before a user's records are sampled; guess
GROWN = 2.0  # growth of the number of records after which they are sampled again; guess
FEWEST = 30  # records of a user; with fewer, words and vectors are enough; guess
MOST_USERS = 20_000  # whose state is cached in RAM
SAMPLE_PAGE = 500


@dataclass
class _Known:
    """A user's state in this process: the links stored in the ledger, and the activity since."""

    links: Links
    settled: bool  # whether the records were sampled or are queued for it
    recalls: int = 0  # since then, that count as reads
    written: int = 0


class LinkedUsers:
    """Finds the users whose records mention each other's titles. Each part of a scope is checked separately."""

    def __init__(
        self, rows: LedgerGraph, store: LedgerRecords, fields: Fields, wake: Callable[[], object], *, read_only: bool
    ) -> None:
        self._rows, self._store, self._fields, self._wake, self._read_only = rows, store, fields, wake, read_only
        self.known: dict[Scope, _Known] = {}
        self._due: deque[Scope] = deque()
        self._wanted: deque[Scope] = deque()
        self.turn = threading.RLock()  # held by the thread that handles the next user
        self.everybody = False  # whether the graph of all users is needed

    def links(self, scope: Scope) -> float:
        """The average number of other records' titles in a record: the greatest of the scope's parts."""
        return max(self._of(part).links.links for part in scope.parts)

    def made(self, scope: Scope) -> bool:
        """Whether the graph exists for at least one part of the scope, and for every part that needs it."""
        found = [self._of(part).links for part in scope.parts]
        return any(one.made for one in found) and all(one.made for one in found if one.wanted)

    def follows(self, scope: Scope) -> bool:
        """Whether records written for this user are added to the graph."""
        return self._of(scope).links.wanted

    def want(self, scope: Scope) -> None:
        """Build the graph in the background, because a question mentioned a title. Only the parts of the scope whose
        records are linked are added."""
        if self._read_only:
            return
        for part in scope.parts:
            known = self._of(part).links
            if known.links > 0.0 and not known.wanted and part not in self._wanted:
                self._wanted.append(part)
        self._wake()

    def counted(self, scope: Scope) -> bool:
        """Note a recall of this user that counts as a read; after some, sample the records. Return whether records
        written for this user are added to the graph."""
        known = self.known.get(scope)
        if known is None:
            return self.follows(scope)
        if not known.settled and not self._read_only:
            known.recalls += 1
            if known.recalls >= RECALLS:
                known.settled = True
                self._due.append(scope)
                self._wake()
        return known.links.wanted

    def wrote(self, scope: Scope, count: int) -> None:
        """Note records written for this user; after much growth, they are sampled again."""
        known = self.known.get(scope)
        if known is not None:
            known.written += count
            if known.settled and known.written > (GROWN - 1.0) * max(FEWEST, known.links.records):
                known.settled, known.recalls, known.written = False, 0, 0

    def forget(self, scope: Scope | None = None) -> None:
        """Clear the cache for a scope, or for all, because the graph was removed. The ledger is read again."""
        for part in list(self.known) if scope is None else scope.parts:
            self.known.pop(part, None)

    @property
    def due(self) -> bool:
        return bool(self._due or self._wanted)

    @property
    def anybody_wanted(self) -> bool:
        return bool(self._wanted)

    def next_wanted(self) -> Scope:
        """Take the next user from the queue and note in the ledger that this user's graph is needed."""
        scope = self._wanted[0]
        self._keep(scope, self._of(scope).links._replace(wanted=True))
        return self._wanted.popleft()

    def is_made(self, scope: Scope) -> None:
        """Note that all of this user's records were added."""
        links = self._of(scope).links
        if links.wanted and not links.made:
            self._keep(scope, links._replace(made=True))

    def look_through(self) -> bool:
        """Sample the next user's records, unless the ledger has a recent result. Return whether there was a user."""
        if not self._due:
            return False
        scope = self._due[0]
        known = self._rows.links.of(scope)
        count, ids = self._rows.links.sample(scope, MOST_SAMPLED)
        if known is None or count > GROWN * known.records:
            links = links_per_record(self._read(ids), count) if count >= FEWEST else 0.0
            wanted, made = (False, False) if known is None else (known.wanted, known.made)
            self._keep(scope, Links(count, links, wanted, made))
        else:
            self._of(scope).links = known
        self._due.popleft()
        return True

    def _read(self, ids: Sequence[str]) -> list[Titled]:
        """The records with their titles; empty if no record in the first page has a title."""
        found: list[Titled] = []
        for start in range(0, len(ids), SAMPLE_PAGE):
            rows = self._store.rows(ids[start : start + SAMPLE_PAGE])
            found += [Titled(text or "", record_title(metadata, self._fields)) for _, text, metadata in rows]
            if not any(split_title(*one)[0] for one in found):
                return []
        return found

    def _keep(self, scope: Scope, links: Links) -> None:
        with self.turn:
            self._rows.links.keep(scope, links)
            self._of(scope).links = links

    def _of(self, scope: Scope) -> _Known:
        known = self.known.get(scope)
        if known is None:
            if len(self.known) >= MOST_USERS:
                self.known.clear()
            found = self._rows.links.of(scope)
            known = self.known[scope] = _Known(Links() if found is None else found, settled=False)
        return known
