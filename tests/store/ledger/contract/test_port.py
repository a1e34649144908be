"""Does the contract speak to the port only, and does the front door take whatever keeps it?"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.ledger.sql_ledger import PARTS, Ledger
from tests.conftest import Clock, word_vectors


class Another(Ledger):
    """A ledger of somebody else's make: its parts are those of the one it stands before, its class is its own."""

    def __init__(self, behind: Ledger) -> None:
        self._behind = behind
        self.attached: list[str] = []
        for name in (*PARTS, "file", "outlives_process", "_shared"):
            setattr(self, name, getattr(behind, name))

    def faults(self) -> list[str]:
        return self._behind.faults()

    def attach(self, uuid: str, name: str) -> None:
        self.attached.append(name)
        self._behind.attach(uuid, name)


def test_every_implementation_is_a_ledger(ledger: Ledger) -> None:
    assert isinstance(ledger, Ledger)
    assert ledger.faults() == []
    assert not ledger.read_only


def test_a_memory_works_over_a_ledger_of_any_class(ledger: Ledger, collection: Collection, clock: Clock) -> None:
    another: Any = Another(ledger)
    with AdaptiveMemory(collection, embedder=word_vectors, clock=clock, ledger=another) as memory:
        alice = memory.for_user("alice")
        tea = alice.remember("green tea")
        found = alice.recall("tea")
        assert list(found.ids) == [tea]
        alice.feedback(found, helpful=[tea])
        assert alice.get(tea).read.retrieval_count == 1
        assert [one.id for one in alice.recalls()] == [found.id]
        memory.flush()
        assert alice.forget(tea).ledger
    assert another.attached == [collection.name]


@pytest.mark.parametrize("given", [object(), 3, b"ledger"])
def test_what_is_no_ledger_is_refused(given: Any, collection: Collection) -> None:
    with pytest.raises(InvalidInputError, match="Give a path"):
        AdaptiveMemory(collection, embedder=word_vectors, ledger=given)


@pytest.mark.parametrize("file", sorted(Path(__file__).parent.glob("*.py")), ids=lambda file: file.name)
def test_the_contract_knows_no_database(file: Path) -> None:
    names = {
        name
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for name in _imported(node)
        if name.startswith(("sqlite3", "adaptive_memory_core.store.ledger", "adaptive_memory_core.store.sqlite"))
    }
    assert names <= {"adaptive_memory_core.store.ledger.sql_ledger"}  # the class of all ledgers


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
