"""The port of the hierarchy, and its values."""

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
