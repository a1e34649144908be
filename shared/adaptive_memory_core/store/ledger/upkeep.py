"""What does the ledger answer besides recalls? Counts, samples, the audit trail, and the letting go of what faded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice

import orjson

from adaptive_memory_core.flow.ports import Doomed, Row, Tally
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.records import ReadState, Scope
from adaptive_memory_core.reports import Change, Sample, Strengths
from adaptive_memory_core.score.nothing_found import Floor
from adaptive_memory_core.store.ledger import audit, pace_spans, pruned_records, strength_statistics, verdict_rows
from adaptive_memory_core.store.ledger.users import LedgerUsers

_FLAGS = {
    "remembered": "remembered = 1 AND (remembered = 1 OR pinned = 1)",
    "pinned": "pinned = 1 AND (remembered = 1 OR pinned = 1)",
}
_LATELY = (
    "SELECT stored_id FROM records INDEXED BY records_useful "
    "WHERE user_key = ? AND useful_step > ? AND useful_at IS NOT NULL ORDER BY useful_step DESC LIMIT ?"
)
_TALLY = """
SELECT
    (SELECT coalesce(max(steps), 0) FROM users WHERE user_key = :user),
    count(*), coalesce(sum(retrieval_count), 0), coalesce(sum(retrieval_count > 0), 0),
    coalesce(sum(remembered), 0), coalesce(sum(pinned), 0),
    (SELECT count(*) FROM verdicts JOIN records USING (record_key) WHERE user_key = :user),
    (SELECT count(*) FROM recalls WHERE user_key = :user),
    (SELECT count(*) FROM outbox JOIN records USING (record_key) WHERE user_key = :user),
    (SELECT coalesce(max(balance), 0) FROM users WHERE user_key = :user)
FROM records WHERE user_key = :user
"""


class LedgerUpkeep(LedgerUsers):
    """The part of the ledger that is asked now and then, not by every recall."""

    def tally(self, scope: Scope) -> Tally:
        """The counts of one scope."""
        with self.file.reading() as sql:
            counts = sql.execute(_TALLY, {"user": self._known_user(sql, scope)}).fetchone()
        return Tally(*[*counts, tuple(self._update_ms)])

    def strengths(
        self, scope: Scope, regime: Regime, *, at_least: float, unmet: Sequence[ReadState], now: float
    ) -> Strengths:
        """The distribution of the scope's strengths, with those of records that have no row."""
        with self.file.reading() as sql:
            user = self._known_user(sql, scope)
            timeline = pace_spans.timeline(sql, user).under(regime)
            return strength_statistics.of_user(sql, user, timeline, at_least=at_least, unmet=unmet, now=now)

    def floor(self, scope: Scope, manner: str) -> Floor | None:
        """What unrelated questions find in this scope, if that was measured in this manner."""
        with self.file.reading() as sql:
            query = "SELECT floor FROM floors WHERE user_key = ? AND manner = ?"
            row = sql.execute(query, (self._known_user(sql, scope), manner)).fetchone()
        try:
            return None if row is None else Floor(**orjson.loads(row[0]))
        except (TypeError, ValueError):
            return None  # a damaged row: it is measured anew

    def keep_floor(self, scope: Scope, manner: str, floor: Floor, *, now: float) -> None:
        """Keep it, in the place of an earlier one."""
        with self.file.writing() as sql:
            row = (self._user_key(sql, scope), manner, now, orjson.dumps(asdict(floor)).decode())
            sql.execute("INSERT OR REPLACE INTO floors VALUES (?, ?, ?, ?)", row)

    def sample(self, regime: Regime, *, every: int, now: float) -> None:
        """Keep a sample of every user who has recalled `every` times since the last one."""
        with self.file.writing() as sql:
            times = tuple(self._update_ms)
            strength_statistics.sample_all(sql, self.collection_key, regime, times, every=every, now=now)

    def samples(self, scope: Scope) -> list[Sample]:
        """The samples of the scope, oldest first."""
        with self.file.reading() as sql:
            return list(strength_statistics.samples(sql, self._known_user(sql, scope)))

    def lately(self, scope: Scope, *, since: int, limit: int) -> list[str]:
        """The records that were of use after a step of the user's, the latest first."""
        with self.file.reading() as sql:
            found = sql.execute(_LATELY, (self._known_user(sql, scope), since, limit))
            return [row[0] for row in found]

    def rebalance(self, scope: Scope, balance: float) -> None:
        """Set how far usefulness has led or misled a user, and write that down."""
        with self.file.writing() as sql:
            user = self._user_key(sql, scope)
            verdict_rows.set_balance(sql, user, balance)
            sql.execute(
                "UPDATE verdicts SET sway = 0 WHERE record_key IN (SELECT record_key FROM records WHERE user_key = ?)",
                (user,),
            )

    def flagged(self, scope: Scope, flag: str) -> list[str]:
        """The records of the scope that are "remembered" or "pinned"."""
        query = f"SELECT stored_id FROM records INDEXED BY records_kept WHERE user_key = ? AND {_FLAGS[flag]}"  # noqa: S608
        with self.file.reading() as sql:
            return [row[0] for row in sql.execute(query, (self._known_user(sql, scope),))]

    def changes(self, scope: Scope, stored_ids: Sequence[str], *, limit: int) -> list[Change]:
        """The audit trail of the scope, newest first, or that of these records."""
        with self.file.reading() as sql:
            user = self._known_user(sql, scope)
            return list(islice(audit.lines(sql, scope, user, tuple(stored_ids)), limit))

    def unkept(self, scope: Scope, after: int, *, limit: int) -> list[Row]:
        """A page of the records that are neither remembered nor pinned."""
        with self.file.reading() as sql:
            return pruned_records.unkept(sql, self._known_user(sql, scope), after, limit)

    def retire(
        self,
        scope: Scope,
        stored_ids: Sequence[str],
        doomed: Doomed,
        remove: Callable[[Sequence[str]], None],
        *,
        by: str,
        now: float,
    ) -> set[str]:
        """Remove those of the records that are doomed as they stand now; no read can come in between."""
        with self.file.writing() as sql:
            user = self._user_key(sql, scope)
            timeline = pace_spans.timeline(sql, user)
            gone = pruned_records.still_doomed(sql, user, stored_ids, doomed, timeline)
            if gone:
                remove(list(gone))
                pruned_records.delete(sql, user, scope, gone, step=timeline.step, by=by, now=now)
                self._cache.drop(list(gone))
        return set(gone)
