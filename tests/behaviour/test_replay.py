"""What would another policy have returned? Recorded histories, ranked again as they were and otherwise."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, PolicyError, Recall, ScopeError, UserMemory, Weights
from adaptive_memory_core.flow.past_recall import FORGOTTEN
from adaptive_memory_core.policy import Advanced, Fusion
from tests.conftest import DAY, Clock, Open, ledger_rows

WORDS = [
    *("red", "green", "tea", "coffee", "cat", "dog", "oslo", "rome", "lives", "likes"),
    *("has", "in", "the", "ana", "bob", "moved", "never", "always", "friday", "monday"),
]
ASKED = [*WORDS, "last week", "now", "where does"]
POLICIES = {
    "default": Policy(),
    "dense": Policy(channels=("dense",)),
    "graph": Policy(channels=("dense", "lexical", "graph")),
    "equal": Policy.preset("equal"),
    "composite": Policy.preset("composite"),
    "support": Policy.preset("support"),
    "balanced": Policy.preset("balanced"),
    "aggressive": Policy.preset("aggressive"),
    "diverse": Policy().replace(diversity=0.4),
    "no copies": Policy().replace(advanced={"duplicates": "drop"}),
    "floor": Policy(min_similarity=0.3),
    "score floor": Policy(min_score=0.2),
    "strict times": Policy().replace(time_words="filter"),
    "kinds": Policy(advanced=Advanced(kind_weights={"fact": Weights(0, 1, 1), "note": Weights(0.5, 0, 1)})),
    "product": Policy(advanced=Advanced(blend="product")),
    "longer memory": Policy().replace(learning={"half_life_growth": 0.5}),
    "two reads": Policy(weights=Weights(1, 1, 1), reads_before_refresh=2),
    "ranks": Policy(advanced=Advanced(fusion=Fusion(method="rrf"))),
    "wide": Policy(recall_k=40),
}
Look = Callable[[UserMemory, str, int], object]


def remember(alice: UserMemory, clock: Clock, chance: random.Random) -> None:
    for number in range(chance.randint(5, 50)):
        alice.remember(
            " ".join(chance.choices(WORDS, k=chance.randint(2, 6))),
            id=f"m{number}",
            kind=chance.choice(["fact", "note"]),
            importance=round(chance.random(), 2),
            created_at=chance.choice([None, clock() - chance.random() * 40 * DAY]),
            valid_until=chance.choice([None] * 5 + [clock() + 3 * DAY]),
        )


def live(
    alice: UserMemory, clock: Clock, names: list[str], chance: random.Random, recalls: int, look: Look | None = None
) -> list[Recall]:
    """Some weeks of a user: recalls under these policies, verdicts, pins, demotions, newer versions of records."""
    made = []
    for _ in range(recalls):
        clock.pass_seconds(chance.choice([1.0, 100.0, 5_000.0, chance.random() * 4 * DAY]))
        cue, k = " ".join(chance.choices(ASKED, k=3)), chance.choice([1, 3, 5, 10])
        if look is not None:
            look(alice, cue, k)
        where, turn = chance.choice([None, None, {"kind": "fact"}]), chance.choice([None, "t1"])
        found = alice.recall(cue, k=k, policy=POLICIES[chance.choice(names)], filter=where, turn=turn)
        made.append(found)
        if found and chance.random() < 0.5:
            alice.feedback(found, helpful=[found[0].id], unhelpful=[found[-1].id] if len(found) > 2 else [])
        if found and chance.random() < 0.2:
            chance.choice([alice.pin, alice.demote])(found[0].id)
        if found and chance.random() < 0.1:
            alice.remember(" ".join(chance.choices(WORDS, k=3)), supersedes=found[0].id)
    return made


@pytest.mark.parametrize("seed", range(5))
def test_each_recall_comes_out_as_it_was_under_its_own_policy(seed: int, alice: UserMemory, clock: Clock) -> None:
    chance = random.Random(seed)
    names = chance.sample(list(POLICIES), 8)
    remember(alice, clock, chance)
    made = live(alice, clock, names, chance, recalls=24)
    replay = alice.replay(POLICIES[names[0]])
    assert [one.id for one in replay] == [one.id for one in made]
    assert [one.before for one in replay] == [one.ids for one in made]
    assert [one.unknown for one in replay if not one.reproduced] == []


def test_a_recall_whose_only_hit_was_forgotten_brings_nothing_else(alice: UserMemory) -> None:
    alice.remember("red tea in oslo", id="gone")
    alice.remember("red coffee", id="stays")
    assert alice.recall("red tea in oslo", k=1).ids == ("gone",)
    alice.forget("gone")
    (one,) = alice.replay()
    assert (one.before, one.after, one.reproduced) == ((), (), True)


@pytest.mark.parametrize("name", POLICIES)
def test_the_policy_of_the_log_gives_the_log_again(name: str, alice: UserMemory, clock: Clock) -> None:
    chance = random.Random(name)
    remember(alice, clock, chance)
    made = live(alice, clock, [name], chance, recalls=8)
    replay = alice.replay(POLICIES[name])
    assert [one.after for one in replay] == [one.ids for one in made]
    for one, recall in zip(replay, made, strict=True):
        assert dict(one.reasons) == {each.id: each.reason for each in recall.dropped}
    assert replay.unknown == {}
    assert replay.changed == ()


@pytest.mark.parametrize(
    ("then", "other"),
    [
        ("default", "dense"),
        ("default", "equal"),
        ("default", "diverse"),
        ("default", "floor"),
        ("default", "strict times"),
        ("default", "two reads"),
        ("floor", "default"),
        ("strict times", "default"),
        ("wide", "default"),
        ("support", "equal"),
        ("dense", "support"),
    ],
)
@pytest.mark.hard("large")
def test_another_policy_returns_what_it_would_have_returned_at_that_moment(
    then: str, other: str, alice: UserMemory, clock: Clock
) -> None:
    """Asked beside each recall, of the same state and without touching it."""
    chance = random.Random(f"{then} {other}")
    remember(alice, clock, chance)
    looks: list[tuple[str, ...]] = []

    def look(user: UserMemory, cue: str, k: int) -> None:
        looks.append(user.recall(cue, k=k, policy=POLICIES[other], reinforce=False).ids)

    for _ in range(10):
        clock.pass_seconds(chance.choice([100.0, chance.random() * 4 * DAY]))
        cue, k = " ".join(chance.choices(ASKED, k=3)), chance.choice([1, 3, 5])
        look(alice, cue, k)
        found = alice.recall(cue, k=k, policy=POLICIES[then])
        if found and chance.random() < 0.5:
            alice.feedback(found, helpful=[found[0].id])
    assert [one.after for one in alice.replay(POLICIES[other])] == looks


def test_a_replay_changes_nothing(memory: AdaptiveMemory, alice: UserMemory, clock: Clock) -> None:
    remember(alice, clock, random.Random(1))
    live(alice, clock, ["default"], random.Random(1), recalls=5)
    memory.flush()
    before = ledger_rows(memory)
    first = alice.replay(Policy.preset("equal"))
    assert ledger_rows(memory) == before
    assert first == alice.replay(Policy.preset("equal"))


def test_verdicts_judge_both_rankings(alice: UserMemory) -> None:
    alice.remember_many([{"id": "new", "text": "tea in oslo"}, {"id": "old", "text": "tea and cake in oslo"}])
    found = alice.recall("tea in oslo", k=1)
    alice.feedback(found, helpful=["new"])
    alice.feedback(found, unhelpful=["new"])
    (one,) = alice.replay(Policy())
    assert {name: verdict.value for name, verdict in one.verdicts.items()} == {"new": "unhelpful"}
    alice.feedback(found, helpful=["new"])
    (one,) = alice.replay(Policy(min_similarity=1.0))
    assert one.helpful == {"new"}


def test_only_a_span_of_time_is_replayed(alice: UserMemory, clock: Clock) -> None:
    alice.remember("tea")
    made = []
    for _ in range(3):
        clock.pass_days(1)
        made.append((clock(), alice.recall("tea").id))
    assert [one.id for one in alice.replay(since=made[1][0])] == [made[1][1], made[2][1]]
    assert [one.id for one in alice.replay(until=made[0][0])] == [made[0][1]]
    assert [one.id for one in alice.replay(limit=1)] == [made[2][1]]


def test_a_replay_of_all_users_names_nobody_and_one_of_some_names_them(memory: AdaptiveMemory, clock: Clock) -> None:
    for name in ("ana", "bob", "eve"):
        memory.for_user(name).remember(f"tea of {name}", id="tea")
        clock.pass_seconds(1)
        memory.for_user(name).recall("tea")
    memory.for_everyone().remember("everyone's tea", id="common")
    memory.for_everyone().recall("tea")
    replay = memory.replay(Policy.preset("equal"))
    assert [one.user for one in replay] == [None] * 4
    assert not any(name in replay.to_json() for name in ("ana", "bob", "eve"))
    some = memory.replay(Policy.preset("equal"), user=["bob", "ana"])
    assert [(one.user, one.before) for one in some] == [("ana", ("tea",)), ("bob", ("tea",))]
    assert [one.user for one in memory.replay(user="eve")] == ["eve"]
    assert [one.user for one in memory.replay(user=["eve", "eve"])] == ["eve"]
    for nobody in (b"eve", object(), ["eve", b"bob"]):
        with pytest.raises(ScopeError):
            memory.replay(user=nobody)  # type: ignore[arg-type]
    assert len(memory.replay(user="nobody")) == 0
    with pytest.raises(ScopeError):
        memory.replay(user="")
    with pytest.raises(PolicyError):
        memory.replay("equal")  # type: ignore[arg-type]


async def test_async_gives_the_same(memory: AdaptiveMemory, alice: UserMemory) -> None:
    alice.remember("tea")
    alice.recall("tea")
    assert await memory.areplay(user="alice") == memory.replay(user="alice")
    assert await alice.areplay() == alice.replay()


def test_recalls_over_everyones_records_are_told_apart(memory: AdaptiveMemory, clock: Clock) -> None:
    memory.for_everyone().remember_many([{"id": "one", "text": "common tea"}, {"id": "two", "text": "common coffee"}])
    ana = memory.for_user("ana", over="everyone")
    ana.remember("my own tea", id="one")
    for _ in range(3):
        clock.pass_days(1)
        found = ana.recall("tea coffee", k=2)
        ana.feedback(found, helpful=[found[0].id])
        memory.for_user("ana").recall("tea")
    replay = memory.for_user("ana").replay()
    assert [one.reproduced for one in replay] == [True] * 6
    assert {one.before for one in replay} == {found.ids, ("one",)}


def test_what_was_forgotten_or_has_changed_since_is_said(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([{"id": str(number), "text": f"tea {word}"} for number, word in enumerate(WORDS)])
    clock.pass_days(1)
    found = alice.recall("tea red", k=3)
    alice.forget(found[0].id)
    (one,) = alice.replay()
    assert (one.before, one.after) == (found.ids[1:], found.ids[1:])
    alice.remember("something else by now", id=found[1].id, created_at=clock())
    (one,) = alice.replay()
    assert one.after == found.ids[1:]


def test_records_that_another_program_deleted_are_named_unknown(open_memory: Open) -> None:
    with open_memory() as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"id": "a", "text": "tea red"}, {"id": "b", "text": "tea green"}])
        alice.recall("tea")
        records: Any = memory.ports().records
        records.remove(alice.scope, ["b"])
        (one,) = alice.replay()
        assert any("gone from the collection" in said for said in one.unknown)


def test_what_the_recall_did_not_ask_is_named_unknown(alice: UserMemory) -> None:
    alice.remember("tea")
    alice.recall("tea", policy=Policy(channels=("dense",), recall_k=5))
    unknown = alice.replay(Policy().replace(advanced={"unrelated_answered": 0.05}, decay={"rate": 0.9})).unknown
    assert sorted(said.split(":")[0] for said in unknown) == [
        "more candidates",
        "scores of unrelated questions",
        "strengths under another decay",
        "the channel 'lexical' was not asked, so its hits and scores are missing",
    ]


def test_a_recall_by_a_relevance_floor_is_as_empty_again(alice: UserMemory, clock: Clock) -> None:
    alice.remember_many([f"{one} {other}" for one in WORDS[:6] for other in WORDS[6:12]])
    strict = Policy(advanced=Advanced(unrelated_answered=0.05))
    alice.calibrate([" ".join(random.Random(one).choices(WORDS, k=3)) for one in range(30)], policy=strict)
    clock.pass_seconds(10)
    made = [alice.recall(cue, policy=strict) for cue in ("red coffee", "quite another matter", "xylophone")]
    assert [one.after for one in alice.replay(strict)] == [one.ids for one in made]
    assert all(one.reproduced for one in alice.replay(strict))


def test_a_reranker_and_channels_of_ones_own_are_replayed_from_the_log(open_memory: Open, clock: Clock) -> None:
    def likes_long(_cue: str, texts: list[str]) -> list[float]:
        return [float(len(one)) for one in texts]

    def sql(_cue: str, _user: object, _limit: int) -> dict[str, float]:
        return {"m3": 1.0, "m1": 0.5}

    policy = Policy(channels=("dense", "lexical", "sql"), advanced=Advanced(channel_weights={"sql": 2}))
    with open_memory(reranker=likes_long, channels={"sql": sql}, policy=policy) as memory:
        alice, chance = memory.for_user("alice"), random.Random(3)
        remember(alice, clock, chance)
        made = [alice.recall(" ".join(chance.choices(WORDS, k=3)), k=4) for _ in range(4)]
        assert [one.after for one in alice.replay()] == [one.ids for one in made]
        without = alice.replay(policy.replace(channels=("dense", "lexical"), advanced={"channel_weights": ()}))
        looks = [
            alice.recall(one.cue, k=4, reinforce=False, policy=Policy(channels=("dense", "lexical"))).ids
            for one in without
        ]
        assert len(looks) == len(without)
        assert all(one.reproduced for one in without)


def test_the_way_down_the_hierarchy_is_named_unknown_and_nothing_else_is_blamed(alice: UserMemory) -> None:
    from adaptive_memory_core.flow.rank_again import WAY_DOWN

    down, flat = Policy(shape="top_down"), Policy()
    alice.remember("coffee in rome")
    assert alice.recall("coffee", policy=down).ids  # nothing was observed: as flat, and told by the log
    assert alice.replay(down).unknown == {}
    pets = ["I adopted a beagle puppy in May.", "My beagle puppy chews shoes.", "The puppy loves long walks."]
    work = ["The billing server failed.", "I restarted the billing server twice.", "Billing runs on a new server."]
    for start, said in ((1e9, pets), (1.1e9, work)):
        alice.observe([{"speaker": "Ana", "text": one, "at": start + 60 * place} for place, one in enumerate(said)])
    alice.themes()
    alice.recall("beagle puppy", policy=down, k=2)
    alice.recall("beagle puppy", policy=flat, k=2)
    replay = alice.replay(down)
    assert [one.reproduced for one in replay] == [True, False, True]
    assert [one.unknown for one in replay] == [(), (WAY_DOWN,), (WAY_DOWN,)]
    assert [one.unknown for one in alice.replay(flat)] == [(), (WAY_DOWN,), ()]


def test_what_cannot_be_had_again_for_what_was_forgotten_is_put_down_to_that(alice: UserMemory, clock: Clock) -> None:
    chance = random.Random(2)
    remember(alice, clock, chance)
    made = live(alice, clock, ["default", "diverse", "balanced", "no copies"], chance, recalls=60)
    for one in chance.sample(sorted({name for recall in made for name in recall.ids}), 8):
        alice.forget(one)
    replay = alice.replay()
    changed = [one for one in replay if not one.reproduced]
    assert changed
    assert {said for one in changed for said in one.unknown if "the log" in said} == {FORGOTTEN}
