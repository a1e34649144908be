"""Questions with verdicts in the ledger: one row per verdict, so that processes that learn together lose nothing.

Vectors are stored as numbers of 16 bits, and cached in RAM until a row changes (`users.questions_changed`) or is added
(`users.questions_last`). Triggers delete rows with their record, and questions with their last row.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive_memory_core.flow.ports.ledger_values import LedgerVersion
from adaptive_memory_core.flow.ports.records import NOT_ACTIVATED, Imported, JudgedQuestion
from adaptive_memory_core.learn.asked_before import RatedQuestions, nearest_pair
from adaptive_memory_core.records import Scope, Verdict
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.schema import LedgerPart

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.ledger_context import LedgerContext, QuestionsVersion

_FIND = "SELECT question_key FROM judged_questions WHERE recall_id = ? AND recall_id != ''"
_ADD = (
    "INSERT INTO judged_questions (user_key, recall_id, vector, time_vector, embedder) "
    "VALUES (?, ?, ?, ?, (SELECT embedder FROM collections WHERE collection_key = ?)) RETURNING question_key"
)
_PUT = (
    "INSERT INTO judged_for (record_key, question_key, recall_id, helpful, unhelpful, ahead, activated, supports) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (record_key, recall_id) DO UPDATE SET helpful = excluded.helpful, "
    "unhelpful = excluded.unhelpful, supports = excluded.supports WHERE judged_for.helpful != excluded.helpful "
    "OR judged_for.unhelpful != excluded.unhelpful OR judged_for.supports != excluded.supports"
)
_QUESTIONS_OF = (
    "SELECT DISTINCT question_key, vector FROM judged_for JOIN judged_questions USING (question_key) "
    "WHERE record_key = ? ORDER BY question_key"
)
_JOIN = "UPDATE judged_for SET question_key = ? WHERE record_key = ? AND question_key = ?"
_NEWS = (
    "SELECT stored_id, question_key, judged_for.helpful, judged_for.unhelpful, ahead, activated, supports "
    "FROM judged_for JOIN records USING (record_key) "
    "WHERE user_key = ? AND {whose} AND judged_key > ? ORDER BY judged_key"
)
_VECTOR = "SELECT vector, time_vector FROM judged_questions WHERE question_key = ? AND coalesce(embedder, '') = ?"


Counts = tuple[int, int, float | None, int, int]  # helpful, unhelpful, the record's lead, and its sentences


class HeldQuestions(NamedTuple):
    """A user's questions in RAM, and their version: number of changes, last row, and embedder."""

    version: QuestionsVersion
    questions: RatedQuestions


def bytes_of(vector: Any) -> bytes | None:
    """A vector at length 1, as numbers of 16 bits; None if it has no direction."""
    given = np.asarray(vector, dtype=np.float64).ravel()
    length = float(np.linalg.norm(given))
    if not 0.0 < length < float("inf"):
        return None
    return (given / length).astype("<f2").tobytes()


def stored_question_key(
    sql: sqlite3.Connection, whose: tuple[int, int], recall_id: str, vector: bytes, time: bytes | None
) -> int:
    """The key of a recall's question, which is stored if it is new. `whose` are the keys of collection and user."""
    collection, user = whose
    row = sql.execute(_FIND, (recall_id,)).fetchone()
    return int((row or sql.execute(_ADD, (user, recall_id, vector, time, collection)).fetchone())[0])


def put_verdict(sql: sqlite3.Connection, record: int, question: int, recall_id: str, verdict: Counts) -> None:
    sql.execute(_PUT, (record, question, recall_id, *verdict))


def forget_questions(sql: sqlite3.Connection, record: int) -> None:
    sql.execute("DELETE FROM judged_for WHERE record_key = ?", (record,))


def join_too_many(sql: sqlite3.Connection, record: int, most: int) -> None:
    """If a record has too many questions, join the two most similar ones under the earlier one. All verdicts stay."""
    found = sql.execute(_QUESTIONS_OF, (record,)).fetchall()
    while len(found) > most:
        size = len(found[-1][1])
        vectors = np.stack([_numbers(blob if len(blob) == size else bytes(size)) for _, blob in found])
        first, second = nearest_pair(vectors)
        sql.execute(_JOIN, (found[first][0], record, found[second][0]))
        del found[second]


def held_questions(
    sql: sqlite3.Connection, whose: tuple[int, str], version: QuestionsVersion, before: HeldQuestions | None
) -> HeldQuestions:
    """The user's present questions: the cached ones with the new rows added, unless earlier rows have changed."""
    same = before is not None and before.version[::2] == version[::2]
    kept = before if same else None
    last = 0 if kept is None else kept.version[1]
    new = sql.execute(_NEWS.format(whose=whose[1]), (whose[0], last)).fetchall()
    questions = _NONE if kept is None else kept.questions
    return HeldQuestions(version, _extended(sql, version[2], questions, new) if new else questions)


_NOBODY: Any = np.zeros(0, dtype=np.int64)
_NO_VECTORS = np.zeros((0, 0), dtype=np.float32)
_COLUMNS = ("records", "rows", "helpful", "unhelpful", "ahead", "activated", "supports")
_NOTHING: dict[str, Any] = {**dict.fromkeys(_COLUMNS, _NOBODY), "ahead": np.zeros(0)}
_NONE = RatedQuestions([], _NO_VECTORS, **_NOTHING, times=_NO_VECTORS)


def _extended(sql: sqlite3.Connection, embedder: str | None, before: RatedQuestions, new: list[Any]) -> RatedQuestions:
    """The questions with new rows added. Vectors of another embedder or length become zeros, which have no effect."""
    ids = dict.fromkeys([*before.stored_ids, *(row[0] for row in new)])
    keys = dict.fromkeys([*before.keys, *(row[1] for row in new)])
    found = [
        sql.execute(_VECTOR, (key, embedder or "")).fetchone() or (b"", None) for key in list(keys)[len(before.keys) :]
    ]
    size = next((len(vector) // 2 for vector, _ in reversed(found) if vector), before.vectors.shape[1])
    places = {one: place for place, one in enumerate(ids)}, {one: place for place, one in enumerate(keys)}
    added = zip(*((places[0][row[0]], places[1][row[1]], *row[2:]) for row in new), strict=True)
    known = [getattr(before, name) for name in _COLUMNS]
    columns = {
        name: np.concatenate((have, np.array(more, dtype=have.dtype)))
        for name, have, more in zip(_COLUMNS, known, added, strict=True)
    }
    vectors = _rows(before.vectors, [vector for vector, _ in found], size, len(before.keys))
    times = _rows(before.times, [time for _, time in found], size, len(before.keys))
    return RatedQuestions(list(ids), vectors, keys=list(keys), times=times, **columns)


def _rows(before: Any, blobs: Sequence[bytes | None], size: int, count: int) -> Any:
    """The vectors with new ones added; zeros for vectors of another length."""
    old = before if before.shape[1] == size else np.zeros((count, size), dtype=np.float32)
    same = [one if one is not None and len(one) == 2 * size else bytes(2 * size) for one in blobs]
    new = np.array([_numbers(one) for one in same], dtype=np.float32)
    return np.concatenate((old, new.reshape(len(same), size)))


def _numbers(blob: bytes) -> Any:
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)


MOST_USERS = 64  # users whose questions stay in RAM
_WORDS = "SELECT cue FROM judged_questions JOIN recalls USING (recall_id) WHERE question_key = ?"
_OF_RECORD = (
    "SELECT stored_id, vector, sum(judged_for.helpful), sum(judged_for.unhelpful), min(ahead), activated, supports, "
    "time_vector FROM judged_for JOIN judged_questions USING (question_key) JOIN records USING (record_key) WHERE "
    "record_key = ? GROUP BY question_key, stored_id, vector, time_vector, activated, supports ORDER BY question_key"
)


class LedgerJudgedQuestions(LedgerPart):
    """The questions for which records were judged, by user. They are removed with the record or with the last verdict.
    Above the maximum number, the two most similar questions become one."""

    def __init__(self, shared: LedgerContext) -> None:
        super().__init__(shared)
        self._held: OrderedDict[tuple[int, bool], HeldQuestions] = OrderedDict()

    def keep(self, scope: Scope, question: JudgedQuestion, verdicts: Mapping[str, Verdict]) -> None:
        """Store the verdicts on records for a question; an opposite verdict replaces an earlier one."""
        vector = bytes_of(question.vector)
        if vector is None:
            return
        with self._shared.writing() as sql:
            known = self._known(sql, scope, list(verdicts))
            if not known:
                return
            time = None if question.time is None else bytes_of(question.time)
            key = stored_question_key(sql, self._whose(sql, scope), question.recall_id, vector, time)
            for stored_id, record in known.items():
                helpful, own = verdicts[stored_id] is Verdict.HELPFUL, question.activated.get(stored_id, NOT_ACTIVATED)
                verdict = (int(helpful), int(not helpful), question.ahead.get(stored_id), *own)
                put_verdict(sql, record, key, question.recall_id, verdict)
            for record in known.values():  # after all have the question: without a row it would be deleted
                join_too_many(sql, record, question.most)

    def of(self, scope: Scope, version: LedgerVersion | None = None) -> RatedQuestions | None:
        """All questions of this user, at least as of the version (None: as of now); None if there are none."""
        with self._shared.reading() as sql:
            user, reading = self._shared.known_user(sql, scope), scope.over is not None
            self._shared.notice(sql, user, version)
            now = self._shared.cache.user(sql, user).questions
            if now[1] == 0:
                return None
            before = self._held.get((user, reading))
            if before is None or before.version != now:
                before = held_questions(sql, (user, rows.read_by(scope)), now, before)
                self._held[user, reading] = before
            self._held.move_to_end((user, reading))
            while len(self._held) > MOST_USERS:
                self._held.popitem(last=False)
        return before.questions

    def words(self, keys: Sequence[int]) -> dict[int, str]:
        """The texts of questions by key, as far as the log still has them."""
        with self._shared.reading() as sql:
            found = {key: sql.execute(_WORDS, (key,)).fetchone() for key in keys}
        return {key: row[0] for key, row in found.items() if row is not None}

    def export(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, list[Imported]]:
        """The judged questions of these records, by id."""
        with self._shared.reading() as sql:
            keys = self._known(sql, scope, stored_ids).values()
            found = [row for key in keys for row in sql.execute(_OF_RECORD, (key,))]
        return {one: [Imported(*row[1:]) for row in some] for one, some in groupby(found, key=lambda row: str(row[0]))}

    def restore(self, scope: Scope, stored_id: str, questions: Sequence[Imported], *, most: int) -> None:
        """Store imported questions of a record that has none yet."""
        with self._shared.writing() as sql:
            for record in self._known(sql, scope, [stored_id]).values():
                if sql.execute("SELECT 1 FROM judged_for WHERE record_key = ?", (record,)).fetchone():
                    return
                for number, one in enumerate(questions):
                    key = stored_question_key(sql, self._whose(sql, scope), "", one.vector, one.time)
                    put_verdict(sql, record, key, f"restored {number}", one[1:6])
                join_too_many(sql, record, most)

    def stored_ids(self) -> set[str]:
        """The records of the collection that have judged questions."""
        query = "SELECT stored_id FROM judged_for JOIN records USING (record_key) WHERE collection_key = ?"
        return {row[0] for row in self._all(query, self._shared.collection_key)}

    def _whose(self, sql: sqlite3.Connection, scope: Scope) -> tuple[int, int]:
        return self._shared.collection_key, self._shared.known_user(sql, scope)

    def _known(self, sql: sqlite3.Connection, scope: Scope, stored_ids: Sequence[str]) -> dict[str, int]:
        """The keys of the records that have a row of this user."""
        user, reading = self._shared.known_user(sql, scope), scope.over is not None
        found = rows.state_rows_by_id(sql, self._shared.collection_key, user, stored_ids, reading=reading)
        return {one: row.key for one, row in found.items()}
