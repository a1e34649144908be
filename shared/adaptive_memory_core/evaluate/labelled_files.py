"""How is labelled data read? A folder of two files of JSON lines, gzipped or not, checked line by line.

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
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.labelled import Dataset, Item, Question, posix_seconds

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
Row = TypeVar("Row", Item, Question)


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


def _built(kind: type[Row], row: dict[str, Any], where: str, *, needed: Sequence[str]) -> Row:
    """The row as an item or a question; what has no field of its own goes to `more`."""
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
    """Refuse an id, a text or a gold id that is no text: it would be found nowhere, and count as wrong."""
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
            raise InvalidInputError(f"{path}, line {number}, is no JSON: {problem}.") from problem
        if not isinstance(row, dict):
            raise InvalidInputError(f"{path}, line {number}, is no JSON object.")
        yield row, f"{path}, line {number},"


def _lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            yield from lines
    except (OSError, EOFError, UnicodeError, zlib.error) as problem:
        raise InvalidInputError(f"{path} is no file of JSON lines: {problem}.") from problem


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
        raise InvalidInputError(f"{what}: {len(rows) - len(ids)} ids are used twice. Each must be of its own.")
    return ids
