"""Do verdicts move what the channels count for a user: only where that is asked for, slowly, and until a reset?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from tests.conftest import Clock, Open

LEARNING = Policy(channels=("dense", "lexical")).replace(useful={"lead_step": 1.0, "lead_prior": 1.0, "weight": 0.0})
CUE = "form B17 tea"


@pytest.fixture
def memory(open_memory: Open) -> Iterator[AdaptiveMemory]:
    with open_memory(policy=LEARNING) as opened:
        texts = ["form B17 was sent", "tea tea tea", "green tea at four", "form A4 is lost", "coffee is black"]
        opened.for_user("ana").remember_many([{"text": text, "id": f"r{n}"} for n, text in enumerate(texts)])
        yield opened


def judge_the_last(user: UserMemory, times: int, clock: Clock) -> str:
    """Says again and again that what stood last was right."""
    for _ in range(times):
        clock.pass_seconds(100)
        recall = user.recall(CUE, k=3)
        user.feedback(recall, helpful=[recall.ids[-1]])
    return recall.id


def test_a_lead_that_spoke_for_what_was_helpful_counts_more(memory: AdaptiveMemory, clock: Clock) -> None:
    ana = memory.for_user("ana")
    before = ana.recall(CUE, k=3, reinforce=False)
    ana.feedback(ana.recall(CUE, k=3), helpful=[before.ids[-1]])
    after = ana.recall(CUE, k=3, reinforce=False)
    own, first = (dict(before[place].parts) for place in (-1, 0))
    leads = {name for name in own if name in after.use.leads}
    assert leads >= {"similarity", "words"}
    for name in leads:
        gained = own[name] - first[name]
        assert (after.use.leads[name] - 1.0) * gained >= 0.0
    assert "leads count" in after.explain()
    assert all(2**-0.5 <= one <= 2**0.5 for one in after.use.leads.values())


def test_it_is_kept_bounded_and_reset(memory: AdaptiveMemory, open_memory: Open, clock: Clock) -> None:
    ana = memory.for_user("ana")
    judge_the_last(ana, 12, clock)
    learned = ana.recall(CUE, reinforce=False).use.leads
    assert learned
    assert all(2**-0.5 <= one <= 2**0.5 for one in learned.values())
    assert memory.for_user("ben").recall(CUE, reinforce=False).use.leads == {}
    memory.close()
    with open_memory(policy=LEARNING) as again:
        ana = again.for_user("ana")
        assert ana.recall(CUE, reinforce=False).use.leads == learned
        assert ana.recall(CUE, reinforce=False, policy=Policy()).use.leads == {}
        ana.reset_learned_weights()
        assert ana.recall(CUE, reinforce=False).use.leads == {}


def test_a_changed_mind_takes_back_what_it_did(memory: AdaptiveMemory, clock: Clock) -> None:
    ana = memory.for_user("ana")
    recall = ana.recall(CUE, k=3)
    ana.feedback(recall.id, helpful=[recall.ids[-1]])
    assert ana.recall(CUE, reinforce=False).use.leads != {}
    ana.feedback(recall.id, unhelpful=[recall.ids[-1]])
    assert ana.recall(CUE, reinforce=False).use.leads == {}


def test_by_default_nothing_of_the_kind_is_learned(open_memory: Open, clock: Clock) -> None:
    with open_memory(policy=Policy(channels=("dense", "lexical"))) as memory:
        ana = memory.for_user("ana")
        ana.remember_many(["form B17 was sent", "tea tea tea", "green tea at four"])
        judge_the_last(ana, 3, clock)
        assert ana.recall(CUE, reinforce=False).use.leads == {}
