"""What will lines of the log be without a record? Reckoned before it goes: a user may have thousands that name it, and
whoever writes would wait meanwhile.

Lines that come or change in between are none of these; they are reckoned within the transaction that strikes it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adaptive_memory_core.let_others_run import let_others_run
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.ledger import logged_ids, readers, recall_rows
from adaptive_memory_core.store.ledger.context import LedgerContext
from adaptive_memory_core.store.ledger.packed_candidates import keys_in
from adaptive_memory_core.store.ledger.recall_encoding import Line, decode, without
from adaptive_memory_core.store.ledger.recall_rows import Reckoned

STEPS, PAGE = 2_000, 200  # that are looked through, and lines that are read, at a time


def lines_without(shared: LedgerContext, scope: Scope, record: str) -> Reckoned:
    """Of the user's log, or of the logs of all who read a record of everyone's."""
    with shared.reading() as sql:
        users = [shared.known_user(sql, scope)]
        users += readers.logs_naming(sql, shared, record) if scope.user is None else ()
        last = recall_rows.last_of_all(sql) if shared.file.is_written_in_turn else None
    keys = [key for user in users for key in _keys(shared, user, record)]
    pages = [keys[start : start + PAGE] for start in range(0, len(keys), PAGE)]
    return Reckoned({key: line for page in pages for key, line in _page(shared, page, record).items()}, last)


def _keys(shared: LedgerContext, user: int, record: str) -> Iterator[int]:
    with shared.reading() as sql:
        steps = recall_rows.steps_of(sql, user)
    for start in range(0, len(steps), STEPS):
        with shared.reading() as sql:
            found = recall_rows.keys_naming(sql, user, record, steps[start : start + STEPS])
        yield from found
        let_others_run()


def _page(shared: LedgerContext, keys: Sequence[int], record: str) -> dict[int, tuple[bytes | str, Line | None]]:
    """These lines, as far as they name it, by their key."""
    names: dict[int, str] = {}
    with shared.reading() as sql:
        query = f"SELECT recall_key, candidates FROM recalls WHERE recall_key IN ({', '.join('?' * len(keys))})"  # noqa: S608
        lines = sql.execute(query, keys).fetchall()
        logged_ids.names_of(sql, names, sorted({one for _, line in lines for one in keys_in(line)}))

    def named(numbers: Sequence[int]) -> list[str | None]:
        return [names.get(one) for one in numbers]

    found = {}
    for key, line in lines:
        found[key] = line, without(decode(line, named), record)
        let_others_run()
    return found
