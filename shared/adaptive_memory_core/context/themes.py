"""What is remembered, as a user reads it? Themes with their names, what was said, and the messages that said it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from adaptive_memory_core.context.ages import date
from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.context.theme_picture import picture
from adaptive_memory_core.hierarchy.nodes import Hierarchy, Semantic, SemanticKey, Statistics
from adaptive_memory_core.hierarchy.nodes import Theme as Node
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import Scope


@dataclass(frozen=True, slots=True)
class Known:
    """One thing that was said: how it is shown, the messages it is from, when that was (POSIX seconds), and the title
    of its episode. `replaced` was said before and holds no more."""

    text: str
    ids: tuple[str, ...]
    at: float
    episode: str
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Theme:
    """What is known of one matter, the newest last. `ids` are those of the messages; `begins` and `ends` are in POSIX
    seconds."""

    name: str
    ids: tuple[str, ...]
    known: tuple[Known, ...]
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class Themes(Sequence[Theme]):
    """The themes of one user, the largest first; `print` them, or show `html()` in a browser.

    `statistics` are numbers of the hierarchy; of its messages, `statistics.waiting` are not worked in yet. `notes` say
    why a rule did what a model was to do.
    """

    found: tuple[Theme, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)
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
        """A page with all of them, which needs nothing from elsewhere: `Path("themes.html").write_text(...)`."""
        rows = [
            (one.name, f"{date(one.begins)} to {date(one.ends)}", [_row(known) for known in one.known])
            for one in self.found
        ]
        return picture(rows, self.statistics)


def themes_of(scope: Scope, hierarchy: Hierarchy, over: Set[str] = frozenset()) -> Themes:
    """The hierarchy as a user reads it, without what is from messages that are `over`: superseded, or expired. A theme
    of such alone is left out."""
    every = (_theme(scope, hierarchy, one, over) for one in hierarchy.themes.values())
    found = [one for one in every if one.known]
    found.sort(key=lambda one: (-len(one.known), one.begins, one.name))
    return Themes(tuple(found), hierarchy.statistics, hierarchy.notes)


def _theme(scope: Scope, hierarchy: Hierarchy, theme: Node, over: Set[str]) -> Theme:
    own = [hierarchy.semantics[one] for one in theme.semantics]
    newest = {hierarchy.newest(one.key) for one in own}  # also where that has joined another theme
    those = (hierarchy.semantics[one] for one in newest)
    holds = sorted((one for one in those if over.isdisjoint(one.messages)), key=lambda one: (one.at, one.key))
    ids = tuple(record_id(scope, one) for one in theme.messages if one not in over)
    known = tuple(_known(scope, hierarchy, one) for one in holds)
    return Theme(theme.name, ids, known, theme.begins, theme.ends)


def _known(scope: Scope, hierarchy: Hierarchy, semantic: Semantic) -> Known:
    ids = tuple(record_id(scope, one) for one in semantic.messages)
    before: list[str] = []
    seen: set[SemanticKey] = {semantic.key}
    older = semantic.replaces
    while older is not None and older not in seen:
        seen.add(older)
        before.append(hierarchy.semantics[older].shown)
        older = hierarchy.semantics[older].replaces
    return Known(semantic.shown, ids, semantic.at, hierarchy.episodes[semantic.episode].title, tuple(before))


def _lines(theme: Theme) -> list[str]:
    return [clean(theme.name), *(f"  {date(one.at)}  {clean(one.text)}" for one in theme.known)]


def _row(known: Known) -> tuple[str, str, str, str]:
    return (date(known.at), known.text, known.episode, "; ".join(known.replaced))
