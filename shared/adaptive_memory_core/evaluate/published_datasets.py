"""Readers of LoCoMo and LongMemEval, from the files as they are published.

LoCoMo: one user per conversation, one record per turn. The file is a list of objects with sample_id, qa (question,
answer, evidence as "D3:7" for turn 7 of session 3, category 1 to 5; category 5 has adversarial_answer) and conversation
(session_1, session_1_date_time, session_2, ...: lists of turns with speaker, dia_id, text and for an image
blip_caption). Some pieces of evidence are written like "D8:6; D9:17" or "D30:05": they are read as they are meant.
Evidence that names no turn is left out.

LongMemEval: one user per question, since each has a separate history. The file is a list of objects with
question_id, question_type, question, answer, question_date, haystack_session_ids, haystack_dates, haystack_sessions
(lists of turns with role, content and, where it is evidence, has_answer) and answer_session_ids. Questions whose id
ends in "_abs" ask for what was never said; they have no gold and are not scored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.datasets import Dataset, Item, Question


def read_list(path: Path, what: str) -> list[Mapping[str, Any]]:
    """The objects of a file that holds a list of them."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path} cannot be read as JSON: {error}. Give {what}, as published.") from error
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InvalidInputError(f"{path} is not a list of objects. Give {what}, as published.")
    return rows


def wanted(row: Mapping[str, Any], name: str, kind: type, where: str) -> Any:
    """A field that has to be there, of its kind."""
    value = row.get(name)
    if not isinstance(value, kind):
        raise InvalidInputError(f"{where} has the {name} {value!r:.60}. It must be a {kind.__name__} there.")
    return value


def same_length(lists: Mapping[str, Sequence[Any]], where: str) -> None:
    """Refuse lists that should go side by side and do not."""
    lengths = {name: len(one) for name, one in lists.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInputError(f"{where} has lists of different lengths: {lengths}. They must go side by side.")


LOCOMO = "locomo10.json"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?(\d+):0*(\d+)")


def read_locomo(path: Path, *, name: str = "locomo") -> Dataset:
    """The set. Questions of category 5, whose premise is wrong, are not answerable; they have gold all the same."""
    items: list[Item] = []
    questions: list[Question] = []
    for place, row in enumerate(read_list(path, LOCOMO)):
        where = f"{path}, object {place},"
        user = str(row.get("sample_id", place))
        own = list(_locomo_items(wanted(row, "conversation", dict, where), user, where))
        items += own
        questions += _questions(wanted(row, "qa", list, where), own, user, where)
    return Dataset(name, tuple(items), tuple(questions))


def _locomo_items(conversation: Mapping[str, Any], user: str, where: str) -> Iterator[Item]:
    sessions = [int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key))]
    seq = 0
    for number in sorted(sessions):
        session = f"session_{number}"
        ts = _locomo_time(conversation.get(f"{session}_date_time"))
        for turn in wanted(conversation, session, list, where):
            yield _item(turn, user, session, seq, ts, f"{where} {session}")
            seq += 1


def _item(turn: Mapping[str, Any], user: str, session: str, seq: int, ts: float, where: str) -> Item:
    caption = turn.get("blip_caption")
    text = f"{str(turn.get('text', '')).strip()}{f' [shared image: {caption}]' if caption else ''}"
    dialogue = wanted(turn, "dia_id", str, where)
    more = {"caption": caption} if caption else {}
    return Item(f"{user}:{dialogue}", text, None, user, session, seq, ts, turn.get("speaker"), more)


def _questions(rows: list[Any], own: list[Item], user: str, where: str) -> Iterator[Question]:
    known = {item.id for item in own}
    for number, row in enumerate(rows):
        at = f"{where} question {number}"
        category = wanted(row, "category", int, at)
        answer, trap = row.get("answer"), row.get("adversarial_answer")
        gold = [f"{user}:{one}" for one in _evidence(row.get("evidence"))]
        yield Question(
            id=f"{user}:q{number}",
            query=wanted(row, "question", str, at),
            gold_ids=tuple(dict.fromkeys(one for one in gold if one in known)),
            answer=None if answer is None else str(answer),
            type=CATEGORIES.get(category),
            tenant=user,
            answerable=category != ADVERSARIAL,
            ts=max((item.ts for item in own if item.ts is not None), default=None),
            more={"category": category} | ({} if trap is None else {"adversarial_answer": str(trap)}),
        )


def _evidence(given: object) -> Iterator[str]:
    """The turns that pieces of evidence name.

    >>> list(_evidence(["D1:3", "D8:6; D9:17", "D:11:26", "D30:05", "D"]))
    ['D1:3', 'D8:6', 'D9:17', 'D11:26', 'D30:5']
    """
    for one in given if isinstance(given, list) else []:
        yield from (f"D{session}:{turn}" for session, turn in _TURN.findall(str(one)))


def _locomo_time(told: object) -> float:
    """POSIX seconds of a session's time, which the set tells without a zone.

    >>> _locomo_time("1:56 pm on 2 January, 1970")
    136560.0
    """
    try:
        return datetime.strptime(str(told), "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc).timestamp()
    except ValueError as error:
        raise InvalidInputError(
            f"{told!r} is not a time as in LoCoMo. It must be like '1:56 pm on 8 May, 2023'."
        ) from error


LONGMEMEVAL = "longmemeval_s.json, longmemeval_m.json, longmemeval_oracle.json or their cleaned versions"
RECORDS = ("turn", "session", "user")
LISTS = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
_WEEKDAY = re.compile(r"\([^)]*\)")
LongMemEvalTurn = Mapping[str, Any]


def read_longmemeval(path: Path, *, records: str = "turn", name: str = "longmemeval") -> Dataset:
    """The set, with a record for each turn, for each session, or for what the user said in each session ("user")."""
    if records not in RECORDS:
        raise InvalidInputError(f"records is {records!r}. A record of LongMemEval is one of {', '.join(RECORDS)}.")
    items: list[Item] = []
    questions = []
    for place, row in enumerate(read_list(path, LONGMEMEVAL)):
        where = f"{path}, object {place},"
        wanted(row, "question_id", str, where)
        _check(row, where)
        own = list(_longmemeval_items(row, records))
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


def _longmemeval_items(row: Mapping[str, Any], records: str) -> Iterator[Item]:
    """The records of one question's history, in the order of the sessions' dates."""
    user, seq = row["question_id"], 0
    sessions = sorted(
        zip(*(row[one] for one in LISTS), range(len(row[LISTS[0]])), strict=True),
        key=lambda one: _longmemeval_time(one[1]),
    )
    for session, date, turns, place in sessions:
        for number, (speaker, text, evidence) in enumerate(_texts(turns, records)):
            yield Item(
                id=f"{user}:{place}:{number}",
                text=text,
                tenant=user,
                session=str(session),
                seq=seq,
                ts=_longmemeval_time(date),
                speaker=speaker,
                more={"has_answer": evidence},
            )
            seq += 1


def _texts(turns: list[LongMemEvalTurn], records: str) -> Iterator[tuple[str | None, str, bool]]:
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
        ts=None if row.get("question_date") is None else _longmemeval_time(row["question_date"]),
        more={"answer_sessions": sessions},
    )


def _longmemeval_time(date: object) -> float:
    """POSIX seconds of a date as the set writes it.

    >>> _longmemeval_time("1970/01/02 (Fri) 00:01")
    86460.0
    """
    try:
        told = " ".join(_WEEKDAY.sub(" ", str(date)).split())
        return datetime.strptime(told, "%Y/%m/%d %H:%M").replace(tzinfo=timezone.utc).timestamp()
    except ValueError as error:
        raise InvalidInputError(
            f"{date!r} is not a date as in LongMemEval. It must be like '2023/05/20 (Sat) 02:21'."
        ) from error
