"""What may a model do for the hierarchy? Say where an episode ends, what to keep of it, and what things are called.

Each role may be missing: then it is done offline, by rule. A role that fails, or says what cannot be read, gives None
with a note: then that one thing is done offline, and the note is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Line(NamedTuple):
    """A message as a model reads it; `at` is in POSIX seconds."""

    speaker: str | None
    text: str
    at: float


class Boundary(NamedTuple):
    """Whether the new messages begin another episode; None where nobody knows."""

    ends: bool | None
    note: str | None = None


class Title(NamedTuple):
    text: str | None
    note: str | None = None


class EpisodeText(NamedTuple):
    """What an episode is called, and what happened in it, told in the third person; None where nobody knows."""

    title: str | None
    narrative: str | None
    note: str | None = None


class Fact(NamedTuple):
    """Something to keep, and the places of the messages that say it, from 0."""

    text: str
    places: Sequence[int]


class Facts(NamedTuple):
    found: Sequence[Fact] | None
    note: str | None = None


class BoundaryPort(Protocol):
    def __call__(self, before: Sequence[Line], new: Sequence[Line]) -> Boundary: ...


class EpisodePort(Protocol):
    def __call__(self, lines: Sequence[Line]) -> EpisodeText: ...


class SemanticsPort(Protocol):
    def __call__(self, lines: Sequence[Line]) -> Facts: ...


class ThemeNamePort(Protocol):
    def __call__(self, texts: Sequence[str]) -> Title: ...


@dataclass(frozen=True, slots=True)
class Roles:
    """The models that help; None: that is done offline."""

    boundary: BoundaryPort | None = None
    episode: EpisodePort | None = None
    semantics: SemanticsPort | None = None
    theme_name: ThemeNamePort | None = None


OFFLINE = Roles()
