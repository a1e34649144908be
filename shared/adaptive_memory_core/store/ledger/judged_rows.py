"""How do judged questions become rows, and rows arrays? Plain SQL, in the caller's transaction."""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.learn.asked_before import Questions, nearest_pair

_FIND = "SELECT question_key FROM judged_questions WHERE recall_id = ? AND recall_id != ''"
_ADD = (
    "INSERT INTO judged_questions (user_key, recall_id, vector, embedder) "
    "VALUES (?, ?, ?, (SELECT embedder FROM collections WHERE collection_key = ?)) RETURNING question_key"
)
_PUT = (
    "INSERT INTO judged_for (record_key, question_key, recall_id, helpful, unhelpful, ahead) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (record_key, recall_id) DO UPDATE SET helpful = excluded.helpful, unhelpful = excluded.unhelpful "
    "WHERE judged_for.helpful != excluded.helpful OR judged_for.unhelpful != excluded.unhelpful"
)
_OF_RECORD = (
    "SELECT DISTINCT question_key, vector FROM judged_for JOIN judged_questions USING (question_key) "
    "WHERE record_key = ? ORDER BY question_key"
)
_JOIN = "UPDATE judged_for SET question_key = ? WHERE record_key = ? AND question_key = ?"
_NEWS = (
    "SELECT stored_id, question_key, judged_for.helpful, judged_for.unhelpful, ahead "
    "FROM judged_for JOIN records USING (record_key) "
    "WHERE user_key = ? AND {whose} AND judged_key > ? ORDER BY judged_key"
)
_VECTOR = "SELECT vector FROM judged_questions WHERE question_key = ? AND embedder IS ?"


Standing = tuple[int, int, str | None]
Counts = tuple[int, int, float | None]  # helpful, unhelpful, and how far ahead of all others it stood


class Held(NamedTuple):
    """What was read of a user's questions, and what that was: changes so far, the last row, and the embedder."""

    standing: Standing
    questions: Questions


def bytes_of(vector: Any) -> bytes | None:
    """A vector at length 1, as numbers of 16 bits; None where it has no direction."""
    given = np.asarray(vector, dtype=np.float64).ravel()
    length = float(np.linalg.norm(given))
    if not 0.0 < length < float("inf"):
        return None
    return (given / length).astype("<f2").tobytes()


def question_of(sql: sqlite3.Connection, whose: tuple[int, int], recall_id: str, vector: bytes) -> int:
    """The key of a recall's question, which is kept now if it was not; it is a collection's, and a user's."""
    collection, user = whose
    row = sql.execute(_FIND, (recall_id,)).fetchone()
    return int((row or sql.execute(_ADD, (user, recall_id, vector, collection)).fetchone())[0])


def put(sql: sqlite3.Connection, record: int, question: int, recall_id: str, verdict: Counts) -> None:
    sql.execute(_PUT, (record, question, recall_id, *verdict))


def forget(sql: sqlite3.Connection, record: int) -> None:
    sql.execute("DELETE FROM judged_for WHERE record_key = ?", (record,))


def join_too_many(sql: sqlite3.Connection, record: int, most: int) -> None:
    """Of a record with too many questions, the two that are most alike count as the earlier of them. All verdicts
    stay."""
    found = sql.execute(_OF_RECORD, (record,)).fetchall()
    while len(found) > most:
        size = len(found[-1][1])
        vectors = np.stack([_numbers(blob if len(blob) == size else bytes(size)) for _, blob in found])
        first, second = nearest_pair(vectors)
        sql.execute(_JOIN, (found[first][0], record, found[second][0]))
        del found[second]


def as_read(sql: sqlite3.Connection, whose: tuple[int, str], standing: Standing, before: Held | None) -> Held:
    """The user's questions as they stand: what was read before with the new rows, unless earlier rows have changed."""
    same = before is not None and before.standing[::2] == standing[::2]
    kept = before if same else None
    last = 0 if kept is None else kept.standing[1]
    new = sql.execute(_NEWS.format(whose=whose[1]), (whose[0], last)).fetchall()
    questions = _NONE if kept is None else kept.questions
    return Held(standing, _extended(sql, standing[2], questions, new) if new else questions)


_NOBODY: Any = np.zeros(0, dtype=np.int64)
_NONE = Questions([], np.zeros((0, 0), dtype=np.float32), _NOBODY, _NOBODY, _NOBODY, _NOBODY, ahead=np.zeros(0))


def _extended(sql: sqlite3.Connection, embedder: str | None, before: Questions, new: list[Any]) -> Questions:
    """With these rows behind. Vectors of another embedder, or of another length, are zeros, which say nothing."""
    ids = dict.fromkeys([*before.stored_ids, *(row[0] for row in new)])
    keys = dict.fromkeys([*before.keys, *(row[1] for row in new)])
    rows = [sql.execute(_VECTOR, (key, embedder)).fetchone() for key in list(keys)[len(before.keys) :]]
    blobs = [b"" if row is None else row[0] for row in rows]
    size = next((len(one) // 2 for one in reversed(blobs) if one), before.vectors.shape[1])
    old = before.vectors if before.vectors.shape[1] == size else np.zeros((len(before.keys), size), dtype=np.float32)
    added = [_numbers(one if len(one) == 2 * size else bytes(2 * size)) for one in blobs]
    places = {one: place for place, one in enumerate(ids)}, {one: place for place, one in enumerate(keys)}
    columns = zip(*((places[0][row[0]], places[1][row[1]], *row[2:]) for row in new), strict=True)
    known = (before.records, before.rows, before.helpful, before.unhelpful, before.ahead)
    one, two, three, four, ahead = [
        np.concatenate((have, np.array(more, dtype=have.dtype))) for have, more in zip(known, columns, strict=True)
    ]
    vectors = np.concatenate((old, np.array(added, dtype=np.float32).reshape(len(added), size)))
    return Questions(list(ids), vectors, one, two, three, four, list(keys), ahead)


def _numbers(blob: bytes) -> Any:
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)
