"""What is the hierarchy made of? Messages in episodes, semantics distilled from them, and themes that group those."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

Array = Any
EpisodeKey = int
SemanticKey = int
ThemeKey = int
Neighbours = tuple[tuple[int, float], ...]  # keys of the nearest nodes of one kind with their similarity, best first


class Said(NamedTuple):
    """A message as far as the hierarchy reads it; `id` is its id in the collection. `at` is in POSIX seconds."""

    id: str
    speaker: str | None
    text: str
    at: float
    vector: Array = None  # None: not known


@dataclass(frozen=True, slots=True)
class Episode:
    """Messages that belong together, whole and in their order. `narrative` tells what happened in the third person;
    both texts are "" until they were made."""

    key: EpisodeKey
    title: str
    narrative: str
    session: str
    begins: float
    ends: float
    messages: tuple[str, ...]
    semantics: tuple[SemanticKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Semantic:
    """One thing that was said, which can be understood by itself. `text` is what was embedded, `shown` what is shown.

    `replaces` is the semantic that this one is a newer version of, `replaced_by` the other way round.
    """

    key: SemanticKey
    text: str
    shown: str
    episode: EpisodeKey
    theme: ThemeKey | None
    messages: tuple[str, ...]
    at: float
    replaces: SemanticKey | None = None
    replaced_by: SemanticKey | None = None
    neighbours: Neighbours = ()


@dataclass(frozen=True, slots=True)
class Theme:
    """Semantics that are about the same; `messages` are those that these were distilled from."""

    key: ThemeKey
    name: str
    semantics: tuple[SemanticKey, ...]
    messages: tuple[str, ...]
    begins: float
    ends: float
    neighbours: Neighbours = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """The hierarchy in numbers. `objective` is f(P) of equation 1, the sum of `sparsity` and `coherence`;
    `reassigned` is the share of semantics that have changed their theme since they came in; `waiting` are messages that
    are in no episode yet, and `unfinished` episodes and semantics that are not worked in."""

    messages: int = 0
    episodes: int = 0
    semantics: int = 0
    themes: int = 0
    mean_size: float = 0.0
    largest: int = 0
    objective: float = 0.0
    sparsity: float = 0.0
    coherence: float = 0.0
    reassigned: float = 0.0
    waiting: int = 0
    unfinished: int = 0


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """All of one user's hierarchy at one moment. Rows of `vectors` belong to `semantics` in their order, rows of
    `centroids` to `themes`: unit length, 32 bits."""

    episodes: Mapping[EpisodeKey, Episode]
    semantics: Mapping[SemanticKey, Semantic]
    themes: Mapping[ThemeKey, Theme]
    vectors: Array = field(repr=False)
    centroids: Array = field(repr=False)
    episode_of: Mapping[str, EpisodeKey] = field(default_factory=dict)  # by message
    semantics_of: Mapping[str, tuple[SemanticKey, ...]] = field(default_factory=dict)  # by message
    statistics: Statistics = field(default_factory=Statistics)
    notes: tuple[str, ...] = ()  # why a rule did what a model was to do, each once
    complete: bool = True  # whether every episode is distilled, and every semantic in a theme

    def with_ids(self, known: Callable[[str], str]) -> Hierarchy:
        """The same with other ids of messages, such as those that a user knows."""

        def renamed(nodes: Mapping[int, Any]) -> dict[int, Any]:
            return {key: replace(one, messages=tuple(map(known, one.messages))) for key, one in nodes.items()}

        return replace(
            self,
            episodes=renamed(self.episodes),
            semantics=renamed(self.semantics),
            themes=renamed(self.themes),
            episode_of={known(one): key for one, key in self.episode_of.items()},
            semantics_of={known(one): keys for one, keys in self.semantics_of.items()},
        )

    def themes_of(self, message: str) -> tuple[ThemeKey, ...]:
        """The themes that a message is in, by its semantics."""
        found = (self.semantics[one].theme for one in self.semantics_of.get(message, ()))
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def newest(self, semantic: SemanticKey) -> SemanticKey:
        """The semantic, or the last of those that have replaced it one after another."""
        seen = {semantic}
        while (after := self.semantics[semantic].replaced_by) is not None and after not in seen:
            seen.add(semantic := after)
        return semantic


NOTHING = Hierarchy({}, {}, {}, np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32))


class Distilled(NamedTuple):
    """A sentence of an episode: what is embedded, what is shown, and the messages that it is from."""

    text: str
    shown: str
    messages: Sequence[str]


class Placed(NamedTuple):
    """A semantic as it is kept: its vector of unit length, its theme (None: of none yet), whether that has changed, and
    the neighbours that it had."""

    key: SemanticKey
    vector: Array
    theme: ThemeKey | None
    moved: bool = False
    near: Neighbours = ()


class Changes(NamedTuple):
    """Semantics that are in another theme, themes with other members, and those that are gone."""

    semantics: set[SemanticKey]
    themes: set[ThemeKey]
    gone: set[ThemeKey]
