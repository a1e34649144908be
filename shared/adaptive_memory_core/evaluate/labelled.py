"""What is measured on? Texts that can be found, and questions of which it is known what answers them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be found: a record, a turn of a conversation, a paragraph."""

    id: str
    text: str
    title: str | None = None
    tenant: str | None = None
    session: str | None = None
    seq: int | None = None  # the order within the tenant, also where all of a session share one ts
    ts: float | None = None  # POSIX seconds
    speaker: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def titled_text(self) -> str:
        """The text with its title in front; some folders have it there already, some leave the subject to the title.

        >>> Item(id="1", title="Rome", text="It lies on the Tiber.").titled_text
        'Rome\\nIt lies on the Tiber.'
        >>> Item(id="1", title="Rome", text="Rome is old.").titled_text
        'Rome is old.'
        """
        return self.text if self.title is None or self.text.startswith(self.title) else f"{self.title}\n{self.text}"

    @property
    def said(self) -> str:
        """The text with its speaker or its title in front: questions name them.

        >>> Item(id="1", speaker="Ana", text="Tea, please.").said
        'Ana: Tea, please.'
        """
        return self.titled_text if self.speaker is None else f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that is asked, and the items that answer it."""

    id: str
    query: str
    gold_ids: tuple[str, ...]
    answer: str | None = None
    type: str | None = None
    tenant: str | None = None
    split: str | None = None
    answerable: bool = True  # false: the gold, if any, only names what the trap was built from
    ts: float | None = None  # POSIX seconds
    more: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Dataset:
    """All items and questions of one folder, in the order of its files."""

    name: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]

    @property
    def scorable(self) -> tuple[Question, ...]:
        """The questions a measure can be taken of: they have an answer, and it is known where."""
        return tuple(question for question in self.questions if question.answerable and question.gold_ids)


def halves(questions: Iterable[Question], seed: int) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """The questions to tune on and those held out, in their order, each about half.

    A question's side hangs on its id and the seed alone, so adding or leaving out others never moves it.

    >>> tuning, held_out = halves([Question(id=str(n), query="?", gold_ids=()) for n in range(100)], seed=1)
    >>> len(tuning) + len(held_out), set(tuning) & set(held_out)
    (100, set())
    >>> halves([], seed=1)
    ((), ())
    """
    sides: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        sides[hashlib.sha256(f"{seed}:{question.id}".encode()).digest()[0] % 2].append(question)
    return tuple(sides[0]), tuple(sides[1])


def posix_seconds(ts: str | float | None) -> float | None:
    """The moment in POSIX seconds; None stays unknown.

    >>> posix_seconds("1970-01-02"), posix_seconds("1970-01-01T00:01:00"), posix_seconds("1970-01-01T01:00:00+01:00")
    (86400.0, 60.0, 0.0)
    >>> posix_seconds(None) is None
    True
    """
    if ts is None:
        return None
    if not isinstance(ts, str):
        return float(ts)
    moment = datetime.fromisoformat(ts.replace("Z", "+00:00"))  # Python 3.10 does not know the Z
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
