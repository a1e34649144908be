"""Values of the hierarchy: queued messages, episodes, semantics and themes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adaptive_memory_core.hierarchy.nodes import (
    Distilled,
    EpisodeKey,
    Neighbours,
    Placed,
    SemanticKey,
    ThemeKey,
)

MessageKey = int


class ConversationMessage(NamedTuple):
    """A message to queue, with its conversation and its place there. `at` is in POSIX seconds."""

    stored_id: str
    session: str
    place: float
    at: float
    speaker: str | None
    text_digest: bytes | None = None


class Queued(NamedTuple):
    """A stored message; `episode` is None if it is not in an episode yet."""

    key: MessageKey
    entry: ConversationMessage
    episode: EpisodeKey | None


class MessageGroup(NamedTuple):
    """Messages of one episode, which is new (None) or exists. While it is `open`, later messages may belong to it as
    well. `note` is the reason why a rule decided instead of a model."""

    episode: EpisodeKey | None
    messages: Sequence[MessageKey]
    begins: float
    ends: float
    open: bool
    note: str | None = None


class DueEpisode(NamedTuple):
    """An episode to be distilled; `revision` changes whenever its messages change."""

    key: EpisodeKey
    revision: int
    messages: Sequence[Queued]


class NewSemantic(NamedTuple):
    """A semantic distilled from an episode, with its vector as 16-bit numbers."""

    distilled: Distilled
    at: float
    vector: bytes


class Written(NamedTuple):
    """A stored semantic."""

    placed: Placed
    text: str
    shown: str
    at: float


class ThemesVersion(NamedTuple):
    """The version of a copy of a user's themes; both numbers only increase."""

    removals: int
    attached: int


@dataclass(frozen=True, slots=True)
class PlacedSemantics:
    """All of a user's semantics in their themes, to which new ones are attached."""

    edition: ThemesVersion
    semantics: Sequence[Written]
    grown: Mapping[ThemeKey, int]


@dataclass(frozen=True, slots=True)
class Growth:
    """The changes made by attaching semantics to themes."""

    attached: int
    places: Mapping[SemanticKey, tuple[ThemeKey, bool]]  # the theme, and whether it is another one than the first
    replaces: Mapping[SemanticKey, SemanticKey]
    names: Mapping[ThemeKey, str]  # of themes whose members have changed; new themes are among them
    named: bool  # False: a model has yet to name them
    grown: Mapping[ThemeKey, int]
    gone: Collection[ThemeKey]
    near_semantics: Mapping[SemanticKey, Neighbours]
    near_themes: Mapping[ThemeKey, Neighbours]
