"""Do both engines take the ledger's statements as they are, and does SQLite find by an index what they look for?"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, SQLiteLedger
from adaptive_memory_core.store import ledger as package
from tests.conftest import Clock

MODULES = sorted(
    set(Path(package.__path__[0]).glob("*.py")) - {Path(package.__path__[0], "purge.py")}
)  # a file alone is purged
STATEMENT = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|AND|SET)\b")
NOT_IN_BOTH = {
    "a placeholder by name": re.compile(r"(?<![:\w]):[a-z_]+"),
    "a '%', which psycopg takes for a placeholder": re.compile("%"),
    "a '?' in a literal": re.compile(r"'[^',()]*\?[^',()]*'"),
    "words that one engine alone has": re.compile(
        r"\b(INDEXED|OR (REPLACE|IGNORE)|CROSS JOIN|AS BLOB|group_concat|julianday|strftime|IS \?)|\bx'"
    ),
}
MANY = "records|recalls|mirror|mirror_vectors|words|verdicts|graph_passages|logged_ids|hierarchy_messages"


def statements(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and STATEMENT.search(node.value):
            yield node.value


def test_every_statement_is_what_both_engines_take() -> None:
    found = [(module.name, one) for module in MODULES for one in statements(module)]
    assert len(found) > 200
    wrong = [(name, why, one) for name, one in found for why, of in NOT_IN_BOTH.items() if of.search(one)]
    assert wrong == []


@pytest.fixture
def asked(collection: Collection, embed: Callable[..., Any], clock: Clock, tmp_path: Path) -> Iterator[list[str]]:
    """The statements of an ordinary day, with their values, each with its plan behind it."""
    ledger, seen = SQLiteLedger(str(tmp_path / "ledger.sqlite3")), set[str]()
    connection = ledger.file._connection
    connection.set_trace_callback(seen.add)
    policy = Policy(channels=("dense", "lexical", "graph"))
    with AdaptiveMemory(collection, embedder=embed, clock=clock, ledger=ledger, policy=policy) as memory:
        for user in ("alice", "bob"):
            one = memory.for_user(user)
            one.remember_many([{"id": f"{user} {n}", "text": f"Ana likes tea {n} in Oslo"} for n in range(20)])
            found = one.recall("tea 3", k=5)
            one.feedback(found, helpful=found.ids[:1], unhelpful=found.ids[1:2])
            one.pin(found.ids[2])
            one.remember("Ana likes coffee by now", id=f"{user} 3")
            one.forget(f"{user} 4")
            one.recall("coffee", turn="t1"), one.pinned(), one.recalls(), one.changes(), one.stats()
        over = memory.for_user("alice", over="everyone")
        found = over.recall("tea", k=1)
        over.feedback(found, helpful=found.ids)
        memory.flush()
        connection.set_trace_callback(None)
        plans = {one: connection.execute(f"EXPLAIN QUERY PLAN {one}").fetchall() for one in seen if _is_a_look(one)}
        yield [f"{one} | {'; '.join(row[3] for row in plan)}" for one, plan in plans.items()]


def _is_a_look(statement: str) -> bool:
    return re.match(r"SELECT|UPDATE|DELETE", statement) is not None and "sqlite_" not in statement


def test_no_table_of_many_rows_is_walked_through(asked: list[str]) -> None:
    assert len(asked) > 50
    all_of_them = ("ORDER BY recall_key DESC LIMIT 1 ", "SELECT id_key FROM logged_ids ")  # the last line; a sweep
    asked = [one for one in asked if not any(part in one for part in all_of_them)]
    assert "\n".join(one for one in asked if re.search(rf"\| .*SCAN ({MANY})\b", one)) == ""


def test_records_are_found_by_their_ids(asked: list[str]) -> None:
    """Left to itself, SQLite may go through all records of a user instead."""
    wanted = [
        one for one in asked if re.search(r"^SELECT .* FROM records WHERE reader = [01] .*stored_id (=|IN) ", one)
    ]
    assert len(wanted) > 2
    index = re.compile("SEARCH records USING .*INDEX records_(by_stored_id|of_readers)")
    assert "\n".join(one for one in wanted if not index.search(one)) == ""
