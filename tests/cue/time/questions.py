"""What do people ask, and when do they mean? Questions with answers, written by hand, in two halves.

All are asked on Wednesday, 13 May 2026, at noon UTC. A line of the tables next to this file is `kind | question`, for
a window `from..to | question` with dates (the last one excluded; nothing for an open end; several windows with "+").
The rules were tuned on the questions of one half; of the other half nobody looked at errors before the rules were done.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from tests.tables import lines

ASKED_AT = datetime(2026, 5, 13, 12, tzinfo=timezone.utc).timestamp()


class Question(NamedTuple):
    text: str
    kind: str  # "none", "window", "past", "earliest" or "present"
    windows: tuple[tuple[str, str], ...] = ()

    @property
    def tuned_on(self) -> bool:
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0


def _question(line: str) -> Question:
    label, _, text = line.partition(" | ")
    if ".." not in label:
        return Question(text, label)
    pairs = (window.partition("..") for window in label.split("+"))
    return Question(text, "window", tuple((start, end) for start, _, end in pairs))


def questions(table: str) -> list[Question]:
    return [_question(line) for line in lines(Path(__file__).with_name(f"{table}.txt"))]


QUESTIONS, FOUND = questions("english"), questions("found")
TABLES = {name: questions(name.lower()) for name in ("German", "French", "Spanish", "Chinese")}
