"""How are verdicts kept? Each counts once and can be taken back."""

from __future__ import annotations

from collections.abc import Mapping

from adaptive_memory_core.flow.ports.ledger_values import Judge
from adaptive_memory_core.learn.lead_weights import LeadWeights
from adaptive_memory_core.records import Scope, Seen, Verdict
from adaptive_memory_core.store.ledger import audit, pace_spans, verdict_rows
from adaptive_memory_core.store.ledger import state_rows as rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.state_rows import StateRow


class LedgerVerdicts:
    """Verdicts, and how far usefulness has led or misled each user."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def judge(
        self, scope: Scope, recall_id: str, verdicts: Mapping[str, tuple[Verdict, Seen]], judge: Judge, *, now: float
    ) -> int:
        """Apply verdicts on what one recall returned, each once; gives how many changed something. What a
        record said before it was written over is not judged any more."""
        collection = self._shared.collection_key
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            changed = 0
            self._shared.cache.drop(list(verdicts))
            for stored_id, (verdict, seen) in verdicts.items():
                known = rows.known_states(sql, collection, user, [stored_id], reading=seen.shared)
                row = known.get(stored_id)
                if row is not None and row.is_not_of(seen):
                    continue
                if row is None:
                    row = StateRow(rows.insert_states(sql, collection, user, {stored_id: seen})[stored_id], seen.state)
                key, state = row.key, row.state
                if verdict_rows.judge_once(sql, user, (key, recall_id), stored_id, state, verdict, judge, now=now):
                    changed += 1
                    step = pace_spans.timeline(sql, user).step
                    audit.note(sql, user, stored_id, step, verdict.value, f"recall {recall_id}", at=now)
        return changed

    def set_lead_weights(self, scope: Scope, learned: LeadWeights) -> None:
        """Set by how much each channel and signal counts more than the policy says."""
        with self._shared.writing() as sql:
            verdict_rows.set_lead_weights(sql, self._shared.user_key(sql, scope), learned)

    def set_balance(self, scope: Scope, balance: float) -> None:
        """Set how far usefulness has led or misled a user; what verdicts did to it before is closed."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            verdict_rows.set_balance(sql, user, balance)
            sql.execute(
                "UPDATE verdicts SET sway = 0 WHERE record_key IN (SELECT record_key FROM records WHERE user_key = ?)",
                (user,),
            )
