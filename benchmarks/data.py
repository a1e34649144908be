"""What is measured on? Reads one folder of public questions with gold labels, given by --data DIR.

DIR/NAME holds two files, one JSON object per line:
- corpus.jsonl.gz: id, text; and if known title, tenant, session, seq, ts, speaker
- queries.jsonl.gz: id, query, gold_ids (ids of the corpus, may be empty); and if known answer, type, tenant, split,
  answerable, ts
Any other field is kept in `more`. A ts is a number (POSIX seconds) or an ISO date or date-time, which without a zone is
read as UTC: right for order and for age, not for the hour of the day. Nothing of it is ever copied into this project.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NoReturn, TypeVar


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be found."""

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


Row = TypeVar("Row", Item, Question)


def add_data_argument(parser: argparse.ArgumentParser) -> None:
    """Gives a benchmark its --data DIR."""
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="folder of data folders; format: benchmarks/data.py"
    )


def load(folder: Path, name: str) -> Dataset:
    """The data in folder/name. If it is missing or malformed, says so on stderr and ends the program with code 2."""
    items = tuple(
        _built(Item, row, where, needed=("id", "text")) for row, where in _rows(folder / name / "corpus.jsonl.gz")
    )
    questions = tuple(
        _built(Question, row, where, needed=("id", "query", "gold_ids"))
        for row, where in _rows(folder / name / "queries.jsonl.gz")
    )
    known = _distinct(items, "corpus")
    _distinct(questions, "queries")
    for question in questions:
        if missing := [gold for gold in question.gold_ids if gold not in known]:
            _refuse(f"{name}: the gold {missing} of question {question.id!r} is not in the corpus")
    return Dataset(name, items, questions)


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


def _built(kind: type[Row], row: dict[str, Any], where: str, *, needed: Sequence[str]) -> Row:
    """The row as an item or a question; what has no field of its own goes to `more`."""
    if missing := [name for name in needed if name not in row]:
        _refuse(f"{where} has no {', '.join(missing)}")
    names = {field.name for field in fields(kind)} - {"more"}
    own = {name: value for name, value in row.items() if name in names}
    if "gold_ids" in own:
        own["gold_ids"] = tuple(dict.fromkeys(own["gold_ids"]))
    try:
        own["ts"] = posix_seconds(row.get("ts"))
    except (ValueError, TypeError):
        _refuse(f"{where} has the ts {row['ts']!r}, which is neither a number nor an ISO date or date-time")
    return kind(**own, more={name: value for name, value in row.items() if name not in names})


def _rows(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Each line's object, and the words to name the line in a complaint."""
    if not path.is_file():
        _refuse(f"{path} does not exist" if path.parent.is_dir() else f"there is no folder {path.parent}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    _refuse(f"{path}, line {number}, is no JSON object")
                yield row, f"{path}, line {number},"
        except (OSError, EOFError, ValueError, zlib.error) as problem:
            _refuse(f"{path} is no gzipped file of JSON lines: {problem}")


def _distinct(rows: Sequence[Item] | Sequence[Question], what: str) -> set[str]:
    ids = {row.id for row in rows}
    if len(ids) != len(rows):
        _refuse(f"{what}: {len(rows) - len(ids)} ids are used twice")
    return ids


def _refuse(problem: str) -> NoReturn:
    print(f"Data: {problem}.", file=sys.stderr)
    print(
        "--data takes a folder that holds one folder per data set, each with corpus.jsonl.gz and queries.jsonl.gz.\n"
        "The format is described at the top of benchmarks/data.py. The data is public but not part of this project.",
        file=sys.stderr,
    )
    raise SystemExit(2)
