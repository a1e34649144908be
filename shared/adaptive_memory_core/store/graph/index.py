"""Which records do the names in a cue lead to? The graph in the ledger, kept up with what is written and removed.

It follows the rows of words: whatever program wrote a record, its words are noticed, and then its passage is made
anew. What this memory writes itself is taken in at once. Until somebody asks, or is about to, there is nothing to do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adaptive_memory_core.flow.ports import Found, JudgedQuestion, Records, Search, Stored, Vector
from adaptive_memory_core.flow.ports.graph import NO_LIFTS, GraphFound, GraphRows, Lifts
from adaptive_memory_core.graph.names import Extract
from adaptive_memory_core.policy.graph import Graphs
from adaptive_memory_core.records import Fields, Scope, Verdict
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.graph import look as looking
from adaptive_memory_core.store.graph.entries import Written, entries
from adaptive_memory_core.store.graph.made_as import MadeAs
from adaptive_memory_core.stored_metadata import metadata_of, owner_of

AT_ONCE = 100  # records that a recall waits for; more are taken in beside it
PAGE = 100  # records that are taken in at a time
GROWTH = 1.1  # times as many titles as were known when a record was read: then it is read again; guess


class GraphIndex:
    """The graph over a collection that others may write to as well."""

    name = "graph"

    def __init__(
        self,
        rows: GraphRows,
        store: Records,
        search: Search,
        fields: Fields,
        wake: Callable[[], object],
        extract: Extract | None = None,
    ) -> None:
        self._rows, self._store, self._search, self._fields = rows, store, search, fields
        self._wake, self._extract = wake, extract
        self._made = MadeAs(rows, fields, extract)
        self._turn = threading.Lock()
        self._asked = False  # until somebody looks, or is about to, nothing needs to be kept up with
        self._due = False  # whether something may have to be taken in

    def expect(self) -> None:
        """Somebody is going to look: begin now, and take in at once what is written from now on."""
        if not self._asked:
            self._made.begin()
            self._asked = self._due = True
            self._wake()

    def look(
        self,
        scope: Scope,
        cue: str,
        vector: Vector | None,
        settings: Graphs,
        seeds: Mapping[str, float],
        lifts: Lifts = NO_LIFTS,
    ) -> GraphFound:
        """The records that the cue's names lead to; a note where some are not taken in yet."""
        self.expect()
        note = self._made.note() or self._keep_up(scope)
        with self._rows.view(scope) as graph:
            found = looking.look(graph, cue, vector, settings, seeds, lifts)
        return found if note is None else replace(found, note=note)

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Taken in at once; by an extractor of the caller's, which may take its time, in the background."""
        if not self._asked:
            return
        if self._extract is not None or not self._made.is_ours():
            self._rows.drop([one.stored_id for one in records])
            self._hurry()
            return
        found = [
            Written(one.stored_id, one.record.text, metadata_of(scope, one.record, self._fields), vector)
            for one, vector in zip(records, vectors, strict=True)
        ]
        self._rows.put(scope, entries(self._rows, scope, found, self._fields, None))

    def revising(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an id is of one scope
        """Not known until they are written."""
        self._rows.drop(stored_ids)

    def judged(self, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None:
        """What verdicts teach of sentences is kept apart from the graph, and comes with the question."""

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an id is of one scope
        self._rows.drop(stored_ids)

    def came_upon(self, scope: Scope, found: Sequence[Found], missing: Sequence[str]) -> None:
        """Words are compared with what recalls come upon, and the graph follows them."""

    def catch_up(self, scope: Scope) -> None:  # noqa: ARG002 - all users' at once
        if self._asked:
            self._hurry()

    def stored_ids(self) -> set[str]:
        return self._rows.stored_ids()

    def sync(self) -> None:
        """Take in all there is now, where somebody asks for it at all."""
        while self._asked and self._take_in(growth=1.0):
            pass

    def rebuild(self) -> None:
        """Let go of everything, and take it in again."""
        with self._turn:
            self._made.begin(anew=True)
        self._asked = True
        self.sync()

    def check(self, *, repair: bool) -> list[Finding]:
        """What does not fit together, and with `repair` the graph made anew."""
        wrong, other = self._rows.faults(), self._made.finding(repaired=repair) if self._asked else None
        if repair and (wrong or other):
            self.rebuild()
        advice = "Call check(repair=True): it is made anew of the records."
        found = [Finding("graph", " ".join(wrong), advice, repair)] if wrong else []
        return found if other is None else [*found, other]

    def wait(self) -> float | None:
        return 0.0 if self._due else None

    def work(self, _going: Going) -> None:
        """The next page; what an error leaves undone is seen by the next recall."""
        self._due = False
        self._due = self._take_in()

    def _hurry(self) -> None:
        self._due = True
        self._wake()

    def _keep_up(self, scope: Scope) -> str | None:
        """At once where it is little, else in the background, with a note."""
        waiting = self._rows.waiting(scope, AT_ONCE + 1)
        if waiting == 0:
            return None
        if waiting <= AT_ONCE:
            self._take_in()
            return None
        self._hurry()
        return "the graph is not made of all records yet; the rest is under way"

    def _take_in(self, *, growth: float = GROWTH) -> bool:
        """A page of what is new, else of what is to be linked again; whether there may be more."""
        with self._turn:
            self._rows.drop_gone()
            if not self._made.is_ours():
                return False
            behind = self._rows.behind(PAGE)
            if behind:
                self._put({stored_id: row for row, stored_id in behind})
                self._rows.followed(behind[-1][0])
                return True
            again = self._rows.to_link_again(PAGE, growth=growth)
            if again:
                self._put(dict.fromkeys(again))
            return bool(again)

    def _put(self, word_rows: Mapping[str, int | None]) -> None:
        """Make the passages of these records of what the collection says."""
        by_owner: dict[Scope, list[tuple[str, str, Any]]] = {}
        for stored_id, text, metadata in self._store.rows(list(word_rows)):
            owner = owner_of(metadata, self._fields)
            if owner is not None:
                by_owner.setdefault(owner, []).append((stored_id, text or "", metadata))
        for scope, found in by_owner.items():
            vectors = self._search.vectors(scope, [one for one, _, _ in found])
            written = [Written(*one, vectors.get(one[0]), word_rows[one[0]]) for one in found]
            self._rows.put(scope, entries(self._rows, scope, written, self._fields, self._extract))
