"""The nodes of a hierarchy: messages, episodes, semantics and themes; and the terms that name a theme."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.late import late_pattern

Array = Any
EpisodeKey = int
SemanticKey = int
ThemeKey = int
Neighbours = tuple[tuple[int, float], ...]  # keys of the nearest nodes of one kind with their similarity, best first


class HierarchyMessage(NamedTuple):
    """A message with the fields that the hierarchy reads: `id` is its ID in the collection, `at` in POSIX seconds."""

    id: str
    speaker: str | None
    text: str
    at: float
    vector: Array = None  # None: unknown


@dataclass(frozen=True, slots=True)
class Episode:
    """Messages that belong together, in their order. `narrative` describes what happened, in the third person. Title
    and narrative are "" until they were made."""

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
    """One statement that can be understood by itself. `text` is embedded, and `shown` is displayed.

    `replaces` is an older version of the statement, and `replaced_by` a newer one.
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
class ThemeNode:
    """Semantics about one topic; `messages` are their sources."""

    key: ThemeKey
    name: str
    semantics: tuple[SemanticKey, ...]
    messages: tuple[str, ...]
    begins: float
    ends: float
    neighbours: Neighbours = ()


@dataclass(frozen=True, slots=True)
class HierarchyStatistics:
    """The hierarchy in numbers. `objective` is f(P) of equation 1, the sum of `sparsity` and `coherence`;
    `reassigned` is the share of semantics that have changed their theme. `waiting` messages are in no episode yet, and
    `unfinished` semantics and themes are without a theme or a name."""

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
    """One user's whole hierarchy at one moment. The rows of `vectors` belong to `semantics` in their order, the rows of
    `centroids` to `themes`: unit vectors of 32 bits."""

    episodes: Mapping[EpisodeKey, Episode]
    semantics: Mapping[SemanticKey, Semantic]
    themes: Mapping[ThemeKey, ThemeNode]
    vectors: Array = field(repr=False)
    centroids: Array = field(repr=False)
    episode_of: Mapping[str, EpisodeKey] = field(default_factory=dict)  # by message
    semantics_of: Mapping[str, tuple[SemanticKey, ...]] = field(default_factory=dict)  # by message
    statistics: HierarchyStatistics = field(default_factory=HierarchyStatistics)
    notes: tuple[str, ...] = ()  # reasons why a rule was used instead of a model, without repetition
    complete: bool = True  # whether every episode is distilled, and every semantic in a theme

    def with_ids(self, known: Callable[[str], str]) -> Hierarchy:
        """A copy with other message IDs, such as those that the user gave."""

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
        """The themes of a message's semantics."""
        found = (self.semantics[one].theme for one in self.semantics_of.get(message, ()))
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def newest(self, semantic: SemanticKey) -> SemanticKey:
        """The newest version of the semantic."""
        seen = {semantic}
        while (after := self.semantics[semantic].replaced_by) is not None and after not in seen:
            seen.add(semantic := after)
        return semantic


NOTHING = Hierarchy({}, {}, {}, np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32))


class Distilled(NamedTuple):
    """A sentence from an episode: the text to embed, the text to show, and the source messages."""

    text: str
    shown: str
    messages: Sequence[str]


class Placed(NamedTuple):
    """A semantic as stored: its unit vector, its theme (None if it has none yet), whether the theme has changed, and
    its neighbours."""

    key: SemanticKey
    vector: Array
    theme: ThemeKey | None
    moved: bool = False
    near: Neighbours = ()


class HierarchyChanges(NamedTuple):
    """Semantics with another theme, themes with other members, and removed themes."""

    semantics: set[SemanticKey]
    themes: set[ThemeKey]
    gone: set[ThemeKey]


TERMS = 3
_NAMELESS = frozenset(  # words too common to name a theme
    words(
        "now last next never always often also well come came goes going went go use used new old lot bit way time "
        "times day days week weeks month months year years thing things today got get make made take took yesterday "
        "tomorrow really still just many good great nice love like want think know feel said say tell told able sure"
    )
)
_WORD = late_pattern(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def distinctive_terms(texts: Sequence[str], usual: Mapping[str, int], total: int, *, most: int = TERMS) -> str:
    """The terms that distinguish a theme from others, the most distinctive first. `usual` is the number of the user's
    `total` semantics that contain each stem.

    >>> usual = {"puppi": 2, "adopt": 2, "went": 9, "vet": 1}
    >>> distinctive_terms(["I adopted a puppy.", "The puppy went to the vet."], usual, 20)
    'puppy, vet, adopted'
    >>> distinctive_terms(["So it is."], {}, 1)
    'So it is.'
    """
    counts = Counter(stem for text in texts for stem in stems(text))
    elsewhere = {stem: max(0, usual.get(stem, 0) - count) for stem, count in counts.items()}
    worth = {stem: count * math.log((1 + total) / (1 + elsewhere[stem])) for stem, count in counts.items()}
    forms = _written(texts)
    ranked = sorted((one for one in worth if one in forms), key=lambda one: (-worth[one], one))
    return ", ".join(forms[one] for one in ranked[:most]) or (texts[0][:40] if texts else "")


def stems(text: str) -> frozenset[str]:
    """The stems in a text that can name a topic, without numbers, very short words and common words."""
    found = (one for one in words(text) if (len(one) > 2 and not one.isdigit()) or not one.isascii())
    return frozenset(found) - _NAMELESS


def _written(texts: Iterable[str]) -> dict[str, str]:
    """The most frequent form of each stem, in lower case unless it always begins with a capital."""
    found: dict[str, Counter[str]] = {}
    for text in texts:
        for form in _WORD.findall(text):
            own = words(form)
            if len(own) == 1:
                found.setdefault(own[0], Counter())[form] += 1
    return {stem: _form(forms) for stem, forms in found.items()}


def _form(forms: Counter[str]) -> str:
    best = min(forms, key=lambda one: (-forms[one], one))
    lower = sum(count for form, count in forms.items() if form[:1].islower())
    return best.lower() if lower else best
