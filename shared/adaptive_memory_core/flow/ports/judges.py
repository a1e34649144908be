"""What must a judge be able to do? Say whether texts suffice, which support an answer, what matters, or what time is
named.

A judge that does not know says so, with a note: nothing is learned from a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


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


class SufficiencyPort(Protocol):
    def __call__(self, question: str, texts: Sequence[str]) -> Sufficient: ...


class SupportPort(Protocol):
    def __call__(self, question: str, answer: str, texts: Sequence[str]) -> Supports: ...


class TimePort(Protocol):
    def __call__(self, text: str) -> NamedTime: ...


class SaliencePort(Protocol):
    def __call__(self, text: str) -> Salient | float: ...


class JudgePort(Protocol):
    """What a memory asks a judge; None for what this one was not given to judge."""

    @property
    def sufficient(self) -> SufficiencyPort | None: ...
    @property
    def supports(self) -> SupportPort | None: ...
    @property
    def time(self) -> TimePort | None: ...
