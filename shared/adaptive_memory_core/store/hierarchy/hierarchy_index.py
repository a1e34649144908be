"""The hierarchy as an index: observed messages become episodes, semantics and themes in the background.

A message is a record like any other, and can be recalled immediately. The hierarchy is derived from messages in steps,
each in one transaction, and stored in the ledger. Users who never observe have no such rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from adaptive_memory_core.flow.ports.hierarchy import ConversationMessage
from adaptive_memory_core.flow.ports.records import Stored, Vector
from adaptive_memory_core.flow.remember import entry_of, message_to_queue
from adaptive_memory_core.hierarchy.nodes import Hierarchy
from adaptive_memory_core.record_metadata import record_of
from adaptive_memory_core.records import MESSAGE_KIND, Scope
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.hierarchy.growth_steps import (
    Attaching,
    GrowthContext,
    close_episodes,
    distil_episodes,
    stored_note,
)

LOOKED_SECONDS = 60.0  # between two checks whether a conversation has ended
NAMED_AT_ONCE = 16  # themes named in one step
LONGEST_NAME = 100  # characters of a theme's name
Progress = Callable[[int, int], object]


class HierarchyIndex:
    """The index of all users' hierarchies, with its background work and read access for verbs."""

    name = "hierarchy"

    def __init__(
        self, growing: GrowthContext, uuid: Callable[[], str | None], wake: Callable[[], object], *, read_only: bool
    ) -> None:
        self._growing, self._rows, self._wake, self._read_only = growing, growing.rows, wake, read_only
        self._uuid = uuid
        self._attaching = Attaching(growing)
        self._turn = threading.RLock()
        self._watched: set[Scope] | None = None
        self._views: dict[Scope, tuple[int, Hierarchy]] = {}
        self._due = True  # an earlier process may have left work

    def watch(self, scope: Scope) -> None:
        """Add what this user observes from now on."""
        if scope not in self._scopes():
            self._rows.watch(scope)
            self._watched = None

    def view(self, scope: Scope) -> Hierarchy | None:
        """A user's whole hierarchy; the same object until it changes. None for users who never observed."""
        version = self._rows.version(scope)
        if version is None:
            return None
        held = self._views.get(scope)
        if held is None or held[0] != version:
            held = self._views[scope] = (version, self._rows.view(scope))
        return held[1]

    def known(self, scope: Scope, stored_ids: Sequence[str]) -> set[str]:
        """The messages among these that are in the hierarchy or queued for it."""
        return self._rows.known(scope, stored_ids)

    def missed(self, scope: Scope, entries: Sequence[ConversationMessage]) -> None:
        """Queue messages that another program wrote into the collection."""
        if entries:
            self._rows.queue(scope, entries)
            self._hurry()

    def settle(self, scope: Scope, progress: Progress | None = None) -> None:
        """Process all of a user's waiting messages, including the last ones of each conversation."""
        total = done = 0
        while self._step(scope, final=True):
            if progress is not None:
                left = self._rows.waiting(scope) + self._rows.unfinished(scope)
                total = max(total, left)
                done = max(done, total - left)
                progress(done, total)

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:  # noqa: ARG002
        """Queue written messages: records of that kind, and records of other kinds that were observed before."""
        if not self._observes(scope):
            return
        others = [one.stored_id for one in records if one.record.kind != MESSAGE_KIND]
        observed = self._rows.known(scope, others) if others else ()
        messages = [one for one in records if one.record.kind == MESSAGE_KIND or one.stored_id in observed]
        if messages:
            self._rows.touch([one.stored_id for one in messages])  # removes what was derived from their old text
            self._rows.queue(scope, [entry_of(one, self._growing.fields) for one in messages])
            self._hurry()

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an ID has one scope
        self._rows.drop(stored_ids)
        self._hurry()

    def gone(self, stored_ids: Sequence[str]) -> None:
        """Remove messages that another program removed from the collection."""
        if self._rows.watched():
            self._rows.drop(stored_ids)
            self._hurry()

    def stored_ids(self) -> set[str]:
        return self._rows.stored_ids()

    def sync(self) -> None:
        """Apply other programs' changes of the messages of users who observe."""
        for scope in self._scopes():
            new, gone = written_by_others(self._growing, scope)
            self._rows.drop(gone)
            self.missed(scope, new)

    def check(self, *, repair: bool) -> list[Finding]:
        """The faults found in the rows; with `repair` the hierarchies are rebuilt from their messages."""
        wrong = self._rows.faults()
        if wrong and repair:
            for scope in self._scopes():
                self._rows.clear(scope, self._uuid() or "")
                self._attaching.drop_cache(scope)
            self._hurry()
        advice = "Call check(repair=True), which rebuilds the hierarchy from the messages."
        return [Finding("hierarchy", " ".join(wrong), advice, repair)] if wrong else []

    def wait(self) -> float | None:
        if self._due:
            return 0.0
        return LOOKED_SECONDS if self._scopes() else None

    def work(self, going: Going) -> None:
        """Do the next steps for every user, until none is left. After an error they are tried again."""
        self._due = False
        self._watched = None  # other processes may have begun to observe for somebody
        try:
            for scope in self._scopes():
                while going() and self._step(scope, final=False):
                    pass
        except BaseException:
            self._due = True
            raise

    def _step(self, scope: Scope, *, final: bool) -> bool:
        """Do one step for a user; return whether there was work."""
        if self._read_only:
            return False
        with self._turn:
            self._of_this_embedder(scope)
            closed = [close_episodes(self._growing, scope, one, final=final) for one in self._rows.sessions(scope)]
            return (
                any(closed)
                or distil_episodes(self._growing, scope) > 0
                or self._attaching.attach(scope) > 0
                or self._name_themes(scope)
            )

    def _name_themes(self, scope: Scope) -> bool:
        """Name the themes whose members have changed; return whether there were any."""
        model, found = self._growing.roles.theme_name, self._rows.unnamed(scope, NAMED_AT_ONCE)
        for theme, revision, texts in found:
            name, note = (None, None) if model is None else model(texts)
            shown = (name or self._attaching.name_of(scope, theme))[:LONGEST_NAME]
            self._rows.name(scope, theme, revision, shown, stored_note(note))
        return bool(found)

    def _of_this_embedder(self, scope: Scope) -> None:
        """Rebuild the user's semantics if their vectors are of another embedder."""
        own = self._uuid()
        if own is not None and self._rows.vectors_of(scope) != own:
            self._rows.clear(scope, own)
            self._attaching.drop_cache(scope)

    def _observes(self, scope: Scope) -> bool:
        """Whether the user observes, in this process or in another one."""
        return scope in self._scopes() or self._rows.version(scope) is not None

    def _scopes(self) -> set[Scope]:
        found = self._watched
        if found is None:
            found = self._watched = set(self._rows.watched())
        return found

    def _hurry(self) -> None:
        self._due = True
        self._wake()


def written_by_others(growing: GrowthContext, scope: Scope) -> tuple[list[ConversationMessage], list[str]]:
    """New and changed messages of a user, and the IDs of removed ones, compared with the collection."""
    known, fields = growing.rows.text_digests(scope), growing.fields
    new: list[ConversationMessage] = []
    for page in growing.records.pages(scope):
        for one in page:
            record = record_of(scope, one.stored_id, one.text, one.metadata, fields)
            if record.kind != MESSAGE_KIND and one.stored_id not in known:
                continue
            found = message_to_queue(one.stored_id, record.text, one.metadata, fields, at=record.created_at)
            if known.pop(one.stored_id, b"") != found.text_digest:
                new.append(found)
    return new, list(known)
