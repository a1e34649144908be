"""Does a reranker decide its share of the relevance, and does a recall do without one that fails?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, Policy, UserMemory, Weights
from adaptive_memory_core.policy import Advanced
from adaptive_memory_core.score.signals import DAY
from tests.conftest import Clock, Open, contents, ledger_rows, word_vectors

TEXTS = {"tea": "tea", "green": "green tea", "black": "black tea at noon", "tax": "the tax is due"}
ALONE = Policy(weights=Weights(0, 0, 1), advanced=Advanced(rerank_weight=1.0), channels=("dense",))


def longest(cue: str, texts: Sequence[str]) -> list[float]:
    """Marks of 0 to 10 and more: the longer, the better."""
    return [float(len(text)) for text in texts]


def _awaitable(function: Callable[..., Any], *asked: Any) -> Any:
    """A plain function, whose answer is still to be awaited."""
    return function(*asked)


class Encoder:
    """As sentence-transformers' CrossEncoder: callable, but not with texts; `predict` takes pairs and gives logits."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def __call__(self, *_: object) -> None:
        raise TypeError("input_ids")

    def predict(self, sentences: Sequence[tuple[str, str]]) -> Any:
        self.pairs += sentences
        return np.array([-11.0 + len(text) for _, text in sentences], dtype=np.float32)


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    user = memory.for_user("alice")
    user.remember_many([{"text": text, "id": one} for one, text in TEXTS.items()])
    return user


async def test_its_numbers_stand_among_the_parts_and_change_the_order(alice: UserMemory) -> None:
    async def later(cue: str, texts: Sequence[str]) -> list[float]:
        await asyncio.sleep(0)
        return longest(cue, texts)

    plain = alice.recall("tea", reinforce=False)
    assert plain.ids[0] == "tea"
    assert "reranker" not in plain[0].parts
    for reranker in (longest, later, partial(_awaitable, later), Encoder()):
        given: Any = reranker
        blocking = alice.recall("tea", policy=ALONE, reranker=given)
        for answer in (blocking, await alice.arecall("tea", policy=ALONE, reranker=given)):
            assert answer.ids == ("black", "tax", "green", "tea")
            assert [one.parts["reranker"] for one in answer] == pytest.approx([1.0, 11 / 14, 6 / 14, 0.0])
            assert all(sum(one.parts.values()) == pytest.approx(one.score) for one in answer)
            assert " reranker " in answer.explain()
            assert not answer.trace


def test_a_share_is_left_to_what_the_channels_found(alice: UserMemory) -> None:
    policy = ALONE.replace(advanced={"rerank_weight": 0.25})
    answer = alice.recall("tea", policy=policy, reranker=longest)
    first = {one.id: one for one in answer}["tea"]
    assert first.parts == pytest.approx({"similarity": 0.75, "reranker": 0.0}, abs=1e-5)
    assert alice.recalls()[0].candidates[0].parts.keys() == {"similarity", "reranker"}
    off = alice.recall("tea", policy=policy.replace(advanced={"rerank_weight": 0.0}), reranker=longest)
    assert "reranker" not in off[0].parts


def test_an_encoder_is_shown_the_question_with_each_text(alice: UserMemory) -> None:
    encoder = Encoder()
    alice.recall("what tea?", reranker=encoder)
    assert sorted(encoder.pairs) == sorted(("what tea?", text) for text in TEXTS.values())


def test_it_sees_the_best_only_and_the_others_stay_behind_them(alice: UserMemory) -> None:
    seen: list[str] = []

    def judge(cue: str, texts: Sequence[str]) -> list[float]:
        seen.extend(texts)
        return [0.9, 0.2]

    answer = alice.recall("tea", k=4, policy=ALONE.replace(advanced={"rerank_candidates": 2}), reranker=judge)
    assert seen == ["tea", "green tea"]
    assert answer.ids[:2] == ("tea", "green")
    assert {one.signals["reranker"] for one in answer[1:]} == {0.2}


def test_it_never_sees_what_may_not_be_returned(memory: AdaptiveMemory, alice: UserMemory, clock: Clock) -> None:
    memory.for_user("bob").remember("tea of bob", id="bob")
    alice.remember("tea of yesterday", id="old", valid_until=clock.now + DAY)
    alice.remember("secret tea", id="secret", kind="secret")
    clock.pass_days(2)
    seen: list[str] = []

    def judge(cue: str, texts: Sequence[str]) -> list[float]:
        seen.extend(texts)
        return [0.5] * len(texts)

    alice.recall("tea", k=10, reranker=judge, accept=lambda record: record.kind != "secret")
    assert sorted(seen) == sorted(TEXTS.values())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (RuntimeError("overloaded"), "overloaded"),
        (asyncio.CancelledError(), "it was cancelled"),
        ([0.5], "it gave 1 numbers for 4 texts"),
        ([[0.5, 0.5]] * 4, "it gave 8 numbers for 4 texts"),
        ([float("nan")] * 4, "it gave something that is not a finite number"),
        ("good", "it gave 'good'. Give a list of numbers"),
        (None, "it gave None"),
        ({"a": 1}, "it gave {'a': 1}"),
    ],
)
async def test_one_that_fails_costs_a_note_and_never_the_answer(alice: UserMemory, given: Any, said: str) -> None:
    def judge(cue: str, texts: Sequence[str]) -> Any:
        if isinstance(given, BaseException):
            raise given
        return given

    plain = alice.recall("tea", reinforce=False)
    for answer in (alice.recall("tea", reranker=judge), await alice.arecall("tea", reranker=judge)):
        assert answer.ids == plain.ids
        assert "reranker" not in answer[0].parts
        (note,) = answer.trace
        assert note.startswith("the reranker was left out: ")
        assert said in note
        assert note in answer.explain()


async def test_one_that_takes_too_long_is_left_out(alice: UserMemory) -> None:
    async def judge(cue: str, texts: Sequence[str]) -> Any:
        await asyncio.Event().wait()

    impatient = Policy(advanced=Advanced(timeout_seconds=1.0))
    for answer in (
        alice.recall("tea", policy=impatient, reranker=judge),
        await alice.arecall("tea", policy=impatient, reranker=judge),
    ):
        assert answer.ids[0] == "tea"
        assert answer.trace == ("the reranker was left out: no answer within 1 seconds",)


def test_looking_with_one_changes_nothing(memory: AdaptiveMemory, alice: UserMemory, collection: Collection) -> None:
    memory.flush()
    before = ledger_rows(memory), contents(collection)
    alice.recall("tea", reinforce=False, reranker=longest)
    memory.flush()
    assert (ledger_rows(memory), contents(collection)) == before


def test_a_memory_has_one_for_all_its_recalls_and_a_call_may_bring_another(over: Open) -> None:
    alice = over(reranker=longest, policy=ALONE).for_user("alice")
    alice.remember_many([{"text": text, "id": one} for one, text in TEXTS.items()])
    assert alice.recall("tea", k=1).ids == ("black",)
    assert alice.recall("tea", k=1, reranker=lambda _, texts: [-len(one) for one in texts]).ids == ("tea",)
    assert alice.rerank("tea", {"tea": 0.9, "green": 0.8}).ids == ("green", "tea")
    guest = alice.rerank("tea", {"tea": 0.9, "web": 0.1}, guests={"web": "a long text from the web"})
    assert guest.ids == ("web", "tea")


def test_whether_another_user_has_a_record_of_a_guests_name_cannot_be_told(memory: AdaptiveMemory) -> None:
    memory.for_user("bob").remember("tea of bob", id="bobs")
    memory.for_everyone().remember("tea of everyone", id="shared")
    alice, given = memory.for_user("alice"), {"bobs": 0.5, "nobodys": 0.5, "shared": 0.5}
    alice.remember("tea", id="tea")
    answer = alice.rerank("tea", given, guests=dict.fromkeys(given, "a text of the caller's"))
    assert {*answer.ids} == {"bobs", "nobodys"}
    assert {hit.score for hit in answer} == {answer[0].score}
    assert {one.id for one in alice.rerank("tea", given).dropped} == {*given}
    with pytest.raises(NotFoundError) as bobs:
        alice.feedback(answer, helpful=["bobs"])
    with pytest.raises(NotFoundError) as nobodys:
        alice.feedback(answer, helpful=["nobodys"])
    assert str(bobs.value).replace("bobs", "nobodys") == str(nobodys.value)
    assert memory.for_user("bob").get("bobs").read.retrieval_count == 0


@pytest.mark.parametrize("wrong", ["longest", 5, Encoder, object()])
def test_what_is_no_reranker_is_refused(memory: AdaptiveMemory, collection: Collection, wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="Give a function of a cue and a list of texts"):
        memory.for_user("alice").recall("tea", reranker=wrong)
    with pytest.raises(InvalidInputError, match="Give a function of a cue and a list of texts"):
        AdaptiveMemory(collection, embedder=word_vectors, reranker=wrong)


def test_where_nothing_was_found_nobody_is_asked(memory: AdaptiveMemory) -> None:
    def never(cue: str, texts: Sequence[str]) -> list[float]:
        raise AssertionError

    assert memory.for_user("nobody").recall("tea", reranker=never).trace == ()
