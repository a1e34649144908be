"""The steps by which a hierarchy grows: closing and distilling episodes, and attaching semantics to themes.

The changes of attaching are calculated without a lock, since recalls read the same file. They are stored if the rows
have not been changed in the meantime.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive_memory_core.cue.unrelated_questions import UNRELATED
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.hierarchy import (
    DueEpisode,
    Growth,
    MessageGroup,
    NewSemantic,
    Queued,
    ThemesVersion,
    Written,
)
from adaptive_memory_core.flow.ports.models import EmbedderPort, EpisodeText, FindBoundary, Line, Roles
from adaptive_memory_core.hierarchy.episodes import Decided, episode_title, narrative_of, starts
from adaptive_memory_core.hierarchy.grow import ThemeClusters
from adaptive_memory_core.hierarchy.neighbours import unit_vectors
from adaptive_memory_core.hierarchy.nodes import (
    Distilled,
    HierarchyMessage,
    SemanticKey,
    ThemeKey,
    distinctive_terms,
    stems,
)
from adaptive_memory_core.hierarchy.semantics import SEMANTICS, Stated, distil, of_its_speaker, replaced
from adaptive_memory_core.policy.advanced import Hierarchies
from adaptive_memory_core.record_metadata import belongs
from adaptive_memory_core.records import Scope

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.hierarchy_rows import LedgerHierarchy
    from adaptive_memory_core.store.ledger.mirror_rows import LedgerMirror
    from adaptive_memory_core.store.ledger_records import LedgerRecords
    from adaptive_memory_core.store.mirror.record_search import RecordSearch


@dataclass
class GrowthContext:
    """The parts that the steps of growth share."""

    rows: LedgerHierarchy
    mirror: LedgerMirror
    records: LedgerRecords
    search: RecordSearch
    embedder: EmbedderPort
    fields: Fields
    roles: Roles
    settings: Callable[[], Hierarchies]
    now: Callable[[], float]
    transaction: Callable[[], Any]
    _unrelated: list[Any] = field(default_factory=list)

    def messages_of(self, scope: Scope, queued: Sequence[Queued], *, vectors: bool) -> list[HierarchyMessage | None]:
        """The messages from the mirror or else the collection; None for a message that was removed or now belongs to
        another user."""
        ids = [one.entry.stored_id for one in queued]
        found = {row[0]: row for row in self.mirror.rows(ids)}
        if missing := [one for one in ids if one not in found]:
            found |= {row[0]: row for row in self.records.rows(missing)}
        known = self._vectors(scope, ids) if vectors else {}
        return [
            HierarchyMessage(one, each.entry.speaker, found[one][1] or "", each.entry.at, known.get(one))
            if one in found and belongs(found[one][2], scope, self.fields)
            else None
            for one, each in zip(ids, queued, strict=True)
        ]

    def _vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Any]:
        known = {one: np.frombuffer(blob, dtype="<f4") for one, blob in self.mirror.vectors(stored_ids).items()}
        missing = [one for one in stored_ids if one not in known]
        return known | (self.search.vectors(scope, missing) if missing else {})

    def present(
        self, scope: Scope, messages: Sequence[Queued], *, vectors: bool = False
    ) -> list[HierarchyMessage] | None:
        """The messages with their texts. If some are gone, remove these from the ledger and return None."""
        found = self.messages_of(scope, messages, vectors=vectors)
        gone = [one.entry.stored_id for one, message in zip(messages, found, strict=True) if message is None]
        if gone:
            self.rows.drop(gone)
            return None
        return [one for one in found if one is not None]

    def unrelated(self) -> Any:
        """The mean vector of unrelated texts for this embedder."""
        if not self._unrelated:
            self._unrelated.append(unit_vectors(self.embedder.embed_documents(UNRELATED)).mean(axis=0))
        return self._unrelated[0]


def stored_note(note: str | None) -> str | None:
    """A note without the model's words, which may quote a message that is forgotten later.

    >>> stored_note("the judge was not believed: it said 'I own a boat', which is not the JSON that it was asked for")
    'the judge was not believed'
    >>> stored_note("the judge failed: openai:m: APIError: you said: I own a boat"), stored_note(None)
    ('the judge failed: openai:m: APIError', None)
    """
    if note is None or " it said " in note:
        return None if note is None else note.partition(":")[0]
    return ": ".join(note.split(": ")[:3])


def lines_of(messages: Sequence[HierarchyMessage]) -> list[Line]:
    return [Line(one.speaker, one.text, one.at) for one in messages]


EPISODE_PAGE = 200  # messages of a conversation that are processed together


def close_episodes(growing: GrowthContext, scope: Scope, session: str, *, final: bool) -> bool:
    """Do one step for one conversation; return whether there may be more. With `final` the last messages become an
    episode too, which stays open for later messages."""
    found = growing.rows.conversation(scope, session, EPISODE_PAGE)
    waiting = [one for one in found if one.episode is None]
    if not waiting:
        return False
    late = growing.rows.episode_at(scope, session, waiting[0].entry.place)
    if late is not None:
        at = waiting[0].entry.at
        return growing.rows.assign(scope, session, [MessageGroup(late, [waiting[0].key], at, at, open=False)])
    messages = growing.present(scope, found, vectors=True)
    if messages is None:
        return True
    ends = final or _is_idle(growing, waiting[-1])
    whole = ends and len(waiting) < EPISODE_PAGE
    groups = _groups(growing, found, messages, whole=whole)
    return bool(groups) and growing.rows.assign(scope, session, groups)


def _is_idle(growing: GrowthContext, last: Queued) -> bool:
    """Whether a message sent now would begin another episode anyway."""
    return growing.now() - last.entry.at > 60.0 * growing.settings().gap_minutes


def _groups(
    growing: GrowthContext, found: Sequence[Queued], messages: Sequence[HierarchyMessage], *, whole: bool
) -> list[MessageGroup]:
    begun, notes = sum(one.episode is not None for one in found), list[str]()
    decided = _asked_of(growing.roles.boundary, notes)
    places = starts(
        messages, growing.settings(), unrelated=growing.unrelated(), begun=begun, whole=whole, decided=decided
    )
    bounds = [0, *(one for one in places if one > 0), len(found)]
    groups = []
    for first, end in pairwise(bounds):
        last = end == len(found)
        if last and not whole:
            break
        own = found[first:end]
        times = [one.entry.at for one in own]
        keys = [one.key for one in own if one.episode is None]
        note = notes[-1] if notes else None
        groups.append(MessageGroup(own[0].episode, keys, min(times), max(times), open=last, note=note))
    return [one for one in groups if one.messages or not one.open]


def _asked_of(model: FindBoundary | None, notes: list[str]) -> Decided | None:
    """A function that asks the model about a change of topic and collects its notes; None without a model."""
    if model is None:
        return None

    def decided(before: Sequence[HierarchyMessage], after: Sequence[HierarchyMessage]) -> bool | None:
        found = model(lines_of(before), lines_of(after))
        note = stored_note(found.note)
        notes.extend([] if note is None else [note])
        return found.ends

    return decided


AT_ONCE = 16  # episodes whose sentences are embedded together
LONGEST_TITLE, LONGEST_NARRATIVE = 200, 4_000  # characters of a model's texts
NARRATED = 2  # sentences of a narrative by rule, per semantic; guess


def distil_episodes(growing: GrowthContext, scope: Scope) -> int:
    """Distil a page of the episodes that are due; return how many there were."""
    due = growing.rows.due(scope, AT_ONCE)
    made = [(one, messages) for one in due if (messages := growing.present(scope, one.messages)) is not None]
    kept = [_distilled(growing, messages) for _, messages in made]
    texts = [one.text for own, _ in kept for one in own]
    vectors = unit_vectors(growing.embedder.embed_documents(texts)).astype("<f2") if texts else ()
    rows = iter(vectors)
    for (episode, messages), (own, semantics_note) in zip(made, kept, strict=True):
        times = {one.id: one.at for one in messages}
        new = [NewSemantic(one, max(times[id_] for id_ in one.messages), next(rows).tobytes()) for one in own]
        text = _text_of(growing, messages)
        growing.rows.distilled(scope, episode, text._replace(note=stored_note(semantics_note or text.note)), new)
    return len(due)


def _distilled(growing: GrowthContext, messages: Sequence[HierarchyMessage]) -> tuple[list[Distilled], str | None]:
    """The facts that a model found, with their messages. Without a model, or if it fails, the most informative
    sentences and a note with the reason."""
    note = None
    if growing.roles.semantics is not None:
        facts = growing.roles.semantics(lines_of(messages))
        if facts.found is not None:
            found = [
                Distilled(one.text, one.text, tuple(messages[place].id for place in one.places)) for one in facts.found
            ]
            return list({one.text: one for one in found}.values()), None
        note = facts.note
    return distil(messages, SEMANTICS), note


def _text_of(growing: GrowthContext, messages: Sequence[HierarchyMessage]) -> EpisodeText:
    """The title and the narrative by a model, or else an extract by rule."""
    model = growing.roles.episode
    written = EpisodeText(None, None) if model is None else model(lines_of(messages))
    if written.title is not None and written.narrative is not None:
        return EpisodeText(written.title[:LONGEST_TITLE], written.narrative[:LONGEST_NARRATIVE])
    return EpisodeText(episode_title(messages), narrative_of(messages, NARRATED * SEMANTICS), written.note)


__all__ = ["DueEpisode", "distil_episodes"]


PAGE = 64  # semantics that are attached in one transaction
TRIES = 2  # without a lock, before a page is calculated while holding the ledger's write lock
MOST_HELD = 8  # users whose themes are cached in RAM
EVERY = 8  # semantics attached between two checks for tiny themes


@dataclass
class _Held:
    """A user's themes in one edition, with the texts from which they are named."""

    themes: ThemeClusters
    edition: ThemesVersion
    settings: Hierarchies
    shown: dict[SemanticKey, Stated] = field(default_factory=dict)
    texts: dict[SemanticKey, str] = field(default_factory=dict)
    usual: Counter[str] = field(default_factory=Counter)

    def add(self, one: Written) -> None:
        key = one.placed.key
        stated = one.shown if of_its_speaker(one.text, one.shown) else ""
        self.shown[key], self.texts[key] = Stated(key, stated, one.at), one.text
        self.usual.update(stems(one.text))


class _Begun(NamedTuple):
    """The state of the rows from which a page of growth is calculated. The page is valid while they are unchanged."""

    edition: ThemesVersion
    next_theme: ThemeKey


class Attaching:
    """The themes of the users who observed last. A page is stored while holding the ledger's write lock, so that two
    processes never store results calculated from the same rows."""

    def __init__(self, growing: GrowthContext) -> None:
        self._growing = growing
        self._held: OrderedDict[Scope, _Held] = OrderedDict()

    def attach(self, scope: Scope) -> int:
        """Attach a page of semantics without a theme; return how many there were."""
        if not self._growing.rows.unattached(scope, 1):
            return 0
        try:
            for _ in range(TRIES):
                done = self._page(scope)
                if done is not None:
                    return done
            with self._growing.transaction():
                return self._page(scope) or 0
        except BaseException:
            self._held.pop(scope, None)  # the themes in RAM may be ahead of the stored ones
            raise

    def _page(self, scope: Scope) -> int | None:
        """Attach a page and return its size; None if another process has changed the rows in the meantime."""
        rows, begun = self._growing.rows, self._begun(scope)
        new, held = rows.unattached(scope, PAGE), self._themes(scope)
        growth = _grown(held, new, begun.next_theme, named=self._growing.roles.theme_name is None)
        with self._growing.transaction():
            if self._begun(scope) != begun or held.edition != begun.edition:
                self._held.pop(scope, None)
                return None
            rows.grow(scope, growth)
        held.edition = held.edition._replace(attached=growth.attached)
        return len(new)

    def _begun(self, scope: Scope) -> _Begun:
        return _Begun(self._growing.rows.edition(scope), self._growing.rows.next_theme())

    def name_of(self, scope: Scope, theme: ThemeKey) -> str:
        """A theme's name, made of its terms; "" if the theme is gone."""
        held = self._themes(scope)
        return _name(held, theme) if theme in held.themes.members else ""

    def drop_cache(self, scope: Scope) -> None:
        """Clear the cache of a user, so that the themes are read again."""
        self._held.pop(scope, None)

    def _themes(self, scope: Scope) -> _Held:
        rows, settings = self._growing.rows, self._growing.settings()
        held = self._held.get(scope)
        if held is None or held.edition != rows.edition(scope) or held.settings != settings:
            placed = rows.placed(scope)
            held = _Held(
                ThemeClusters(settings, next_key=1, unrelated=self._growing.unrelated()), placed.edition, settings
            )
            held.themes.load([one.placed for one in placed.semantics], placed.grown, placed.edition.attached)
            for one in placed.semantics:
                held.add(one)
        self._held[scope] = held
        self._held.move_to_end(scope)
        while len(self._held) > MOST_HELD:
            self._held.popitem(last=False)
        return held


def _grown(held: _Held, new: Sequence[Written], next_theme: ThemeKey, *, named: bool) -> Growth:
    """Attach the new semantics one after another; return all changes."""
    themes, replaces = held.themes, dict[SemanticKey, SemanticKey]()
    themes.number_from(next_theme)
    for one in new:
        key = one.placed.key
        themes.attach(key, one.placed.vector)
        held.add(one)
        close_by = {*themes.members[themes.theme_of[key]], *(other for other, _ in themes.semantics.of(key))}
        old = replaced(held.shown[key], [held.shown[other] for other in sorted(close_by - {key})])
        if old is not None:
            replaces[key] = old
        if themes.attached % EVERY == 0:
            themes.merge_tiny()
    return _growth(held, replaces, named=named)


def _growth(held: _Held, replaces: dict[SemanticKey, SemanticKey], *, named: bool) -> Growth:
    themes, changed = held.themes, held.themes.taken_changes()
    return Growth(
        attached=themes.attached,
        places={one: (themes.theme_of[one], one in themes.moved) for one in sorted(changed.semantics)},
        replaces=replaces,
        names={one: _name(held, one) for one in sorted(changed.themes)},
        named=named,
        grown=dict(themes.grown),
        gone=changed.gone,
        near_semantics={one: themes.semantics.of(one) for one in themes.semantics.taken_changes()},
        near_themes={one: themes.centres.of(one) for one in themes.centres.taken_changes()},
    )


def _name(held: _Held, theme: ThemeKey) -> str:
    texts = [held.texts[one] for one in held.themes.members[theme]]
    return distinctive_terms(texts, held.usual, len(held.texts))
