"""The port of the hierarchy, and its values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from adaptive_memory_core.flow.ports.models import EpisodeText
from adaptive_memory_core.hierarchy.nodes import (
    Distilled,
    EpisodeKey,
    Hierarchy,
    Neighbours,
    Placed,
    SemanticKey,
    ThemeKey,
)
from adaptive_memory_core.records import Scope

MessageKey = int


class ConversationMessage(NamedTuple):
    """A message as it is queued: its conversation and its place there. `at` is in POSIX seconds, `said` a digest of its
    words."""

    stored_id: str
    session: str
    place: float
    at: float
    speaker: str | None
    said: bytes | None = None


class Queued(NamedTuple):
    """A message as it is kept; `episode` is None while it is in none."""

    key: MessageKey
    entry: ConversationMessage
    episode: EpisodeKey | None


class MessageGroup(NamedTuple):
    """Messages that are to be one episode: a new one (None) or one that there is. While it is `open`, what follows may
    belong to it as well. `note` says why a rule decided where a model was to."""

    episode: EpisodeKey | None
    messages: Sequence[MessageKey]
    begins: float
    ends: float
    open: bool
    note: str | None = None


class DueEpisode(NamedTuple):
    """An episode that is to be distilled; `revision` changes whenever its messages do."""

    key: EpisodeKey
    revision: int
    messages: Sequence[Queued]


class NewSemantic(NamedTuple):
    """What was distilled of an episode, with its vector as 16-bit numbers."""

    distilled: Distilled
    at: float
    vector: bytes


class Written(NamedTuple):
    """A semantic as it is kept."""

    placed: Placed
    text: str
    shown: str
    at: float


class ThemesVersion(NamedTuple):
    """Of what a copy of a user's themes is: both numbers only grow."""

    removals: int
    attached: int


@dataclass(frozen=True, slots=True)
class PlacedSemantics:
    """All of a user's semantics in their themes: what attaching begins with."""

    edition: ThemesVersion
    semantics: Sequence[Written]
    grown: Mapping[ThemeKey, int]


@dataclass(frozen=True, slots=True)
class Growth:
    """What attaching has changed."""

    attached: int
    places: Mapping[SemanticKey, tuple[ThemeKey, bool]]  # the theme, and whether it is another one than the first
    replaces: Mapping[SemanticKey, SemanticKey]
    names: Mapping[ThemeKey, str]  # of themes whose members have changed; new themes are among them
    named: bool  # False: a model has yet to name them
    grown: Mapping[ThemeKey, int]
    gone: Collection[ThemeKey]
    near_semantics: Mapping[SemanticKey, Neighbours]
    near_themes: Mapping[ThemeKey, Neighbours]


class HierarchyRowsPort(Protocol):
    """Messages, episodes, semantics, themes and their links, each user's apart. Nothing is left of a removed message:
    no sentence that was distilled from it, no title and no name that may have its words."""

    def watch(self, scope: Scope) -> None:
        """The user observes from now on."""

    def watched(self) -> dict[Scope, int]:
        """Those who observe, and the version of each one's hierarchy."""

    def queue(self, scope: Scope, entries: Sequence[ConversationMessage]) -> None:
        """They are there, or say something else by now: each needs an episode, or its episode must be distilled
        again."""

    def touch(self, stored_ids: Sequence[str]) -> None:
        """They are about to change or to be removed: what was made from them is removed, their places stay."""

    def drop(self, stored_ids: Sequence[str]) -> None: ...
    def clear(self, scope: Scope, uuid: str) -> None:
        """Remove all that was distilled, e.g. because the vectors are another embedder's; episodes are distilled
        again."""

    def vectors_of(self, scope: Scope) -> str | None:
        """Which collection's embedder made the vectors: its uuid."""

    def stored_ids(self) -> set[str]: ...
    def known(self, scope: Scope, stored_ids: Sequence[str]) -> set[str]: ...
    def said(self, scope: Scope) -> dict[str, bytes | None]:
        """All messages of a user, each with the digest of the words that it had."""

    def waiting(self, scope: Scope) -> int:
        """How many messages are in no episode."""

    def unfinished(self, scope: Scope) -> int:
        """How many episodes are to be distilled, semantics to be attached and themes to be named."""

    def sessions(self, scope: Scope) -> list[str]:
        """The conversations with messages that are in no episode."""

    def conversation(self, scope: Scope, session: str, most: int) -> list[Queued]:
        """Of a conversation, the messages in no episode, in their order, behind those of the episode that is open."""

    def episode_at(self, scope: Scope, session: str, place: float) -> EpisodeKey | None:
        """The closed episode that a message of this place came too late for; None where it came in time."""

    def assign(self, scope: Scope, session: str, groups: Sequence[MessageGroup]) -> bool:
        """Make these episodes; False, and nothing is done, where somebody was quicker or a message is gone."""

    def due(self, scope: Scope, most: int) -> list[DueEpisode]: ...
    def distilled(self, scope: Scope, episode: DueEpisode, text: EpisodeText, semantics: Sequence[NewSemantic]) -> bool:
        """Replace what was made from an episode; sentences that stay the same keep their place. False if its messages
        have changed since."""

    def unattached(self, scope: Scope, most: int) -> list[Written]: ...
    def standing(self, scope: Scope) -> PlacedSemantics: ...
    def edition(self, scope: Scope) -> ThemesVersion: ...
    def next_theme(self) -> ThemeKey:
        """A key that no theme has had."""

    def version(self, scope: Scope) -> int | None:
        """Another at each change of the user's hierarchy; None for one who does not observe."""

    def grow(self, scope: Scope, growth: Growth) -> None: ...
    def unnamed(self, scope: Scope, most: int) -> list[tuple[ThemeKey, int, list[str]]]:
        """Themes that are to be named, with a number that changes whenever their members do, and their texts."""

    def name(self, scope: Scope, theme: ThemeKey, revision: int, name: str, note: str | None) -> bool: ...
    def view(self, scope: Scope) -> Hierarchy: ...
    def faults(self) -> list[str]: ...


class HierarchyPort(Protocol):
    """What users see of the hierarchy, and what it is told besides what every index hears."""

    def watch(self, scope: Scope) -> None:
        """Take in what this user observes from now on."""

    def view(self, scope: Scope) -> Hierarchy | None:
        """All of a user's hierarchy as it stands; None for one who never observed. The same object until it changes."""

    def known(self, scope: Scope, stored_ids: Sequence[str]) -> set[str]:
        """Those of the messages that it has taken in, or will."""

    def missed(self, scope: Scope, entries: Sequence[ConversationMessage]) -> None:
        """Messages that are in the collection and that it has not heard of."""

    def settle(self, scope: Scope, progress: Callable[[int, int], object] | None = None) -> None:
        """Work in all that waits, now; the last messages of each conversation as well. `progress` hears how many
        messages and episodes are done, of how many."""
