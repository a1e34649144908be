"""How does LongMemEval become a folder? Each question has its own history, so each is a tenant; a turn is an item."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.one_line import one_line
from benchmarks.prepare.public_set import Files, Row, Rows
from benchmarks.prepare.published_files import json_rows, needed

NEEDED = (
    "question_id",
    "question_type",
    "question",
    "question_date",
    "answer",
    "haystack_session_ids",
    "haystack_dates",
    "haystack_sessions",
    "answer_session_ids",
)
UNANSWERABLE = "_abs"  # how the ids of questions end whose answer was never said
WRITTEN_AT = "%Y/%m/%d (%a) %H:%M"


def rows(files: Files, draw: Draw) -> Rows:
    """The histories of the questions that are drawn, and those questions."""
    published = draw.of([row for path in files.values() for row in _published(path)])
    corpus = [item for row in published for item in _turns(row)]
    gold: dict[str, list[str]] = {}
    for item in corpus:
        if item["has_answer"]:
            gold.setdefault(item["tenant"], []).append(item["id"])
    return Rows(corpus, [_query(row, gold.get(row["question_id"], [])) for row in published])


def _published(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json_rows(path)
    for row in found:
        needed(row, path, *NEEDED)
    return found


def _turns(row: dict[str, Any]) -> Iterator[Row]:
    """In the order of time; a session may stand in a history twice, so its place is in the id."""
    sessions = zip(row["haystack_dates"], row["haystack_session_ids"], row["haystack_sessions"], strict=True)
    ordered = sorted(enumerate(sessions), key=lambda one: (_moment(one[1][0]), one[0]))
    turns = [(place, date, name, turn) for place, (date, name, turns) in ordered for turn in enumerate(turns)]
    for order, (place, date, name, (number, turn)) in enumerate(turns):
        yield {
            "id": f"{row['question_id']}:{place}:{number}",
            "tenant": row["question_id"],
            "session": name,
            "seq": order,
            "ts": _moment(date),
            "speaker": turn["role"],
            "text": one_line(turn["content"]),
            "has_answer": bool(turn.get("has_answer")),
        }


def _query(row: dict[str, Any], gold: list[str]) -> Row:
    return {
        "id": row["question_id"],
        "tenant": row["question_id"],
        "query": one_line(row["question"]),
        "gold_ids": gold,
        "answer": str(row["answer"]),
        "type": row["question_type"],
        "answerable": not str(row["question_id"]).endswith(UNANSWERABLE),
        "ts": _moment(row["question_date"]),
        "answer_sessions": row["answer_session_ids"],
    }


def _moment(date: str) -> str:
    """An ISO date-time.

    >>> _moment("2023/05/20 (Sat) 02:21")
    '2023-05-20T02:21:00'
    """
    return datetime.strptime(date, WRITTEN_AT).isoformat()
