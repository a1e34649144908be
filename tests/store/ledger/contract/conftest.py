"""What does the contract of the ledger run over? Every implementation, a new store for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.store.ledger.implementations import BEHIND_POOLER, IMPLEMENTATIONS, Ledgers

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

SAMPLE = "test_a_state_and_its_words_are_written_together"
THROUGH_POOLER = {"test_states", "test_transactions", "test_log_and_removal"}  # transactions, and many connections


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Over all of them; what stands between a ledger and its server is asked about in some of the files."""
    if "implementation" in metafunc.fixturenames:
        through = metafunc.module.__name__.rpartition(".")[2] in THROUGH_POOLER
        names = [one for one in IMPLEMENTATIONS if through or one != BEHIND_POOLER]
        marked = [pytest.param(one, marks=marks(one, metafunc.definition.name)) for one in names]
        metafunc.parametrize("implementation", marked, indirect=True, scope="session")


def marks(implementation: str, test: str) -> list[pytest.MarkDecorator]:
    """What needs a server is hard; one test of each shows in `make test` that there is one."""
    if not implementation.startswith("PostgreSQL"):
        return []
    hard = pytest.mark.hard("pooler" if implementation == BEHIND_POOLER else "PostgreSQL")
    return [hard, pytest.mark.sample] if test == SAMPLE else [hard]


@pytest.fixture(scope="session")
def implementation(request: pytest.FixtureRequest) -> Callable[[Path], Callable[[], Ledger]]:
    chosen: Any = IMPLEMENTATIONS[request.param]
    return chosen  # type: ignore[no-any-return]


@pytest.fixture
def ledgers(implementation: Callable[[Path], Callable[[], Ledger]], tmp_path: Path) -> Iterator[Ledgers]:
    """Ledgers of one store, each call another connection."""
    opened = Ledgers(implementation(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def ledger(ledgers: Ledgers) -> Ledger:
    return ledgers()


@pytest.fixture(scope="session")
def new_ledgers(
    implementation: Callable[[Path], Callable[[], Ledger]], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Ledgers]:
    """A new store for each call, for tests that go through many examples."""
    return lambda: Ledgers(implementation(tmp_path_factory.mktemp("ledger")))
