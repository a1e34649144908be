"""Which users have a policy of their own? It is kept with the user, as JSON."""

from __future__ import annotations

from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger.context import LedgerContext


class LedgerPolicies:
    """The policies that users were given."""

    def __init__(self, shared: LedgerContext) -> None:
        self._shared = shared

    def get(self, scope: Scope) -> str | None:
        """The user's own policy, if there is one."""
        with self._shared.reading() as sql:
            user = self._shared.known_user(sql, scope)
            row = sql.execute("SELECT policy FROM users WHERE user_key = ?", (user,)).fetchone()
        return None if row is None else row[0]

    def keep(self, scope: Scope, policy: str | None) -> None:
        """The user's own policy from now on; None lets go of it."""
        with self._shared.writing() as sql:
            user = self._shared.user_key(sql, scope)
            sql.execute("UPDATE users SET policy = ? WHERE user_key = ?", (policy, user))
