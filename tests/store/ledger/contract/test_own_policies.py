"""A user's own policy is kept for that user alone."""

from __future__ import annotations

from adaptive_memory_core import Scope
from tests.store.ledger.implementations import Ledgers
from tests.store.ledger.reads import ALICE, BOB


def test_it_is_there_for_every_connection_until_it_is_let_go_of(ledgers: Ledgers) -> None:
    ledger = ledgers()
    assert ledger.own_policies.get(ALICE) is None
    ledger.own_policies.keep(ALICE, '{"half_life_days": 3}')
    for one in (ledger, ledgers()):
        assert one.own_policies.get(ALICE) == one.own_policies.get(Scope("alice", over="everyone"))
        assert (one.own_policies.get(ALICE), one.own_policies.get(BOB)) == ('{"half_life_days": 3}', None)
    ledger.own_policies.keep(ALICE, None)
    assert ledgers().own_policies.get(ALICE) is None
