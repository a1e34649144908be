"""How does the graph take in what is new? A page at a time, of everybody's records or of some users'."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Records, Search, Stored, Vector
from adaptive_memory_core.flow.ports.graph import GraphRows
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.graph.entries import Written, entries
from adaptive_memory_core.store.graph.linked_users import LinkedUsers
from adaptive_memory_core.store.graph.made_as import MadeAs
from adaptive_memory_core.stored_owner import owner_of
from adaptive_memory_core.written_metadata import metadata_of

PAGE = 100  # records that are taken in at a time
GROWTH = 1.1  # times as many titles as were known when a record was read: then it is read again; guess


class TakingIn:
    """It follows the rows of words. `everybody` is said once somebody asks for the graph of all users."""

    def __init__(
        self, rows: GraphRows, store: Records, search: Search, fields: Fields, linked: LinkedUsers, made: MadeAs
    ) -> None:
        self._rows, self._store, self._search, self._fields = rows, store, search, fields
        self._linked, self._made, self.extract = linked, made, made.extract
        self._turn = threading.Lock()
        self._behind_hand: dict[Scope, None] = {}  # users whose graph is made by itself, and may not be complete
        self._to_link: list[Scope] = []  # of these, whose records are all there, and may be linked once more
        self._followed: dict[Scope, int] = {}  # up to which row of their words all is taken in
        self.everybody = False

    def catch_up_with(self, scope: Scope) -> None:
        """Somebody may have written for this user."""
        if not self.everybody:
            self._behind_hand[scope] = None

    def anew(self) -> None:
        """Let go of everything."""
        with self._turn:
            self._made.begin(anew=True)
            self._followed.clear()

    def written(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """These, with their vectors, at once."""
        found = [
            Written(one.stored_id, one.record.text, metadata_of(scope, one.record, self._fields), vector)
            for one, vector in zip(records, vectors, strict=True)
        ]
        self._rows.put(scope, entries(self._rows, scope, found, self._fields, None))

    def page(self, *, growth: float = GROWTH) -> bool:
        """A page of what is new, else of what is to be linked again; whether there may be more."""
        if not (self.everybody or self._behind_hand or self._to_link):
            return False
        with self._turn:
            self._rows.drop_gone()
            if not self._made.is_ours():
                self._behind_hand.clear()
                return False
            if self._of_everybody() if self.everybody else self._of_users():
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
        """A page of one user's; whether any of them had one."""
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
        """Make the passages of these records of what the collection says."""
        by_owner: dict[Scope, list[tuple[str, str, Any]]] = {}
        for stored_id, text, metadata in self._store.rows(list(word_rows)):
            owner = owner_of(metadata, self._fields)
            if owner is not None:
                by_owner.setdefault(owner, []).append((stored_id, text or "", metadata))
        for scope, found in by_owner.items():
            vectors = self._search.vectors(scope, [one for one, _, _ in found])
            written = [Written(*one, vectors.get(one[0]), word_rows[one[0]]) for one in found]
            self._rows.put(scope, entries(self._rows, scope, written, self._fields, self.extract))
