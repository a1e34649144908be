"""Do verdicts help with similar questions, for who gave them, and do they end with the record or a changed mind?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Keeping, LocalEmbedder, Policy, UserMemory, Weights
from tests.conftest import Clock, Open, word_vectors

TEXTS = {"valve": "Turn the grey wheel behind the washer", "wifi": "The wifi password hangs there", "oven": "Oven"}
COLD, COLDER, OTHER = "radiator stays cold", "radiator stays cold again", "train to Rome"
NO_USE = Policy().replace(learning={"usefulness": 0.0})  # so that only similar questions tell


@pytest.fixture
def ana(open_memory: Open) -> UserMemory:
    user = open_memory(policy=NO_USE).for_user("ana")
    user.remember_many([{"text": text, "id": name} for name, text in TEXTS.items()])
    return user


def judge(user: UserMemory, cue: str, *, helpful: str | None = None, unhelpful: str | None = None) -> str:
    recall = user.recall(cue)
    given = [[one] if one else [] for one in (helpful, unhelpful)]
    user.feedback(recall, helpful=given[0], unhelpful=given[1])
    return recall.id


def part(user: UserMemory, cue: str, name: str = "valve", **asked: Any) -> float:
    hits = {one.id: one for one in user.recall(cue, reinforce=False, **asked)}
    return hits[name].parts.get("asked_before", 0.0)


def test_a_similar_question_finds_what_helped_before(ana: UserMemory) -> None:
    judge(ana, COLD, helpful="valve")
    found = ana.recall(COLDER, reinforce=False)
    assert found.ids[0] == "valve"
    assert found[0].parts["asked_before"] > 0.2
    assert sum(found[0].parts.values()) == pytest.approx(found[0].score)
    assert f"note: valve was helpful for {COLD!r}" in found.explain()


def test_a_question_about_something_else_is_ranked_as_before(ana: UserMemory) -> None:
    before = [one.parts for one in ana.recall(OTHER, reinforce=False)]
    judge(ana, COLD, helpful="valve", unhelpful="wifi")
    after = ana.recall(OTHER, reinforce=False)
    assert [one.parts.keys() for one in after] == [one.keys() for one in before]
    assert "was helpful for" not in after.explain()


def test_an_unhelpful_record_is_lowered_for_the_same_question(ana: UserMemory) -> None:
    judge(ana, "wifi password", unhelpful="wifi")
    assert part(ana, "wifi password", "wifi") < -0.1
    assert part(ana, "where is wifi", "wifi") > -0.05


def test_a_changed_mind_takes_it_back(ana: UserMemory) -> None:
    recall = judge(ana, COLD, helpful="valve")
    ana.feedback(recall, unhelpful=["valve"])
    assert part(ana, COLD) <= 0.0


def test_who_gave_no_verdict_and_who_is_somebody_else_see_nothing(ana: UserMemory, memory: AdaptiveMemory) -> None:
    judge(ana, COLD, helpful="valve")
    bob = memory.for_user("bob")
    bob.remember("Turn the grey wheel behind the washer", id="bobs")
    assert "asked_before" not in bob.recall(COLD)[0].parts


def test_it_ends_with_the_record_and_with_its_demotion(ana: UserMemory) -> None:
    judge(ana, COLD, helpful="valve")
    ana.demote("valve")
    assert part(ana, COLD) == 0.0
    judge(ana, COLD, helpful="valve")
    assert part(ana, COLD) > 0.0
    ana.forget("valve")
    ana.remember(TEXTS["valve"], id="valve")
    assert part(ana, COLD) == 0.0


def test_a_record_that_says_something_else_begins_anew(ana: UserMemory) -> None:
    judge(ana, COLD, helpful="valve")
    ana.remember("Cheese is in the cellar", id="valve")
    assert part(ana, COLD) == 0.0


def test_a_verdict_by_the_recall_s_id_is_learned_from_the_log(ana: UserMemory) -> None:
    ana.feedback(ana.recall(COLD).id, helpful=["valve"])
    assert part(ana, COLDER) > 0.2


def test_it_is_off_where_the_policy_says_so(ana: UserMemory) -> None:
    judge(ana, COLD, helpful="valve")
    assert part(ana, COLD, policy=NO_USE.replace(learning={"similar_questions": 0.0})) == 0.0
    assert part(ana, COLD, policy=Policy(weights=Weights(1, 1, 1))) == 0.0


def test_it_serves_vectors_alone_and_a_filter(ana: UserMemory) -> None:
    judge(ana, COLD, helpful="valve")
    assert part(ana, COLD, policy=NO_USE.replace(channels=("dense",))) > 0.2
    assert part(ana, COLD, filter={"user_id": "ana"}) > 0.2


def test_it_brings_a_record_that_no_other_source_names(over: Open) -> None:
    policy = NO_USE.replace(recall_k=2)
    ana = over(policy=policy).for_user("ana")
    ana.remember("Turn the grey wheel behind the washer", id="valve")
    judge(ana, COLD, helpful="valve")
    ana.remember_many([{"text": f"radiator stays number {n}"} for n in range(20)])
    assert "valve" in ana.recall(COLD, k=2, reinforce=False).ids


def test_as_of_an_earlier_day_nothing_is_known_of_later_verdicts(ana: UserMemory, clock: Clock) -> None:
    earlier = clock()
    clock.pass_days(2)
    judge(ana, COLD, helpful="valve")
    assert part(ana, COLD, now=earlier + 1) == 0.0


def test_what_was_learned_moves_to_another_memory(ana: UserMemory, open_memory: Open) -> None:
    judge(ana, COLD, helpful="valve")
    state = json.loads(json.dumps(ana.export_state()))
    assert COLD not in json.dumps(state)
    for name in TEXTS:
        ana.forget(name)
    ana.remember_many([{"text": text, "id": name} for name, text in TEXTS.items()])
    assert part(ana, COLD) == 0.0
    ana.restore_state(state)
    assert part(ana, COLD) > 0.2


@pytest.mark.parametrize("damage", [[["!", 1, 0]], [["ADw=", -1, 0]], [["ADw=", 1]], "x", [["AA==", 1, 0]]])
def test_damaged_questions_are_refused(ana: UserMemory, damage: Any) -> None:
    judge(ana, COLD, helpful="valve")
    state = ana.export_state()
    for line in state["records"]:
        if "questions" in line:
            line["questions"] = damage
    with pytest.raises(InvalidInputError, match="damaged 'questions'"):
        ana.restore_state(state)


def test_vectors_of_another_embedder_are_left_out(ana: UserMemory) -> None:
    judge(ana, COLD, helpful="valve")
    state = {**ana.export_state(), "embedder": ["another", 3]}
    ana.forget("valve")
    ana.remember(TEXTS["valve"], id="valve")
    ana.restore_state(state)
    assert part(ana, COLD) == 0.0


def test_words_of_a_question_are_gone_with_its_recall(collection: Collection, clock: Clock) -> None:

    with AdaptiveMemory(
        collection, embedder=word_vectors, policy=NO_USE, clock=clock, keeping=Keeping(log=False)
    ) as memory:
        ana = memory.for_user("ana")
        ana.remember("Turn the grey wheel behind the washer", id="valve")
        judge(ana, COLD, helpful="valve")
        said = ana.recall(COLD, reinforce=False).explain()
    assert "valve was helpful for an earlier question" in said


def test_what_another_retriever_found_rises_as_well(ana: UserMemory) -> None:
    given = {"valve": 0.2, "wifi": 0.3}
    assert ana.rerank(COLD, given, policy=NO_USE, reinforce=False).ids[0] == "wifi"
    judge(ana, COLD, helpful="valve")
    ranked = ana.rerank(COLDER, given, policy=NO_USE, reinforce=False)
    assert ranked.ids[0] == "valve"
    assert ranked[0].parts["asked_before"] > 0.1
    assert "valve was helpful for " + repr(COLD) in ranked.explain()


COLOURS = {"blue": "49 euros", "red": "79 euros", "green": "19 euros", "black": "99 euros", "white": "59 euros"}
ATTRIBUTES = {
    "The {colour} widget costs {price}.": "How much is the {colour} widget?",
    "The {colour} widget weighs 200 grams.": "How heavy is the {colour} widget?",
    "The {colour} widget has a battery.": "Does the {colour} widget have a battery?",
    "The {colour} widget is made in Portugal.": "Where is the {colour} widget made?",
    "The {colour} widget has a guarantee of two years.": "How long is the guarantee on the {colour} widget?",
    "The {colour} widget is delivered within three days.": "How fast is the {colour} widget delivered?",
}
WIDGETS = {
    question.format(colour=colour): fact.format(colour=colour, price=price)
    for colour, price in COLOURS.items()
    for fact, question in ATTRIBUTES.items()
}


@pytest.fixture
def buyer(open_memory: Open) -> UserMemory:
    return open_memory(embedder=LocalEmbedder()).for_user("buyer")


def first_of(user: UserMemory, question: str) -> str:
    return user.recall(question, reinforce=False)[0].text


def helped(user: UserMemory, question: str, answer: str) -> None:
    found = user.recall(question)
    user.feedback(found, helpful=[one for one in found if one.text == answer])


def test_right_answers_to_similar_questions_stay_first(buyer: UserMemory) -> None:
    buyer.remember_many([{"text": one, "created_at": 0.0} for one in WIDGETS.values()])  # none is newer than another
    questions = list(WIDGETS)
    right = [one for one in questions[1::2] if first_of(buyer, one) == WIDGETS[one]]
    assert len(right) > 10
    for one in questions[::2]:
        helped(buyer, one, WIDGETS[one])
    assert [one for one in right if first_of(buyer, one) != WIDGETS[one]] == []


def test_one_click_does_not_displace_the_exact_answer_to_another_question(buyer: UserMemory) -> None:
    facts = [
        "The blue widget costs 49 euros.",
        "The blue widget weighs 200 grams.",
        "The red widget has no battery.",
        "The warranty on the battery of the blue widget lasts two years.",
        "The battery of the blue widget charges in an hour.",
    ]
    buyer.remember_many(facts)
    assert first_of(buyer, "Which widget has no battery?") == facts[2]
    helped(buyer, "How long is the battery warranty?", facts[3])
    assert first_of(buyer, "How long is the battery warranty?") == facts[3]
    assert first_of(buyer, "Which widget has no battery?") == facts[2]
