"""Do verdicts move what the channels count for a user: only where that is asked for, slowly, and until a reset?"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, UserMemory
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
    assert "channels and signals count" in after.explain()
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


def test_recency_and_importance_are_learned_too(open_memory: Open, clock: Clock) -> None:
    policy = LEARNING.replace(channels=("dense",), weights={"recency": 0.2, "importance": 0.5}, blend="bounded")
    with open_memory(policy=policy) as memory:
        ana = memory.for_user("ana")
        ana.remember("tea at four", id="near", importance=0.0)
        ana.remember("tea at four or five, as it comes", id="dear", importance=0.3)
        first = ana.recall("tea at four", reinforce=False)
        assert first.ids == ("near", "dear")
        for _ in range(6):
            clock.pass_seconds(100)
            ana.feedback(ana.recall("tea at four"), helpful=["dear"])
        after = ana.recall("tea at four", reinforce=False)
        assert after.use.leads["importance"] > 1.02
        assert "recency" in after.use.leads
        assert "importance" in after.explain()
        ana.reset_learned_weights()
        assert ana.recall("tea at four", reinforce=False).use.leads == {}


def test_what_was_learned_goes_with_an_export(memory: AdaptiveMemory, clock: Clock) -> None:
    ana = memory.for_user("ana")
    judge_the_last(ana, 5, clock)
    learned = ana.recall(CUE, reinforce=False).use.leads
    state = json.loads(json.dumps(ana.export_state()))
    ana.reset_learned_weights()
    assert ana.recall(CUE, reinforce=False).use.leads == {}
    ana.restore_state(state)
    assert ana.recall(CUE, reinforce=False).use.leads == pytest.approx(learned)


def test_an_export_moves_no_weights_that_verdicts_have_moved_here(memory: AdaptiveMemory, clock: Clock) -> None:
    ana = memory.for_user("ana")
    judge_the_last(ana, 2, clock)
    state = ana.export_state()
    judge_the_last(ana, 3, clock)
    learned = ana.recall(CUE, reinforce=False).use.leads
    ana.restore_state(state)
    assert ana.recall(CUE, reinforce=False).use.leads == learned


def test_restored_weights_are_within_the_bounds(memory: AdaptiveMemory, clock: Clock) -> None:
    ana = memory.for_user("ana")
    judge_the_last(ana, 1, clock)
    state = ana.export_state() | {"weights": {"octaves": {"words": 99.0}, "verdicts": 10**6}}
    ana.reset_learned_weights()
    ana.restore_state(state)
    assert ana.recall(CUE, reinforce=False).use.leads["words"] == pytest.approx(2**0.5, rel=1e-3)


@pytest.mark.parametrize(
    "weights",
    [3, [], {"octaves": 3, "verdicts": 1}, {"octaves": {"words": "much"}, "verdicts": 1}, {"octaves": {}}],
)
def test_damaged_weights_are_refused_before_anything_is_restored(memory: AdaptiveMemory, weights: object) -> None:
    ana = memory.for_user("ana")
    with pytest.raises(InvalidInputError, match="'weights'"):
        ana.restore_state(ana.export_state() | {"weights": weights})
