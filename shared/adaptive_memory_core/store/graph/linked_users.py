"""Whose graph is made by itself? That of users whose records name each other's titles, once a question names one.

Where nobody names the channel, users' records are looked through in the background, a sample of them, after some
recalls that found titled records; and again once there are twice as many. What was found stays in the ledger. Of
all other users no graph is made, and a recall looks up in RAM that it is so.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found, Records
from adaptive_memory_core.flow.ports.graph import GraphRows, Links
from adaptive_memory_core.graph.build import split_title
from adaptive_memory_core.graph.links import MOST_SAMPLED, Titled, links_per_record
from adaptive_memory_core.graph.titles import title_of
from adaptive_memory_core.records import Scope

RECALLS = 5  # that found titled records and count, before a user's records are looked through; guess
GIVEN_UP = 50  # recalls that found none, after which nobody looks any more; guess
FIRST = 3  # of the records that a recall found, that are looked at for a title
GROWN = 2.0  # times as many records as were looked through: then they are again; guess
FEWEST = 30  # records of a user's, below which words and vectors find what there is; guess
MOST_USERS = 20_000  # of whom something is kept in RAM
PAGE = 500


@dataclass
class _Known:
    """What is known of a user in this process: what the ledger said, and what came up since."""

    links: Links
    settled: bool  # whether it was looked through, or found not worth it
    titled: bool = False  # whether the last recall found a titled record
    titles: int = 0  # recalls that did
    others: int = 0
    written: int = 0


class LinkedUsers:
    """Each user's part of a scope is looked at by itself."""

    def __init__(
        self, rows: GraphRows, store: Records, fields: Fields, wake: Callable[[], object], *, read_only: bool
    ) -> None:
        self._rows, self._store, self._fields, self._wake, self._read_only = rows, store, fields, wake, read_only
        self._known: dict[Scope, _Known] = {}
        self._due: deque[Scope] = deque()
        self._wanted: deque[Scope] = deque()
        self.turn = threading.RLock()  # of who sees to the next user

    def known_links(self, scope: Scope) -> float | None:
        """As `links`, where the ledger need not be asked for it."""
        if scope.over is None:
            known = self._known.get(scope)
            return None if known is None else known.links.links
        return self.links(scope) if all(part in self._known for part in scope.parts) else None

    def links(self, scope: Scope) -> float:
        """How many titles of others a record names: of the user's own records, or of everyone's, whichever is more."""
        return max(self._of(part).links.links for part in scope.parts)

    def made(self, scope: Scope) -> bool:
        """Whether the graph is made of one of the parts at least, and of each that it is wanted of."""
        found = [self._of(part).links for part in scope.parts]
        return any(one.made for one in found) and all(one.made for one in found if one.wanted)

    def follows(self, scope: Scope) -> bool:
        """Whether what is written for this user goes into the graph."""
        return self._of(scope).links.wanted

    def want(self, scope: Scope) -> None:
        """A question named a title: have it made, in the background, of the parts whose records name each other."""
        if self._read_only:
            return
        for part in scope.parts:
            known = self._of(part).links
            if known.links > 0.0 and not known.wanted and part not in self._wanted:
                self._wanted.append(part)
        self._wake()

    def came_upon(self, scope: Scope, found: Sequence[Found]) -> None:
        known = self._known.get(scope)
        if known is not None and not known.settled:
            known.titled = any(self._title(one) for one in found[:FIRST])

    def counted(self, scope: Scope) -> None:
        """A recall of this user's counted: look through the records after some that found titles."""
        known = self._known.get(scope)
        if known is None or known.settled or self._read_only:
            return
        known.titles, known.others = known.titles + known.titled, known.others + (not known.titled)
        if known.titles >= RECALLS:
            known.settled = True
            self._due.append(scope)
            self._wake()
        known.settled = known.settled or known.others >= GIVEN_UP

    def wrote(self, scope: Scope, count: int) -> None:
        """Of what has grown much since nothing is known."""
        known = self._known.get(scope)
        if known is not None:
            known.written += count
            if known.settled and known.written > (GROWN - 1.0) * max(FEWEST, known.links.records):
                known.settled, known.titles, known.others, known.written = False, 0, 0, 0

    def forget(self, scope: Scope | None = None) -> None:
        """What is known of a scope, or of all, is asked of the ledger again: somebody let go of the graph."""
        for part in list(self._known) if scope is None else scope.parts:
            self._known.pop(part, None)

    @property
    def due(self) -> bool:
        return bool(self._due or self._wanted)

    @property
    def anybody_wanted(self) -> bool:
        return bool(self._wanted)

    def next_wanted(self) -> Scope:
        """The next user whose graph is to be made from now on."""
        scope = self._wanted[0]
        self._keep(scope, self._of(scope).links._replace(wanted=True))
        return self._wanted.popleft()

    def is_made(self, scope: Scope) -> None:
        """All there was is taken in."""
        links = self._of(scope).links
        if links.wanted and not links.made:
            self._keep(scope, links._replace(made=True))

    def look_through(self) -> bool:
        """The next user's records, unless the ledger says what is in them; whether there was one."""
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
        pages = (self._store.rows(ids[start : start + PAGE]) for start in range(0, len(ids), PAGE))
        return [Titled(text or "", title_of(metadata, self._fields)) for page in pages for _, text, metadata in page]

    def _keep(self, scope: Scope, links: Links) -> None:
        with self.turn:
            self._rows.links.keep(scope, links)
            self._of(scope).links = links

    def _of(self, scope: Scope) -> _Known:
        known = self._known.get(scope)
        if known is None:
            if len(self._known) >= MOST_USERS:
                self._known.clear()
            found = self._rows.links.of(scope)
            known = self._known[scope] = _Known(Links() if found is None else found, settled=False)
        return known

    def _title(self, one: Found) -> bool:
        return split_title(one.text or "", title_of(one.metadata, self._fields))[0] is not None
