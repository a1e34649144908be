"""Feedback on one question does no harm to similar ones: a record that helped doesn't displace the exact answer."""

from __future__ import annotations

import pytest

from adaptive_memory_core import LocalEmbedder, UserMemory
from tests.conftest import Open

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
