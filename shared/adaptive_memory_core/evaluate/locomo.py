"""How is LoCoMo read? Its own file, locomo10.json: one user for each conversation, one record for each turn.

The file is a list of objects with sample_id, qa (question, answer, evidence as "D3:7" for turn 7 of session 3, category
1 to 5; category 5 has adversarial_answer) and conversation (session_1, session_1_date_time, session_2, ...: lists of
turns with speaker, dia_id, text and for an image blip_caption). Some pieces of evidence are written like "D8:6; D9:17"
or "D30:05": they are read as they are meant. What names no turn is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.labelled import Dataset, Item, Question
from adaptive_memory_core.evaluate.published import read_list, wanted

WHAT = "locomo10.json"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?(\d+):0*(\d+)")


def read_locomo(path: Path, *, name: str = "locomo") -> Dataset:
    """The set. Questions of category 5, whose premise is wrong, are not answerable; they have gold all the same."""
    items: list[Item] = []
    questions: list[Question] = []
    for place, row in enumerate(read_list(path, WHAT)):
        where = f"{path}, object {place},"
        user = str(row.get("sample_id", place))
        own = list(_items(wanted(row, "conversation", dict, where), user, where))
        items += own
        questions += _questions(wanted(row, "qa", list, where), own, user, where)
    return Dataset(name, tuple(items), tuple(questions))


def _items(conversation: Mapping[str, Any], user: str, where: str) -> Iterator[Item]:
    sessions = [int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key))]
    seq = 0
    for number in sorted(sessions):
        session = f"session_{number}"
        ts = _time(conversation.get(f"{session}_date_time"))
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


def _time(told: object) -> float:
    """POSIX seconds of a session's time, which the set tells without a zone.

    >>> _time("1:56 pm on 2 January, 1970")
    136560.0
    """
    try:
        return datetime.strptime(str(told), "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc).timestamp()
    except ValueError as error:
        raise InvalidInputError(f"{told!r} is no time of LoCoMo. It must be like '1:56 pm on 8 May, 2023'.") from error
