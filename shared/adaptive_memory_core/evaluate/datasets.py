"""Labelled data: texts, and questions with known answers, from a folder or from the files of LoCoMo and LongMemEval.

A folder of two files of JSON lines, gzipped or not:

- corpus.jsonl or corpus.jsonl.gz: id, text; optionally title, tenant, session, seq, ts, speaker
- queries.jsonl or queries.jsonl.gz: id, query, gold_ids (ids of the corpus, may be empty); optionally answer, type,
  tenant, split, answerable, ts
The tenant is the user whose memory contains an item or answers a question. Any other field is stored in `more`. A ts is
a number (POSIX seconds) or an ISO date or date-time. Without a zone it is read as UTC, which is right for order and age
but not for the hour of the day.

LoCoMo: one user per conversation, one record per turn. The file is a list of objects with sample_id, qa (question,
answer, evidence as "D3:7" for turn 7 of session 3, category 1 to 5; category 5 has adversarial_answer) and conversation
(session_1, session_1_date_time, session_2, ...: lists of turns with speaker, dia_id, text and for an image
blip_caption). Some pieces of evidence are written like "D8:6; D9:17" or "D30:05"; these are read as intended. Evidence
that names no turn is left out.

LongMemEval: one user per question, since each has a separate history. The file is a list of objects with
question_id, question_type, question, answer, question_date, haystack_session_ids, haystack_dates, haystack_sessions
(lists of turns with role, content and, for evidence, has_answer) and answer_session_ids. Questions whose id ends in
"_abs" ask about things that were never said; they have no gold and are not scored.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from adaptive_memory_core.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Item:
    """One text that can be found: a record, a turn of a conversation, a paragraph."""

    id: str
    text: str
    title: str | None = None
    tenant: str | None = None
    session: str | None = None
    seq: int | None = None  # the order within the tenant, even if all items of a session share one ts
    ts: float | None = None  # POSIX seconds
    speaker: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def titled_text(self) -> str:
        """The text with its title in front, unless the text already starts with it.

        >>> Item(id="1", title="Rome", text="It lies on the Tiber.").titled_text
        'Rome\\nIt lies on the Tiber.'
        >>> Item(id="1", title="Rome", text="Rome is old.").titled_text
        'Rome is old.'
        """
        return self.text if self.title is None or self.text.startswith(self.title) else f"{self.title}\n{self.text}"

    @property
    def labelled_text(self) -> str:
        """The text with its speaker or title in front, because questions name them.

        >>> Item(id="1", speaker="Ana", text="Tea, please.").labelled_text
        'Ana: Tea, please.'
        """
        return self.titled_text if self.speaker is None else f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the items that answer it."""

    id: str
    query: str
    gold_ids: tuple[str, ...]
    answer: str | None = None
    type: str | None = None
    tenant: str | None = None
    split: str | None = None
    answerable: bool = True  # false: the gold, if any, only names the items that the trap was built from
    ts: float | None = None  # POSIX seconds
    more: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Dataset:
    """The items and questions of one data set, in the order of its files."""

    name: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]

    @property
    def scorable(self) -> tuple[Question, ...]:
        """The questions that can be measured: answerable, with gold."""
        return tuple(question for question in self.questions if question.answerable and question.gold_ids)


def posix_seconds(ts: str | float | datetime | None) -> float | None:
    """The moment in POSIX seconds, None if unknown. A date without a zone is read as UTC.

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
    """The data in a folder, named after the folder by default. Raises InvalidInputError with the place of a fault."""
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
    """Convert a row to an item or a question; values without a field go to `more`."""
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
    """Raise if an id, text or gold id is not a string: it would never match, and so count as wrong."""
    for name in ("id", "text", "query"):
        if not isinstance(row.get(name, ""), str):
            raise InvalidInputError(f"{where} has the {name} {row[name]!r}. It must be a string.")
    gold = row.get("gold_ids", [])
    if not isinstance(gold, list) or not all(isinstance(one, str) for one in gold):
        raise InvalidInputError(f'{where} has the gold_ids {gold!r}. They must be a list of ids, e.g. ["m1"].')


def _rows(folder: Path, name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Each line's object, and a description of the line for error messages."""
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
        raise InvalidInputError(f"There is no folder {folder}. Give a folder with {CORPUS} and {QUERIES}.")
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise InvalidInputError(f"{folder / name}.gz does not exist, nor does {name}. Give a folder with both files.")


def _distinct(rows: Sequence[Item] | Sequence[Question], what: str) -> set[str]:
    ids = {row.id for row in rows}
    if len(ids) != len(rows):
        raise InvalidInputError(f"{what}: {len(rows) - len(ids)} ids are used twice. Each id must be unique.")
    return ids


def read_list(path: Path, what: str) -> list[Mapping[str, Any]]:
    """The objects in a JSON file that contains a list of them."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path} cannot be read as JSON: {error}. Give {what}, as published.") from error
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InvalidInputError(f"{path} is not a list of objects. Give {what}, as published.")
    return rows


def wanted(row: Mapping[str, Any], name: str, kind: type, where: str) -> Any:
    """A required field of the row. Raises InvalidInputError if it is missing or of another type."""
    value = row.get(name)
    if not isinstance(value, kind):
        raise InvalidInputError(f"{where} has the {name} {value!r:.60}. It must be a {kind.__name__} there.")
    return value


def same_length(lists: Mapping[str, Sequence[Any]], where: str) -> None:
    """Raise InvalidInputError if parallel lists differ in length."""
    lengths = {name: len(one) for name, one in lists.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInputError(f"{where} has lists of different lengths: {lengths}. They must have the same length.")


LOCOMO = "locomo10.json"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?(\d+):0*(\d+)")


def read_locomo(path: Path, *, name: str = "locomo") -> Dataset:
    """Read LoCoMo. Questions of category 5 have a wrong premise: they are not answerable, but have gold."""
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
        ts = _time_of("LoCoMo", conversation.get(f"{session}_date_time"))
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
    """The turns that are named as evidence.

    >>> list(_evidence(["D1:3", "D8:6; D9:17", "D:11:26", "D30:05", "D"]))
    ['D1:3', 'D8:6', 'D9:17', 'D11:26', 'D30:5']
    """
    for one in given if isinstance(given, list) else []:
        yield from (f"D{session}:{turn}" for session, turn in _TURN.findall(str(one)))


LONGMEMEVAL = "longmemeval_s.json, longmemeval_m.json, longmemeval_oracle.json or their cleaned versions"
RECORDS = ("turn", "session", "user")
LISTS = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
_WEEKDAY = re.compile(r"\([^)]*\)")
LongMemEvalTurn = Mapping[str, Any]


def read_longmemeval(path: Path, *, records: str = "turn", name: str = "longmemeval") -> Dataset:
    """Read LongMemEval, with one record per turn, per session, or per session with only the user's turns ("user")."""
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
        key=lambda one: _time_of("LongMemEval", one[1]),
    )
    for session, date, turns, place in sessions:
        for number, (speaker, text, evidence) in enumerate(_texts(turns, records)):
            yield Item(
                id=f"{user}:{place}:{number}",
                text=text,
                tenant=user,
                session=str(session),
                seq=seq,
                ts=_time_of("LongMemEval", date),
                speaker=speaker,
                more={"has_answer": evidence},
            )
            seq += 1


def _texts(turns: list[LongMemEvalTurn], records: str) -> Iterator[tuple[str | None, str, bool]]:
    """The speaker, the text and an evidence flag for each record of a session."""
    if records == "turn":
        yield from ((turn["role"], turn["content"], bool(turn.get("has_answer"))) for turn in turns)
        return
    own = [turn for turn in turns if records == "session" or turn["role"] == "user"]
    lines = [turn["content"] if records == "user" else f"{turn['role']}: {turn['content']}" for turn in own]
    if lines:
        yield None, "\n".join(lines), any(turn.get("has_answer") for turn in turns)


def _question(row: Mapping[str, Any], own: list[Item], where: str) -> Question:
    """The question. Its gold is the marked records or, if none is marked, those of the answering sessions."""
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
        ts=None if row.get("question_date") is None else _time_of("LongMemEval", row["question_date"]),
        more={"answer_sessions": sessions},
    )


TIMES = {  # each set's time format, always without a zone, and an example
    "LoCoMo": ("%I:%M %p on %d %B, %Y", "1:56 pm on 8 May, 2023"),
    "LongMemEval": ("%Y/%m/%d %H:%M", "2023/05/20 (Sat) 02:21"),
}


def _time_of(name: str, given: object) -> float:
    """POSIX seconds of a time in the format of the named set.

    >>> _time_of("LongMemEval", "1970/01/02 (Fri) 00:01"), _time_of("LoCoMo", "1:56 pm on 2 January, 1970")
    (86460.0, 136560.0)
    """
    form, example = TIMES[name]
    try:
        text = " ".join(_WEEKDAY.sub(" ", str(given)).split())
        return datetime.strptime(text, form).replace(tzinfo=timezone.utc).timestamp()
    except ValueError as error:
        raise InvalidInputError(f"{given!r} is not a time as in {name}. It must be like {example!r}.") from error
