"""Does `judge=` judge wherever it can? What an answer rests on, and when a text holds; of a model, or by functions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, UserMemory
from adaptive_memory_core.errors import JudgeError
from adaptive_memory_core.judges import Judge
from tests.conftest import Open, word_vectors

TEA = [{"id": "noon", "text": "Tea is at noon."}, {"id": "green", "text": "Tea is green."}]


def at_noon(question: str, answer: str, texts: Sequence[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if answer.rstrip(".") in text]


@pytest.fixture
def alice(over: Open) -> UserMemory:
    user = over(judge=Judge(supports=at_noon)).for_user("alice")
    user.remember_many(TEA)
    return user


def verdicts(user: UserMemory) -> dict[str, tuple[int, int]]:
    read = {one["id"]: user.get(one["id"]).read for one in TEA}
    return {name: (one.helpful, one.unhelpful) for name, one in read.items()}


def test_once_an_answer_is_known_the_judge_says_what_it_rests_on(alice: UserMemory) -> None:
    found = alice.recall("when is tea?")
    assert alice.feedback_on_answer([found], answer="noon.") == 2
    assert verdicts(alice) == {"noon": (1, 0), "green": (0, 1)}
    assert alice.feedback_on_answer([found.id], answer="noon.") == 0, "the same again, by its id"
    assert alice.feedback_on_answer(["green"], answer="green.") == 1, "of one record, another answer"


def test_it_is_the_same_where_it_is_awaited_and_the_call_brings_its_judge(over: Open) -> None:
    async def later(question: str, answer: str, texts: Sequence[str]) -> list[int]:
        await asyncio.sleep(0)
        return at_noon(question, answer, texts)

    async def judged(user: UserMemory) -> int:
        await user.aremember_many(TEA)
        found = await user.arecall("when is tea?")
        return await user.afeedback_on_answer([found], answer="noon.", judge=Judge(supports=later))

    user = over().for_user("alice")
    assert asyncio.run(judged(user)) == 2
    assert verdicts(user) == {"noon": (1, 0), "green": (0, 1)}


def test_a_turn_is_judged_whole(alice: UserMemory) -> None:
    alice.recall("when is tea?", turn="t", k=1)
    alice.recall("what color is tea?", turn="t", k=2)
    assert alice.feedback_on_answer(["t"], answer="noon.") == 2
    assert verdicts(alice) == {"noon": (1, 0), "green": (0, 1)}


def test_a_judge_that_does_not_know_teaches_nothing(alice: UserMemory) -> None:
    found = alice.recall("when is tea?")
    for judge in (lambda instructions, material: "?", Judge(supports=lambda *_: 1 / 0)):
        with pytest.raises(JudgeError, match="Nothing was learned"):
            alice.feedback_on_answer([found], answer="noon.", judge=judge)
    assert verdicts(alice) == {"noon": (0, 0), "green": (0, 0)}


@pytest.mark.parametrize("judge", [None, Judge(time=lambda text: None)])
def test_an_answer_without_a_judge_is_refused(over: Open, judge: Judge | None) -> None:
    user = over().for_user("alice")
    user.remember_many(TEA)
    found = user.recall("when is tea?")
    with pytest.raises(InvalidInputError, match="there is no judge"):
        user.feedback_on_answer([found], answer="noon.", judge=judge)
    with pytest.raises(InvalidInputError, match="Leave unhelpful= out"):
        user.feedback_on_answer([found], ["green"], answer="noon.")
    with pytest.raises(InvalidInputError, match="not blank"):
        user.feedback_on_answer([found], answer=" ")


@pytest.mark.parametrize("given", [5, Judge, "gpt"])
def test_what_can_judge_nothing_is_refused_on_opening(collection: Collection, given: Any) -> None:
    with pytest.raises(InvalidInputError, match="chat model"):
        AdaptiveMemory(collection, embedder=word_vectors, judge=given)
    with pytest.raises(InvalidInputError, match="judges nothing"):
        Judge()
    with pytest.raises(InvalidInputError, match="Give a function"):
        Judge(supports=given)


def test_a_model_says_when_a_text_holds_and_its_time_memory_learns_of_it(over: Open) -> None:
    """The rules find no time in "He died in 855."; a model does, and only then there is one to learn of."""
    asked: list[str] = []

    def model(instructions: str, material: str) -> str:
        asked.append(material)
        if "limit the time" in instructions:
            return '{"time": "in 855"}' if "855" in material else '{"time": null}'
        return '{"sufficient": "no"}' if "sufficient" in instructions else '{"support": [1]}'

    policy = Policy.preset("gam_rag")
    memory = over(policy=policy, judge=model)
    user = memory.for_user("alice")
    user.remember("Lothair ruled. He died in 855.", id="died")
    user.recall("When did Lothair die?", reinforce=False)
    memory.sync()
    assert '{"text": "He died in 855."}' in asked
    found = user.recall("What happened to Lothair in 855?")
    assert "the graph made 3 of 3 rounds" in found.trace
    before = found[0].score
    assert user.feedback_on_answer([found], answer="He died.") == 1
    known = memory.ports().ledger.judged_questions.of(user.scope)
    assert known is not None
    assert known.times.any()
    assert user.recall("What happened to Lothair in 855?", reinforce=False)[0].score >= before
