"""The ports of models and judges, and of telemetry.

A judge that cannot decide returns None with a note, so that nothing is learned from a guess.

Each role may be missing; its task is then done offline, by rule. If a role fails or its answer cannot be parsed, it
returns None with a note; this task is then done offline, and the note is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from adaptive_memory_core.flow.ports.records import Vector

if TYPE_CHECKING:
    from adaptive_memory_core.flow.ports import Ports
    from adaptive_memory_core.flow.ports.source import Source
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger


class EmbedderPort(Protocol):
    """Texts to vectors of one length. If it `can_wait`, an event loop awaits `aembed_query`."""

    @property
    def can_wait(self) -> bool: ...
    @property
    def can_wait_for_documents(self) -> bool: ...
    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]: ...
    def embed_query(self, text: str) -> Vector: ...
    async def aembed_query(self, text: str) -> Vector: ...
    async def aembed_documents(self, texts: Sequence[str]) -> Sequence[Vector]: ...


class Sufficient(NamedTuple):
    """Whether the texts suffice to answer; None if the judge cannot decide, with the reason as a note."""

    answer: bool | None
    note: str | None = None


class Supports(NamedTuple):
    """The places of the texts that support the answer, from 0; None if the judge cannot decide."""

    places: Sequence[int] | None
    note: str | None = None


class NamedTime(NamedTuple):
    """The words of a text about its time; None if it names no time or, with a note, if the judge cannot decide."""

    words: str | None
    note: str | None = None


class Salient(NamedTuple):
    """The importance of remembering a text, in [0, 1]; None if the judge cannot decide, with the reason as a note."""

    importance: float | None
    note: str | None = None


JudgeSufficiency = Callable[[str, Sequence[str]], Sufficient]  # of a question and texts
JudgeSupport = Callable[[str, str, Sequence[str]], Supports]  # of a question, its answer and texts
JudgeTime = Callable[[str], NamedTime]  # of a text
JudgeSalience = Callable[[str], Salient | float]  # of a text


class Line(NamedTuple):
    """A message as a model reads it; `at` is in POSIX seconds."""

    speaker: str | None
    text: str
    at: float


class Boundary(NamedTuple):
    """Whether the new messages begin another episode; None if the model cannot decide."""

    ends: bool | None
    note: str | None = None


class Title(NamedTuple):
    text: str | None
    note: str | None = None


class EpisodeText(NamedTuple):
    """An episode's title, and its narrative in the third person; None if the model returned none."""

    title: str | None
    narrative: str | None
    note: str | None = None


class Fact(NamedTuple):
    """A fact to store, and the places of the messages that state it, from 0."""

    text: str
    places: Sequence[int]


class Facts(NamedTuple):
    found: Sequence[Fact] | None
    note: str | None = None


FindBoundary = Callable[[Sequence[Line], Sequence[Line]], Boundary]  # of the lines before, and of new ones


@dataclass(frozen=True, slots=True)
class Roles:
    """The models for each task; None for a task that is done offline."""

    boundary: FindBoundary | None = None
    episode: Callable[[Sequence[Line]], EpisodeText] | None = None
    semantics: Callable[[Sequence[Line]], Facts] | None = None
    theme_name: Callable[[Sequence[str]], Title] | None = None


OFFLINE = Roles()


T = TypeVar("T")


class OpenMemory(Protocol):
    """A memory whose ports telemetry can read; ClosedError after it was closed."""

    def checked_ports(self) -> Ports: ...


class Telemetry(Protocol):
    """Telemetry that wraps the sources and the ledger when a memory is opened, and each call of a verb."""

    def verb(self, name: str, call: Callable[[], T]) -> T: ...
    def sources(self, sources: Sequence[Source]) -> Sequence[Source]: ...
    def ledger(self, ledger: Ledger) -> Ledger: ...
    def opened(self, memory: OpenMemory) -> None:
        """Note that this memory is open, without keeping it from being garbage collected."""
