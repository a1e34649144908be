"""The ports of models and judges, and of telemetry.

A judge that does not know says so, with a note: nothing is learned from a guess.

Each role may be missing: then it is done offline, by rule. A role that fails, or says what cannot be read, gives None
with a note: then that one thing is done offline, and the note is kept.
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
    """Whether the texts suffice to answer; None where the judge does not know, and the note says why."""

    answer: bool | None
    note: str | None = None


class Supports(NamedTuple):
    """The places of the texts that support the answer, from 0; None where the judge does not know."""

    places: Sequence[int] | None
    note: str | None = None


class NamedTime(NamedTuple):
    """The words of a text that say when it holds; None where it names no time, or, with a note, where nobody knows."""

    words: str | None
    note: str | None = None


class Salient(NamedTuple):
    """How important it is to remember a text, in [0, 1]; None where the judge does not know, and the note says why."""

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


FindBoundary = Callable[[Sequence[Line], Sequence[Line]], Boundary]  # of the lines before, and of new ones


@dataclass(frozen=True, slots=True)
class Roles:
    """The models that help; None: that is done offline."""

    boundary: FindBoundary | None = None
    episode: Callable[[Sequence[Line]], EpisodeText] | None = None
    semantics: Callable[[Sequence[Line]], Facts] | None = None
    theme_name: Callable[[Sequence[str]], Title] | None = None


OFFLINE = Roles()


T = TypeVar("T")


class OpenMemory(Protocol):
    """A memory that can be asked how far it is; ClosedError once it was closed."""

    def checked_ports(self) -> Ports: ...


class Telemetry(Protocol):
    """Sources and ledger are handed over where a memory is put together, and each verb is called through it."""

    def verb(self, name: str, call: Callable[[], T]) -> T: ...
    def sources(self, sources: Sequence[Source]) -> Sequence[Source]: ...
    def ledger(self, ledger: Ledger) -> Ledger: ...
    def opened(self, memory: OpenMemory) -> None:
        """This memory is open; it is not to be kept from being collected."""
