"""Does tuning over a real memory find what is there, without changing anything?"""

from __future__ import annotations

import random
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, UserMemory
from adaptive_memory_core.arguments.recalls import labelled_questions
from adaptive_memory_core.flow.calibrate import ask_labelled
from adaptive_memory_core.in_force import RandomIds
from adaptive_memory_core.verbs.tuning import policy_for, request_of
from tests.conftest import DAY, Clock, ledger_rows

TOPICS = 60
SAME = 4  # records of a topic
FILLERS = [f"filler{number}" for number in range(200)]
Pairs = list[tuple[str, list[str]]]


def remember(user: UserMemory, seed: int = 0) -> tuple[Pairs, Pairs]:
    """Records of which the important one of each topic is right; the pairs, and others whose answers are random."""
    chance = random.Random(seed)
    rows, right, wrong = [], [], []
    for topic in range(TOPICS):
        ids = [f"{topic}-{number}" for number in range(SAME)]
        best = chance.choice(ids)
        for one in ids:
            words = " ".join([f"topic{topic}", chance.choice(FILLERS)])
            rows.append({"text": words, "id": one, "importance": 1.0 if one == best else 0.0})
        right.append((f"topic{topic}", [best]))
        wrong.append((f"topic{topic}", [chance.choice(ids)]))
    user.remember_many(rows)
    return right, wrong


def test_it_finds_that_importance_counts_and_the_policy_can_be_kept(memory: AdaptiveMemory, alice: UserMemory) -> None:
    pairs, wrong = remember(alice)
    by_vectors = Policy(channels=("dense",))
    before = alice.evaluate(pairs, k=4, policy=by_vectors)
    found = alice.tune(pairs, k=4, prior=5, policy=by_vectors)
    assert found.refused is None
    assert found.changes["weights.importance"][1] > 0.1
    assert found.policy.blending == "bounded"
    kept = memory.for_user("alice", policy=found.policy)
    after = kept.evaluate(pairs, k=4)
    assert after.measures[-1].mean > before.measures[-1].mean + 0.2
    assert alice.tune(wrong, k=4, prior=5).refused is not None


def test_nothing_is_changed_and_nothing_embedded_twice(memory: AdaptiveMemory, alice: UserMemory) -> None:
    pairs, _ = remember(alice)
    memory.flush()
    before = ledger_rows(memory)
    alice.tune(pairs[:50], k=4)
    memory.flush()
    assert ledger_rows(memory) == before


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy.preset("equal"),
        Policy(min_similarity=0.3),
        Policy().replace(diversity=0.4),
        Policy().replace(time_words="filter"),
        Policy(channels=("dense",), min_score=0.2),
    ],
)
def test_ranking_a_question_again_is_asking_it(policy: Policy, alice: UserMemory, clock: Clock) -> None:
    pairs, _ = remember(alice)
    for question, ids in pairs[:10]:
        alice.feedback(alice.recall(question), helpful=ids[:1])
        clock.pass_days(1)
    then = clock() - 3 * DAY
    given = labelled_questions([*pairs[:6], ("topic3 last week", "filler3"), ("topic4", "4-0", then)])
    manner = policy_for(alice.memory, policy)
    asked = ask_labelled(alice.memory.ports(), request_of(alice, manner, 5), given)
    for one, pair in zip(asked, given, strict=True):
        expected = alice.recall(pair.question, k=5, policy=policy, reinforce=False, now=pair.now)
        assert one.returned == expected.ids
        assert one.question.ranked(manner).ids == expected.ids
        assert one.question.ranked(manner, k=2).ids == expected.ids[:2]


def test_another_policy_ranks_as_if_it_had_been_asked(alice: UserMemory) -> None:
    pairs, _ = remember(alice)
    manner = policy_for(alice.memory, None)
    other = manner.replace(advanced={"fusion": {"words": 2.0}, "blend": "bounded"}, weights={"importance": 0.5})
    asked = ask_labelled(alice.memory.ports(), request_of(alice, manner, 5), labelled_questions(pairs[:8]))
    for one, (question, _) in zip(asked, pairs, strict=False):
        assert one.question.ranked(other).ids == alice.recall(question, policy=other, reinforce=False).ids


def test_answers_are_ids_or_texts(alice: UserMemory) -> None:
    alice.remember("Ana likes green tea", id="tea")
    alice.remember("Bob drinks coffee", id="coffee")
    found = alice.evaluate([("tea", "tea"), ("tea", "Ana likes  green tea"), ("coffee", ["COFFEE"]), ("x", "nowhere")])
    assert [one.name for one in found.measures] == ["recall@10", "NDCG@10", "hit@1"]
    assert found.measures[0].mean == 0.75
    assert found.measures[0].interval is not None
    assert "4 questions" in str(found)


@pytest.mark.hard("large")
def test_users_are_tuned_together_and_each_from_there_on(memory: AdaptiveMemory) -> None:
    alice, bob = memory.for_user("alice"), memory.for_user("bob")
    pairs = {"alice": remember(alice, 1)[0], "bob": remember(bob, 2)[0][:4]}
    found = memory.tune(pairs, k=4, prior=5, each=True)
    assert found.refused is None
    assert found.users["bob"].refused is not None
    assert found.users["bob"].policy == found.policy
    assert found.users["alice"].start == found.policy
    assert "bob: too thin" in str(found)


@pytest.mark.hard("large")
async def test_the_async_twins_give_the_same(memory: AdaptiveMemory, alice: UserMemory) -> None:
    pairs, _ = remember(alice)
    assert await alice.aevaluate(pairs[:5]) == alice.evaluate(pairs[:5])
    assert (await alice.atune(pairs[:45], k=4)).to_json() == alice.tune(pairs[:45], k=4).to_json()
    assert (await memory.atune({"alice": pairs[:5]})).refused is not None


@pytest.mark.parametrize(
    "wrong",
    ["text", {"q": "a"}, [("q",)], [("q", [])], [("", ["a"])], [{"question": "q"}], [("q", [3])], [("q", "a", "now")]],
)
def test_pairs_that_are_none_are_refused_with_an_example(wrong: object, alice: UserMemory) -> None:
    with pytest.raises(InvalidInputError):
        alice.tune(wrong)


def test_settings_out_of_range_are_refused(memory: AdaptiveMemory, alice: UserMemory) -> None:
    pairs = [("tea", ["a"])]
    for settings in ({"held_out": 0.0}, {"held_out": 1.0}, {"prior": -1}, {"seed": -1}, {"seed": 0.5}, {"k": 0}):
        with pytest.raises(InvalidInputError):
            alice.tune(pairs, **settings)
    with pytest.raises(InvalidInputError, match="top_down"):
        alice.tune(pairs, policy=Policy(shape="top_down"))
    with pytest.raises(InvalidInputError, match="of the log"):
        alice.tune(pairs, since=0.0)
    nobody: list[Any] = [[], {}, [("tea", ["a"])]]
    for wrong in nobody:
        with pytest.raises(InvalidInputError, match="by user"):
            memory.tune(wrong)


def lived(alice: UserMemory, clock: Clock, *, right: bool, policy: Policy, seed: int = 0) -> None:
    """A log with verdicts: the important record of a topic is the helpful one, or (not `right`) any that was shown."""
    chance = random.Random(seed)
    pairs, _ = remember(alice, seed)
    for question, (best,) in pairs:
        found = alice.recall(question, k=3, policy=policy)
        helpful = best if right else chance.choice(found.ids)
        if helpful in found.ids:
            alice.feedback(found, helpful=[helpful])
        else:
            alice.feedback(found, unhelpful=[found[0].id])
        clock.pass_days(0.5)


def test_verdicts_tell_which_policy_is_better(alice: UserMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count(1)  # what is drawn depends on the recall's id, and not every draw tells enough
    monkeypatch.setattr(RandomIds, "next", lambda _: str(UUID(int=next(numbers))))
    exploring = Policy(channels=("dense",)).replace(advanced={"random_tail": 2}, learning={"earned": False})
    lived(alice, clock, right=True, policy=exploring)
    found = alice.tune(policy=exploring, prior=5)
    assert found.refused is None
    assert found.changes["weights.importance"][1] > found.changes["weights.importance"][0]
    assert found.unnormalised is not None
    assert found.gain is not None
    assert found.gain != found.unnormalised
    assert any("feedback depends" in one for one in found.assumes)
    assert "by plain inverse propensities" in str(found)


@pytest.mark.hard("large")
def test_verdicts_given_at_random_are_refused(alice: UserMemory, clock: Clock) -> None:
    plain = Policy(channels=("dense",))
    lived(alice, clock, right=False, policy=plain)
    found = alice.tune(policy=plain, prior=5)
    assert found.refused is not None
    assert any("drawn by lot" in one for one in found.assumes)


def test_a_log_without_verdicts_is_too_thin(memory: AdaptiveMemory, alice: UserMemory) -> None:
    alice.remember("green tea")
    alice.recall("tea")
    for found in (alice.tune(), memory.tune(user="alice"), memory.tune(user=["alice"], each=True)):
        assert found.refused is not None
        assert found.refused.startswith("too thin")
    with pytest.raises(InvalidInputError, match="named"):
        memory.tune(each=True)
    with pytest.raises(InvalidInputError, match="Leave user out"):
        memory.tune({"alice": [("tea", "tea")]}, user="alice")
