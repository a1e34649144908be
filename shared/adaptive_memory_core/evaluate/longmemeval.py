"""How is LongMemEval read? Its own file, one user for each question, since each has a history of its own.

The file is a list of objects with question_id, question_type, question, answer, question_date, haystack_session_ids,
haystack_dates, haystack_sessions (lists of turns with role, content and, where it is evidence, has_answer) and
answer_session_ids. Questions whose id ends in "_abs" ask for what was never said; they have no gold and are not scored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.labelled import Dataset, Item, Question
from adaptive_memory_core.evaluate.published import read_list, same_length, wanted

WHAT = "longmemeval_s.json, longmemeval_m.json, longmemeval_oracle.json or their cleaned versions"
RECORDS = ("turn", "session", "user")
LISTS = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
_WEEKDAY = re.compile(r"\([^)]*\)")
Turn = Mapping[str, Any]


def read_longmemeval(path: Path, *, records: str = "turn", name: str = "longmemeval") -> Dataset:
    """The set, with a record for each turn, for each session, or for what the user said in each session ("user")."""
    if records not in RECORDS:
        raise InvalidInputError(f"records is {records!r}. A record of LongMemEval is one of {', '.join(RECORDS)}.")
    items: list[Item] = []
    questions = []
    for place, row in enumerate(read_list(path, WHAT)):
        where = f"{path}, object {place},"
        wanted(row, "question_id", str, where)
        _check(row, where)
        own = list(_items(row, records))
        questions.append(_question(row, own, where))
        items += own
    return Dataset(name, tuple(items), tuple(questions))


def _check(row: Mapping[str, Any], where: str) -> None:
    for one in (*LISTS, "answer_session_ids"):
        wanted(row, one, list, where)
    same_length({one: row[one] for one in LISTS}, where)
    for turn in (turn for session in row["haystack_sessions"] for turn in session):
        wanted(turn, "content", str, f"{where} a turn")
        wanted(turn, "role", str, f"{where} a turn")


def _items(row: Mapping[str, Any], records: str) -> Iterator[Item]:
    """The records of one question's history, in the order of the sessions' dates."""
    user, seq = row["question_id"], 0
    sessions = sorted(
        zip(*(row[one] for one in LISTS), range(len(row[LISTS[0]])), strict=True), key=lambda one: _time(one[1])
    )
    for session, date, turns, place in sessions:
        for number, (speaker, text, evidence) in enumerate(_texts(turns, records)):
            yield Item(
                id=f"{user}:{place}:{number}",
                text=text,
                tenant=user,
                session=str(session),
                seq=seq,
                ts=_time(date),
                speaker=speaker,
                more={"has_answer": evidence},
            )
            seq += 1


def _texts(turns: list[Turn], records: str) -> Iterator[tuple[str | None, str, bool]]:
    """Speaker, text and whether it is evidence, for each record of a session."""
    if records == "turn":
        yield from ((turn["role"], turn["content"], bool(turn.get("has_answer"))) for turn in turns)
        return
    own = [turn for turn in turns if records == "session" or turn["role"] == "user"]
    lines = [turn["content"] if records == "user" else f"{turn['role']}: {turn['content']}" for turn in own]
    if lines:
        yield None, "\n".join(lines), any(turn.get("has_answer") for turn in turns)


def _question(row: Mapping[str, Any], own: list[Item], where: str) -> Question:
    """Gold are the records that are marked; where none is, those of the sessions that answer."""
    answerable = not row["question_id"].endswith("_abs")
    sessions = [str(one) for one in row["answer_session_ids"]]
    answers = [item for item in own if item.session in sessions]
    marked = any(item.more["has_answer"] for item in answers)
    gold = [item.id for item in answers if item.more["has_answer"] or (not marked and answerable)]
    return Question(
        id=row["question_id"],
        query=wanted(row, "question", str, where),
        gold_ids=tuple(gold),
        answer=None if row.get("answer") is None else str(row["answer"]),
        type=row.get("question_type"),
        tenant=row["question_id"],
        answerable=answerable,
        ts=None if row.get("question_date") is None else _time(row["question_date"]),
        more={"answer_sessions": sessions},
    )


def _time(date: object) -> float:
    """POSIX seconds of a date as the set writes it.

    >>> _time("1970/01/02 (Fri) 00:01")
    86460.0
    """
    try:
        told = " ".join(_WEEKDAY.sub(" ", str(date)).split())
        return datetime.strptime(told, "%Y/%m/%d %H:%M").replace(tzinfo=timezone.utc).timestamp()
    except ValueError as error:
        raise InvalidInputError(
            f"{date!r} is no date of LongMemEval. It must be like '2023/05/20 (Sat) 02:21'."
        ) from error
