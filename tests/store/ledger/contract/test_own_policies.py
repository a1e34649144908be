"""Are a user's own policy, and what verdicts made of the channels' weights, kept for that user alone?"""

from __future__ import annotations

import pytest

from adaptive_memory_core import Scope, Verdict
from adaptive_memory_core.learn.lead_weights import NOTHING_LEARNED
from adaptive_memory_core.learn.verdicts import Judging, Occasion
from tests.store.ledger.implementations import Ledgers
from tests.store.ledger.reads import ALICE, BOB, EVERY, NEW, read


def test_it_is_there_for_every_connection_until_it_is_let_go_of(ledgers: Ledgers) -> None:
    ledger = ledgers()
    assert ledger.own_policies.get(ALICE) is None
    ledger.own_policies.keep(ALICE, '{"half_life_days": 3}')
    for one in (ledger, ledgers()):
        assert one.own_policies.get(ALICE) == one.own_policies.get(Scope("alice", over="everyone"))
        assert (one.own_policies.get(ALICE), one.own_policies.get(BOB)) == ('{"half_life_days": 3}', None)
    ledger.own_policies.keep(ALICE, None)
    assert ledgers().own_policies.get(ALICE) is None


def test_what_verdicts_made_of_the_leads_is_kept_until_a_reset(ledgers: Ledgers) -> None:
    ledger = ledgers()
    read(ledger, ALICE, "r1", "m1")
    rule = Judging(EVERY, Occasion(1.0, 1), 1.0, steps={"m1": {"words": 0.2, "similarity": -0.1}})

    def judged(verdict: Verdict) -> None:
        ledger.verdicts.judge(ALICE, "r1", {"m1": (verdict, NEW)}, rule, now=1.0)

    judged(Verdict.HELPFUL)
    judged(Verdict.HELPFUL)  # counts once
    for one in (ledger, ledgers()):
        learned = one.states.known(ALICE, []).lead_weights
        assert (learned.octaves, learned.verdicts) == ({"words": 0.2, "similarity": -0.1}, 1)
        assert one.states.known(BOB, []).lead_weights == NOTHING_LEARNED
    judged(Verdict.UNHELPFUL)  # takes it back
    assert ledgers().states.known(ALICE, []).lead_weights == NOTHING_LEARNED
    judged(Verdict.HELPFUL)
    assert ledger.states.known(ALICE, []).lead_weights.octaves["words"] == pytest.approx(0.2)
    ledger.verdicts.set_lead_weights(ALICE, NOTHING_LEARNED)
    assert ledgers().states.known(ALICE, []).lead_weights == NOTHING_LEARNED
