"""What will lines of the log be without a record? Reckoned before it goes: a user may have thousands that name it, and
whoever writes would wait meanwhile.

Lines that come or change in between are none of these; they are reckoned within the transaction that strikes it out.
"""

from __future__ import annotations

from functools import partial

from adaptive_memory_core.let_others_run import let_others_run
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import logged_ids, readers, recall_rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.recall_encoding import Line, decode, without
from adaptive_memory_core.store.ledger.recall_rows import Reckoned


def lines_without(shared: LedgerContext, scope: Scope, record: str) -> Reckoned:
    """Of the user's log, or of the logs of all who read a record of everyone's."""
    lines: dict[int, tuple[bytes | str, Line | None]] = {}
    with shared.apart() as sql:
        last = recall_rows.last_of_all(sql) if shared.file.is_written_in_turn else None
        users = [shared.known_user(sql, scope)]
        users += readers.logs_naming(sql, shared, record) if scope.user is None else ()
        names = partial(logged_ids.names_of, sql, {})
        for key, line in [one for user in users for one in recall_rows.naming(sql, user, record)]:
            lines[key] = line, without(decode(line, names), record)
            let_others_run()
    return Reckoned(lines, last)
