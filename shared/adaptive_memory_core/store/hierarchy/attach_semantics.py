"""How do new semantics come into themes? By a copy of the themes in RAM, and a short transaction for each page of them.

What attaching changes is worked out with no lock in hand, since recalls read the same file, and kept if nobody has
changed the rows meanwhile.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adaptive_memory_core.flow.ports.hierarchy_values import Edition, Growth, Written
from adaptive_memory_core.hierarchy.grow import Themes
from adaptive_memory_core.hierarchy.nodes import SemanticKey, ThemeKey
from adaptive_memory_core.hierarchy.replaced import Stated, of_its_speaker, replaced
from adaptive_memory_core.hierarchy.theme_names import name_of, stems
from adaptive_memory_core.let_others_run import let_others_run
from adaptive_memory_core.policy.hierarchy import Hierarchies
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.hierarchy.growing import Growing

PAGE = 64  # semantics that are attached in one transaction
TRIES = 2  # times that others may come before it; then it is worked out with the ledger's one writer in hand
MOST_HELD = 8  # users whose themes are held in RAM
EVERY = 8  # semantics that come in between two looks for tiny themes


@dataclass
class _Held:
    """A user's themes as they stood in an edition, with the texts that they are named by."""

    themes: Themes
    edition: Edition
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
    """What a page of growth is worked out from; it holds as long as the rows say the same."""

    edition: Edition
    next_theme: ThemeKey


class Attaching:
    """The themes of those who observed last. Who keeps a page holds the ledger's one writer, so that two never keep
    what was worked out from the same rows."""

    def __init__(self, growing: Growing) -> None:
        self._growing = growing
        self._held: OrderedDict[Scope, _Held] = OrderedDict()

    def attach(self, scope: Scope) -> int:
        """A page of what is in no theme yet; gives how many there were."""
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
            self._held.pop(scope, None)  # what is in RAM may be ahead of what was kept
            raise

    def _page(self, scope: Scope) -> int | None:
        """How many were attached; None where somebody else has changed the rows before that was kept."""
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
        """What a theme is called by its terms; "" where it is gone."""
        held = self._themes(scope)
        return _name(held, theme) if theme in held.themes.members else ""

    def let_go(self, scope: Scope) -> None:
        """What is in RAM of a user; it is read again."""
        self._held.pop(scope, None)

    def _themes(self, scope: Scope) -> _Held:
        rows, settings = self._growing.rows, self._growing.settings()
        held = self._held.get(scope)
        if held is None or held.edition != rows.edition(scope) or held.settings != settings:
            standing = rows.standing(scope)
            held = _Held(Themes(settings, next_key=1), standing.edition, settings)
            held.themes.load([one.placed for one in standing.semantics], standing.grown, standing.edition.attached)
            for one in standing.semantics:
                held.add(one)
        self._held[scope] = held
        self._held.move_to_end(scope)
        while len(self._held) > MOST_HELD:
            self._held.popitem(last=False)
        return held


def _grown(held: _Held, new: Sequence[Written], next_theme: ThemeKey, *, named: bool) -> Growth:
    """Attach them one after another; gives all that this has changed."""
    themes, replaces = held.themes, dict[SemanticKey, SemanticKey]()
    themes.number_from(next_theme)
    for one in new:
        let_others_run()
        key = one.placed.key
        themes.attach(key, one.placed.vector)
        held.add(one)
        beside = {*themes.members[themes.theme_of[key]], *(other for other, _ in themes.semantics.of(key))}
        old = replaced(held.shown[key], [held.shown[other] for other in sorted(beside - {key})], Updates())
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
    return name_of(texts, held.usual, len(held.texts))
