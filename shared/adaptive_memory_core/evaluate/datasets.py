"""Labelled data: texts, and questions whose answers are known; read from a folder with two files of JSON lines.

A folder of two files of JSON lines, gzipped or not:

- corpus.jsonl or corpus.jsonl.gz: id, text; and if known title, tenant, session, seq, ts, speaker
- queries.jsonl or queries.jsonl.gz: id, query, gold_ids (ids of the corpus, may be empty); and if known answer, type,
  tenant, split, answerable, ts
A tenant is the user in whose memory an item stands, and in whose memory a question is asked. Any other field is kept in
`more`. A ts is a number (POSIX seconds) or an ISO date or date-time, which without a zone is read as UTC: right for
order and for age, not for the hour of the day.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from adaptive_memory_core.errors import InvalidInputError


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


def posix_seconds(ts: str | float | datetime | None) -> float | None:
    """The moment in POSIX seconds; None stays unknown. A date of a data set without a zone is taken as UTC.

    >>> posix_seconds("1970-01-02"), posix_seconds("1970-01-01T00:01:00"), posix_seconds("1970-01-01T01:00:00+01:00")
    (86400.0, 60.0, 0.0)
    >>> posix_seconds(None) is None
    True
    """
    if ts is None:
        return None
    if not isinstance(ts, str | datetime):
        return float(ts)
    moment = ts if isinstance(ts, datetime) else datetime.fromisoformat(ts.replace("Z", "+00:00"))  # for Python 3.10
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
DatasetRow = TypeVar("DatasetRow", Item, Question)


def read_folder(folder: Path, name: str | None = None) -> Dataset:
    """The data in a folder, under the folder's own name or another; an InvalidInputError says what is wrong where."""
    name = folder.name if name is None else name
    items = tuple(_built(Item, row, where, needed=("id", "text")) for row, where in _rows(folder, CORPUS))
    wanted = ("id", "query", "gold_ids")
    questions = tuple(_built(Question, row, where, needed=wanted) for row, where in _rows(folder, QUERIES))
    known = _distinct(items, "corpus")
    _distinct(questions, "queries")
    for question in questions:
        if missing := [gold for gold in question.gold_ids if gold not in known]:
            raise InvalidInputError(f"{name}: the gold {missing} of question {question.id!r} is not in the corpus.")
    return Dataset(name, items, questions)


def _built(kind: type[DatasetRow], row: dict[str, Any], where: str, *, needed: Sequence[str]) -> DatasetRow:
    """The row as an item or a question; values without a field go to `more`."""
    if missing := [name for name in needed if name not in row]:
        raise InvalidInputError(f"{where} has no {', '.join(missing)}.")
    names = {field.name for field in fields(kind)} - {"more"}
    own = {name: value for name, value in row.items() if name in names}
    _check_texts(row, where)
    if "gold_ids" in own:
        own["gold_ids"] = tuple(dict.fromkeys(own["gold_ids"]))
    try:
        own["ts"] = posix_seconds(row.get("ts"))
    except (ValueError, TypeError) as error:
        raise InvalidInputError(
            f"{where} has the ts {row['ts']!r}, which is neither a number nor an ISO date or date-time."
        ) from error
    return kind(**own, more={name: value for name, value in row.items() if name not in names})


def _check_texts(row: dict[str, Any], where: str) -> None:
    """Refuse an id, a text or a gold id that is not a string: it would be found nowhere, and count as wrong."""
    for name in ("id", "text", "query"):
        if not isinstance(row.get(name, ""), str):
            raise InvalidInputError(f"{where} has the {name} {row[name]!r}. It must be a text in quotes.")
    gold = row.get("gold_ids", [])
    if not isinstance(gold, list) or not all(isinstance(one, str) for one in gold):
        raise InvalidInputError(f'{where} has the gold_ids {gold!r}. They must be a list of ids, e.g. ["m1"].')


def _rows(folder: Path, name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Each line's object, and the words to name the line in a complaint."""
    path = _found(folder, name)
    for number, line in enumerate(_lines(path), start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise InvalidInputError(f"{path}, line {number}, is not valid JSON: {problem}.") from problem
        if not isinstance(row, dict):
            raise InvalidInputError(f"{path}, line {number}, is not a JSON object.")
        yield row, f"{path}, line {number},"


def _lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            yield from lines
    except (OSError, EOFError, UnicodeError, zlib.error) as problem:
        raise InvalidInputError(f"{path} is not a file of JSON lines: {problem}.") from problem


def _found(folder: Path, name: str) -> Path:
    if not folder.is_dir():
        raise InvalidInputError(f"There is no folder {folder}. Give one that holds {CORPUS} and {QUERIES}.")
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise InvalidInputError(f"{folder / name}.gz does not exist, nor does {name}. Give a folder that holds both.")


def _distinct(rows: Sequence[Item] | Sequence[Question], what: str) -> set[str]:
    ids = {row.id for row in rows}
    if len(ids) != len(rows):
        raise InvalidInputError(f"{what}: {len(rows) - len(ids)} ids are used twice. Each id must be unique.")
    return ids
