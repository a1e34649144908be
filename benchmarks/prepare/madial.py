"""How does MADial-Bench become a folder? A memory is an item; each place where one is recalled is a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.one_line import one_line
from benchmarks.prepare.public_set import Files, Row, Rows
from benchmarks.prepare.published_files import json_rows, needed

MEMORIES, DIALOGUES = "MADial-Bench-en-memory.json", "MADial-Bench-en-dialogue.json"
SPEAKER = re.compile(r"^<[^>]*>:")
ASSISTANT = "<Assistant>"


def rows(files: Files, draw: Draw) -> Rows:
    """The memories, and the turns of the dialogues before each recall."""
    return Rows(list(_memories(files[MEMORIES])), draw.of(list(_questions(files[DIALOGUES]))))


def _memories(path: Path) -> Iterator[Row]:
    for row in json_rows(path):
        for memory, said in row.items():
            needed(said, path, "time", "event", "scene", "emotion")
            yield {
                "id": memory,
                "ts": said["time"],
                "text": one_line(said["event"]),
                "scene": said["scene"],
                "emotion": said["emotion"],
            }


def _questions(path: Path) -> Iterator[Row]:
    for number, row in enumerate(json_rows(path)):
        needed(row, path, "dialogue", "test-turn", "relevant-id", "user-id")
        for place, turn in enumerate(row["test-turn"]):
            yield _question(number, turn, row, first=place == 0)


def _question(number: int, turn: int, row: dict[str, Any], *, first: bool) -> Row:
    before = [one_line(line) for line in row["dialogue"][1:turn]]  # the first line marks the beginning
    by_user = [line for line in before if not line.startswith(ASSISTANT)]
    return {
        "id": f"d{number}t{turn}",
        "query": _words(by_user[-1]),
        "context": before,
        "gold_ids": [str(one) for one in row["relevant-id"]],
        "answer": _words(one_line(row["dialogue"][turn])),
        "type": "proactive-recall",
        "user": row["user-id"],
        "first_test_turn": first,
    }


def _words(line: str) -> str:
    """What is said in a line, without who says it.

    >>> _words('<Lisa>: "Good morning!"'), _words('"Good morning!"')
    ('Good morning!', 'Good morning!')
    """
    return SPEAKER.sub("", line).strip().strip('"')
