"""Which records do the names in a cue lead to? The graph in the ledger, kept up with what is written and removed.

It follows the rows of words: whatever program wrote a record, its words are noticed, and then its passage is made
anew. What this memory writes itself is taken in at once. Until somebody asks, or is about to, there is nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found, JudgedQuestion, Records, Search, Stored, Vector
from adaptive_memory_core.flow.ports.graph import NO_LIFTS, GraphFound, GraphRows, Lifts
from adaptive_memory_core.graph.alike_names import unknown_names
from adaptive_memory_core.graph.known_names import MOST_LOOKED_UP
from adaptive_memory_core.graph.names import Extract
from adaptive_memory_core.length_limits import start_and_end
from adaptive_memory_core.policy.graph import Graphs
from adaptive_memory_core.records import Scope, Verdict
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.graph import look as looking
from adaptive_memory_core.store.graph.compared_names import ComparedNames
from adaptive_memory_core.store.graph.linked_users import LinkedUsers
from adaptive_memory_core.store.graph.made_as import MadeAs
from adaptive_memory_core.store.graph.taking_in import TakingIn

NONE_UNKNOWN: Mapping[str, Vector] = MappingProxyType({})
NOT_COMPARED = "not all names are compared yet with those that are like them; the rest is under way"
AT_ONCE = 100  # records that a recall waits for; more are taken in beside it


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
        linked: LinkedUsers,
        compared: ComparedNames,
        extract: Extract | None = None,
    ) -> None:
        self._rows, self._wake, self._linked, self._compared = rows, wake, linked, compared
        self._made = MadeAs(rows, fields, extract)
        self._taking_in = TakingIn(rows, store, search, fields, linked, self._made)
        self._due = False  # whether something may have to be taken in

    @property
    def _asked(self) -> bool:
        """Until somebody looks, or is about to, nothing needs to be kept up with but what is made by itself."""
        return self._taking_in.everybody

    def expect(self) -> None:
        """Somebody is going to look: begin now, and take in at once what is written from now on."""
        if not self._asked:
            self._made.begin()
            self._taking_in.everybody = True
            self._hurry()

    def look(
        self,
        scope: Scope,
        cue: str,
        vector: Vector | None,
        settings: Graphs,
        seeds: Mapping[str, float],
        lifts: Lifts = NO_LIFTS,
        unknown: Mapping[str, Vector] = NONE_UNKNOWN,
    ) -> GraphFound:
        """The records that the cue's names lead to; a note where some are not taken in yet. Of users whose graph is
        made by itself, what others wrote is taken in beside the recalls that count."""
        note = NOT_COMPARED if settings.names_alike > 0.0 and self._compared.due else None
        if self._asked or settings.asks != "linked":
            self.expect()
            note = self._made.note() or self._keep_up(scope) or note
        with self._rows.view(scope) as graph:
            if not graph.passages:
                self._linked.forget(scope)
            found = looking.look(graph, cue, vector, settings, seeds, lifts, unknown)
        return found if note is None else replace(found, note=note)

    def compare_names(self) -> None:
        """Somebody takes names for others that are like them: begin to compare them, beside the calls."""
        if self._compared.want():
            self._hurry()

    def unknown_names(self, scope: Scope, cue: str) -> Sequence[str]:
        """The names in a cue that this scope's graph does not know."""
        read = start_and_end(cue, MOST_LOOKED_UP)
        with self._rows.view(scope) as graph:
            return unknown_names(read, looking.linked(graph, read)) if graph.passages else ()

    def known_links(self, scope: Scope) -> float | None:
        """As `links`, where the ledger need not be asked for it."""
        return self._linked.known_links(scope)

    def links(self, scope: Scope) -> float:
        """How many titles of others each record of this scope names, on average; 0 as long as that is not known."""
        return self._linked.links(scope)

    def made(self, scope: Scope) -> bool:
        """Whether the graph of this scope is there, where nobody asked for everybody's."""
        return self._asked or self._linked.made(scope)

    def want(self, scope: Scope) -> None:
        """Have it made, beside the calls."""
        self._linked.want(scope)

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Taken in at once; by an extractor of the caller's, which may take its time, in the background."""
        self._linked.wrote(scope, len(records))
        if not self._asked and not self._linked.follows(scope):
            return
        if self._made.extract is not None or not self._made.is_ours():
            self._rows.drop([one.stored_id for one in records])
            self._catch_up_with(scope)
        else:
            self._taking_in.written(scope, records, vectors)
            self._names_changed()

    def revising(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an id is of one scope
        """Not known until they are written."""
        self._rows.drop(stored_ids)

    def judged(self, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None:
        """What verdicts teach of sentences is kept apart from the graph, and comes with the question."""

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an id is of one scope
        self._rows.drop(stored_ids)

    def came_upon(self, scope: Scope, found: Sequence[Found], missing: Sequence[str]) -> None:  # noqa: ARG002 - its words go
        """Words are compared with what recalls come upon, and the graph follows them."""
        self._linked.came_upon(scope, found)

    def catch_up(self, scope: Scope) -> None:
        """Where everybody's is asked for, all users' at once."""
        for part in scope.parts:
            self._linked.counted(part)
            if self._asked or self._linked.follows(part):
                self._catch_up_with(part)

    def stored_ids(self) -> set[str]:
        return self._rows.stored_ids()

    def sync(self) -> None:
        """Take in all there is now, where somebody asks for it at all, and look through what is due."""
        while self._see_to_users():
            pass
        while self._taking_in.page(growth=1.0):
            pass
        self._compared.complete()

    def rebuild(self) -> None:
        """Let go of everything, and take it in again."""
        self._taking_in.anew()
        self._taking_in.everybody = True
        self.sync()

    def check(self, *, repair: bool) -> list[Finding]:
        """What does not fit together, and with `repair` the graph made anew."""
        wrong, other = self._rows.faults(), self._made.finding(repaired=repair) if self._asked else None
        if repair and (wrong or other):
            self._make_anew()
        advice = "Call check(repair=True): it is made anew of the records."
        found = [Finding("graph", " ".join(wrong), advice, repair)] if wrong else []
        return found if other is None else [*found, other]

    def _make_anew(self) -> None:
        """Of everybody; where it was made of some users by itself, of each when a question names a title again."""
        if self._asked or not self._rows.links.anybody():
            self.rebuild()
        else:
            self._taking_in.anew()
            self._linked.forget()

    def wait(self) -> float | None:
        return 0.0 if self._due or self._linked.due else None

    def work(self, _going: Going) -> None:
        """The next page; what an error leaves undone is seen by the next recall."""
        self._due = False
        self._due = self._see_to_users() or self._take_in() or self._compared.page()

    def _take_in(self) -> bool:
        more = self._taking_in.page()
        if more:
            self._compared.changed()
        return more

    def _names_changed(self) -> None:
        self._compared.changed()
        if self._compared.due:
            self._hurry()

    def _see_to_users(self) -> bool:
        """Look through the next user's records, or begin to make the next user's graph; whether there was one."""
        with self._linked.turn:
            if not self._linked.anybody_wanted:
                return self._linked.look_through()
            self._made.begin()
            self._catch_up_with(self._linked.next_wanted())
            return True

    def _catch_up_with(self, scope: Scope) -> None:
        self._taking_in.catch_up_with(scope)
        self._hurry()

    def _hurry(self) -> None:
        self._due = True
        self._wake()

    def _keep_up(self, scope: Scope) -> str | None:
        """At once where it is little, else in the background, with a note."""
        waiting = self._rows.waiting(scope, AT_ONCE + 1)
        if waiting == 0:
            return None
        if waiting <= AT_ONCE:
            self._taking_in.page()
            self._names_changed()
            return None
        self._hurry()
        return "the graph is not made of all records yet; the rest is under way"
