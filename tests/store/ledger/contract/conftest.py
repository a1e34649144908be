"""What does the contract of the ledger run over? Every implementation, a new store for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.flow.ports import Ledger
from tests.store.ledger.implementations import IMPLEMENTATIONS, Ledgers


@pytest.fixture(scope="session", params=list(IMPLEMENTATIONS))
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
