"""How are judged questions kept? A row for each verdict, so that processes that learn at once lose nothing.

Vectors are numbers of 16 bits; what was read of them is kept in RAM until a row changes (`users.questions_changed`) or
comes to it (`users.questions_last`). Rows leave with their record and questions with their last row, by triggers.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby
from typing import Any

from adaptive_memory_core.flow.ports.judged_questions import Imported, JudgedQuestion
from adaptive_memory_core.learn.asked_before import Questions
from adaptive_memory_core.records import Scope, Verdict
from adaptive_memory_core.store.ledger import judged_rows, readers
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.judged_rows import Held, as_read, bytes_of

MOST_USERS = 64  # whose questions stay in RAM
MOST_STANDINGS = 10_000  # of users
_STANDING = (
    "SELECT questions_changed, questions_last, embedder FROM users JOIN collections USING (collection_key) "
    "WHERE user_key = ?"
)
_WORDS = "SELECT cue FROM judged_questions JOIN recalls USING (recall_id) WHERE question_key = ?"
_OF_RECORD = (
    "SELECT stored_id, vector, sum(judged_for.helpful), sum(judged_for.unhelpful), min(ahead) FROM judged_for "
    "JOIN judged_questions USING (question_key) JOIN records USING (record_key) "
    "WHERE record_key = ? GROUP BY question_key, stored_id, vector ORDER BY question_key"
)


class LedgerJudgedQuestions:
    """The questions that records were judged for."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared
        self._as_of: Hashable = None  # the ledger's last change when these were read
        self._standings: dict[int, tuple[Any, ...] | None] = {}
        self._held: OrderedDict[tuple[int, bool], Held] = OrderedDict()

    def keep(self, scope: Scope, question: JudgedQuestion, verdicts: Mapping[str, Verdict]) -> None:
        """Note which of these the question found helpful or unhelpful; the opposite verdict takes the place of one."""
        vector = bytes_of(question.vector)
        if vector is None:
            return
        with self._shared.writing() as sql:
            known = self._known(sql, scope, list(verdicts))
            if not known:
                return
            key = judged_rows.question_of(sql, self._whose(sql, scope), question.recall_id, vector)
            for stored_id, record in known.items():
                helpful = verdicts[stored_id] is Verdict.HELPFUL
                verdict = (int(helpful), int(not helpful), question.ahead.get(stored_id))
                judged_rows.put(sql, record, key, question.recall_id, verdict)
            for record in known.values():  # once all have it: a question without a row is let go of
                judged_rows.join_too_many(sql, record, question.most)

    def of(self, scope: Scope) -> Questions | None:
        """All that is kept for this user; None where nothing is."""
        with self._shared.reading() as sql:
            user, reading = self._shared.known_user(sql, scope), scope.over is not None
            standing = self._standing_of(sql, user)
            if standing is None or standing[1] == 0:
                return None
            before = self._held.get((user, reading))
            if before is None or before.standing != standing:
                before = as_read(sql, (user, readers.read_by(scope)), standing, before)
                self._held[user, reading] = before
            self._held.move_to_end((user, reading))
            while len(self._held) > MOST_USERS:
                self._held.popitem(last=False)
        return before.questions

    def _standing_of(self, sql: sqlite3.Connection, user: int) -> tuple[Any, ...] | None:
        """What tells whether there is anything new of a user, asked again after a change of any kind."""
        change = self._shared.last_change()
        if change != self._as_of or len(self._standings) > MOST_STANDINGS:
            self._standings.clear()
            self._as_of = change
        if user not in self._standings:
            self._standings[user] = sql.execute(_STANDING, (user,)).fetchone()
        return self._standings[user]

    def words(self, keys: Sequence[int]) -> dict[int, str]:
        """What was asked, as far as the log still has it."""
        with self._shared.reading() as sql:
            found = {key: sql.execute(_WORDS, (key,)).fetchone() for key in keys}
        return {key: row[0] for key, row in found.items() if row is not None}

    def export(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, list[Imported]]:
        """What is kept of these records, by their ids."""
        with self._shared.reading() as sql:
            keys = self._known(sql, scope, stored_ids).values()
            found = [row for key in keys for row in sql.execute(_OF_RECORD, (key,))]
        return {one: [Imported(*row[1:]) for row in some] for one, some in groupby(found, key=lambda row: str(row[0]))}

    def restore(self, scope: Scope, stored_id: str, questions: Sequence[Imported], *, most: int) -> None:
        """Keep these of a record that nothing is kept of yet."""
        with self._shared.writing() as sql:
            for record in self._known(sql, scope, [stored_id]).values():
                if sql.execute("SELECT 1 FROM judged_for WHERE record_key = ?", (record,)).fetchone():
                    return
                for number, one in enumerate(questions):
                    key = judged_rows.question_of(sql, self._whose(sql, scope), "", one.vector)
                    judged_rows.put(sql, record, key, f"restored {number}", one[1:])
                judged_rows.join_too_many(sql, record, most)

    def drop(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """Let go of what is kept of these."""
        with self._shared.writing() as sql:
            for record in self._known(sql, scope, stored_ids).values():
                judged_rows.forget(sql, record)

    def stored_ids(self) -> set[str]:
        """The records of the collection that something is kept of."""
        query = "SELECT stored_id FROM judged_for JOIN records USING (record_key) WHERE collection_key = ?"
        with self._shared.reading() as sql:
            return {row[0] for row in sql.execute(query, (self._shared.collection_key,))}

    def _whose(self, sql: sqlite3.Connection, scope: Scope) -> tuple[int, int]:
        return self._shared.collection_key, self._shared.known_user(sql, scope)

    def _known(self, sql: sqlite3.Connection, scope: Scope, stored_ids: Sequence[str]) -> dict[str, int]:
        """The keys of those that have a row of this user."""
        user, reading = self._shared.known_user(sql, scope), scope.over is not None
        found = rows.known_states(sql, self._shared.collection_key, user, stored_ids, reading=reading)
        return {one: row.key for one, row in found.items()}
