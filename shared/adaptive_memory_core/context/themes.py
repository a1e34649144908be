"""Themes and whole episodes as evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from adaptive_memory_core.channels.turns import BY_FIELD, turn_of
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.context.entries import date_of
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.hierarchy.nodes import Hierarchy, HierarchyStatistics, Semantic, SemanticKey, ThemeNode
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import Record, Scope, Scored


class WholeEpisode(NamedTuple):
    """The text of an episode, line by line, with its title, its theme and the ids of its messages as the user gave
    them."""

    text: str
    title: str
    theme: str | None
    message_ids: list[str]

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata that is shown in addition to the text."""
        theme = {} if self.theme is None else {"theme": self.theme}
        return {"episode": self.title, **theme, "message_ids": self.message_ids}


def whole_episode(hit: Scored, recall: Recall) -> WholeEpisode | None:
    """The episode that a hit represents: all its messages or, if a reader chose that, its narrative and the best
    message. None if hits represent only themselves."""
    place = recall.outline.places.get(hit.id)
    if place is None or not recall.outline.apart:
        return None
    around = [one for one in recall.neighbours if one.of == hit.id]
    before = [one.record for one in around if one.offset < 0]
    after = [one.record for one in around if one.offset > 0]
    summary = [place.narrative] if hit.id in recall.outline.summed_up else []
    lines = [*summary, *(_line(one, recall.fields) for one in (*before, hit.record, *after))]
    return WholeEpisode("\n".join(lines), place.title, place.theme, list(place.messages))


def _line(record: Record, fields: Fields) -> str:
    """A message with its speaker's name in front.

    >>> _line(Record("1", "Hi!", metadata={"speaker": "Ana"}), Fields()), _line(Record("2", "Ben: Hello!"), Fields())
    ('Ana: Hi!', 'Ben: Hello!')
    """
    turn = turn_of(record.text, record.metadata, fields, created_at=record.created_at)
    return f"{turn.speaker}: {record.text}" if turn.speaker and turn.speaker_from == BY_FIELD else record.text


@dataclass(frozen=True, slots=True)
class ThemeStatement:
    """One statement: its text, the ids of its messages, its time (POSIX seconds), and its episode's title. `replaced`
    are earlier statements that are no longer true."""

    text: str
    ids: tuple[str, ...]
    at: float
    episode: str
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Theme:
    """The statements on one theme, newest last. `ids` are the messages' ids; `begins` and `ends` are POSIX seconds."""

    name: str
    ids: tuple[str, ...]
    known: tuple[ThemeStatement, ...]
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class Themes(Sequence[Theme]):
    """The themes of one user, the largest first; `print` them, or show `html()` in a browser.

    `statistics` are numbers about the hierarchy; `statistics.waiting` counts messages that are not yet part of it.
    `notes` give the reasons if a rule replaced a model.
    """

    found: tuple[Theme, ...] = ()
    statistics: HierarchyStatistics = field(default_factory=HierarchyStatistics)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        return self.found[place]

    def __iter__(self) -> Iterator[Theme]:
        return iter(self.found)

    def __str__(self) -> str:
        return "\n".join(line for one in self.found for line in _lines(one))

    def html(self) -> str:
        """A self-contained HTML page with all themes: `Path("themes.html").write_text(...)`."""
        from adaptive_memory_core.pages.memory_page import themes_page

        return themes_page(self)


def themes_of(scope: Scope, hierarchy: Hierarchy, over: Set[str] = frozenset()) -> Themes:
    """The hierarchy as the user sees it, without statements from messages that are `over`: superseded or expired. A
    theme with no other statements is left out."""
    every = (_theme(scope, hierarchy, one, over) for one in hierarchy.themes.values())
    found = [one for one in every if one.known]
    found.sort(key=lambda one: (-len(one.known), one.begins, one.name))
    return Themes(tuple(found), hierarchy.statistics, hierarchy.notes)


def _theme(scope: Scope, hierarchy: Hierarchy, theme: ThemeNode, over: Set[str]) -> Theme:
    own = [hierarchy.semantics[one] for one in theme.semantics]
    newest = {hierarchy.newest(one.key) for one in own}  # even if it has moved to another theme
    those = (hierarchy.semantics[one] for one in newest)
    holds = sorted((one for one in those if over.isdisjoint(one.messages)), key=lambda one: (one.at, one.key))
    ids = tuple(record_id(scope, one) for one in theme.messages if one not in over)
    known = tuple(_known(scope, hierarchy, one) for one in holds)
    return Theme(theme.name, ids, known, theme.begins, theme.ends)


def _known(scope: Scope, hierarchy: Hierarchy, semantic: Semantic) -> ThemeStatement:
    ids = tuple(record_id(scope, one) for one in semantic.messages)
    before: list[str] = []
    seen: set[SemanticKey] = {semantic.key}
    older = semantic.replaces
    while older is not None and older not in seen:
        seen.add(older)
        before.append(hierarchy.semantics[older].shown)
        older = hierarchy.semantics[older].replaces
    return ThemeStatement(semantic.shown, ids, semantic.at, hierarchy.episodes[semantic.episode].title, tuple(before))


def _lines(theme: Theme) -> list[str]:
    return [clean(theme.name), *(f"  {date_of(one.at)}  {clean(one.text)}" for one in theme.known)]
