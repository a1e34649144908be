"""Is the preset "gam_rag" the paper's method? Each ranking is that of code that was written from the paper alone."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, Recall, UserMemory
from adaptive_memory_core.graph import paper as published
from adaptive_memory_core.judges import Judge
from tests.behaviour.conftest import eventually
from tests.conftest import Open, Vectors, word_vectors
from tests.gam_rag_reference import Episode, GamRag

POLICY = Policy.preset("gam_rag")
PEOPLE = ["Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal"]
PLACES = ["Rome", "Oslo", "Lima", "Kyiv", "Bern", "Doha"]
DEEDS = ["met a friend", "opened a shop", "lost a wallet", "found a cat", "wrote a letter", "won a prize"]
QUESTIONS = [
    *(f"Where did {one} {deed}?" for one, deed in zip(PEOPLE, ["meet a friend", "open a shop"] * 4, strict=True)),
    *(f"What did {one} do there in {year}?" for one, year in zip(PEOPLE[:4], (1990, 1995, 2001, 1990), strict=True)),
    "Did Ada write to Bob from Rome?",
    "Was Zed in Oslo?",  # nobody of that name is known
    "who found a cat or a wallet?",  # no entities
    "who won a prize in 2001?",
]


def names(sentence: str) -> list[str]:
    return [one.lower() for one in re.findall(r"\b[A-Z][a-z]+\b", sentence) if one in {*PEOPLE, *PLACES, "Zed"}]


def time_of(text: str) -> str | None:
    found = re.search(r"in \d{4}", text)
    return found.group() if found else None


def passages() -> dict[str, list[str]]:
    drawn = random.Random(7)

    def sentence() -> str:
        year = drawn.choice(["", "", " in 1990", " in 1995", " in 2001"])
        other = drawn.choice(["", f" with {drawn.choice(PEOPLE)}"])
        return f"{drawn.choice(PEOPLE)} {drawn.choice(DEEDS)}{other} at {drawn.choice(PLACES)}{year}."

    quiet = {f"quiet {n}": [f"Nothing of note was said on day {n}."] for n in range(6)}
    return {f"p{n}": [sentence() for _ in range(drawn.randint(1, 4))] for n in range(24)} | quiet


class Asked:
    """A memory with the preset, and the paper's own method over the same passages."""

    def __init__(self, user: UserMemory, embed: Callable[..., Vectors]) -> None:
        self.user = user
        self.paper = GamRag(passages(), lambda text: embed([text])[0], names, time_of)

    def both(self, question: str, **more: Any) -> tuple[Recall, Episode]:
        return self.user.recall(question, k=10, **more), self.paper.ask(question)


@pytest.fixture
def asked(over: Open) -> Asked:
    judge = Judge(time=time_of)
    memory = over(policy=POLICY, entities=names, judge=judge)
    user = memory.for_user("ann")
    user.remember_many([{"id": one, "text": " ".join(some)} for one, some in passages().items()])
    memory.sync()
    return Asked(user, word_vectors)


def test_untrained_all_rankings_are_the_papers(asked: Asked) -> None:
    for question in QUESTIONS:
        ours, paper = asked.both(question, reinforce=False)
        assert list(ours.ids) == paper.ranking[:10], question


@pytest.mark.parametrize(("sentences", "entities"), [(1, 1), (2, 8), (6, 2)])
def test_so_they_are_with_other_numbers_of_sentences_and_entities(
    asked: Asked, sentences: int, entities: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published, "SENTENCES", sentences)
    monkeypatch.setattr(published, "NAMES", entities)
    more = {"k_sentences": sentences, "k_entities": entities}
    paper = GamRag(passages(), lambda text: word_vectors([text])[0], names, time_of, **more)
    for question in QUESTIONS:
        ours = asked.user.recall(question, k=10, reinforce=False)
        assert list(ours.ids) == paper.ask(question).ranking[:10], question


def supported(question: str, sentence: str) -> bool:
    """A judge that is sure of itself, and not always right."""
    return (len(question) + sum(map(ord, sentence))) % 3 == 0


def learn(asked: Asked, question: str) -> None:
    """The sentences of what was returned are judged, one by one, in both."""
    ours, paper = asked.both(question)

    def supports(question: str, answer: str, texts: Sequence[str]) -> list[int]:
        return [place for place, text in enumerate(texts) if supported(question, text)]

    judge = Judge(supports=supports, time=time_of)
    asked.user.feedback_on_answer([ours], answer="somewhere", judge=judge)
    own = {one for name in ours.ids for one in passages()[name]}
    verdicts = {i: supported(question, asked.paper.sentences[i]) for i in paper.activated}
    asked.paper.learn(question, {i: y for i, y in verdicts.items() if asked.paper.sentences[i] in own})


def test_trained_all_rankings_are_the_papers(asked: Asked) -> None:
    before = {question: asked.paper.ask(question).ranking for question in QUESTIONS}
    for question in [*QUESTIONS, *QUESTIONS[::2]]:
        learn(asked, question)
    changed = 0
    for question in QUESTIONS:
        ours, paper = asked.both(question, reinforce=False)
        assert list(ours.ids) == paper.ranking[:10], question
        changed += paper.ranking[:10] != before[question][:10]
    assert changed >= 8, "nothing was learned, and so nothing compared"


def enough(question: str, texts: Sequence[str]) -> bool:
    """Whether somebody who did something like that was found."""
    return any(deed.split()[-1] in question for text in texts for deed in DEEDS if deed in text)


def test_with_a_judge_it_makes_as_many_rounds_as_the_paper_s_code(asked: Asked) -> None:
    told: list[tuple[int, str]] = []
    for question in QUESTIONS:
        ours = asked.user.recall(question, k=10, reinforce=False, judge=Judge(sufficient=enough, time=time_of))
        paper = asked.paper.ask(question, enough)
        assert list(ours.ids) == paper.ranking[:10], question
        assert ours[0].signals["rounds"] == len(paper.rounds)
        assert f"the graph made {len(paper.rounds)} of 3 rounds" in ours.trace
        told.append((len(paper.rounds), question))
    assert {rounds for rounds, _ in told} >= {1, 3}, "some suffice at once, and some never"


def test_an_async_judge_is_awaited(asked: Asked) -> None:
    async def later(question: str, texts: Sequence[str]) -> bool:
        await asyncio.sleep(0)
        return enough(question, texts)

    judges = [Judge(sufficient=one, time=time_of) for one in (later, enough)]

    async def both() -> list[Recall]:
        return [await asked.user.arecall(QUESTIONS[0], k=10, reinforce=False, judge=one) for one in judges]

    awaited, called = asyncio.run(both())
    assert awaited.ids == called.ids
    assert awaited.trace == called.trace == ("the graph made 2 of 3 rounds",)


def test_a_judge_that_fails_costs_no_more_than_rounds(asked: Asked) -> None:
    def broken(question: str, texts: Sequence[str]) -> bool:
        raise TimeoutError("no answer")

    found = asked.user.recall(QUESTIONS[0], k=10, reinforce=False, judge=Judge(sufficient=broken, time=time_of))
    assert list(found.ids) == asked.paper.ask(QUESTIONS[0]).ranking[:10]
    assert found.trace == ("the judge failed: no answer; the graph made 3 of 3 rounds",)


def test_a_verdict_that_is_taken_back_is_gone_from_the_memories(asked: Asked) -> None:
    question = QUESTIONS[0]
    before = scores(asked, question)
    found = asked.user.recall(question, k=10)
    asked.user.feedback(found, helpful=found.ids[:1], unhelpful=found.ids[1:2])
    taught = scores(asked, question)
    asked.user.feedback(found, unhelpful=found.ids[:1], helpful=found.ids[1:2])
    turned = scores(asked, question)
    assert taught != before
    assert turned not in (before, taught)
    asked.user.feedback(found, helpful=found.ids[:1], unhelpful=found.ids[1:2])
    assert scores(asked, question) == taught
    for one in found.ids[:2]:
        asked.user.demote(one)
    assert scores(asked, question) == before


def scores(asked: Asked, question: str) -> dict[str, float]:
    return {one.id: one.score for one in asked.user.recall(question, k=10, reinforce=False)}


def test_the_time_that_a_question_asks_about_counts_once_it_was_judged(asked: Asked) -> None:
    timed, plain = "What did Ada do there in 1990?", "What did Ada do there?"
    for question in (timed, plain):
        learn(asked, question)
    for question in (timed, plain, "What did Ada do there in 1995?"):
        assert list(asked.user.recall(question, k=10, reinforce=False).ids) == asked.paper.ask(question).ranking[:10]
    memories = [one for one in asked.paper.memory if one.pi_time < 1.0]
    assert memories, "some learned of a time"


def test_what_was_learned_of_sentences_goes_along_into_another_memory(
    asked: Asked, new_collection: Callable[..., Collection]
) -> None:
    for question in QUESTIONS:
        learn(asked, question)
    judge = Judge(time=time_of)
    with closing(
        AdaptiveMemory(new_collection(), embedder=word_vectors, policy=POLICY, entities=names, judge=judge)
    ) as memory:
        other = memory.for_user("ann")
        other.remember_many([{"id": one, "text": " ".join(some)} for one, some in passages().items()])
        other.restore_state(asked.user.export_state())
        other.recall("hello", reinforce=False)
        memory.sync()
        for question in QUESTIONS:
            assert list(other.recall(question, k=10, reinforce=False).ids) == asked.paper.ask(question).ranking[:10]


def test_until_all_sentences_have_vectors_it_ranks_as_without_the_graph(over: Open) -> None:
    """They are made beside the calls where a model is asked about their times."""
    judge = Judge(time=time_of)
    memory = over(entities=names, judge=judge)
    user = memory.for_user("ann")
    user.remember_many([{"id": one, "text": " ".join(some)} for one, some in passages().items()])
    memory.sync()
    found = user.recall(QUESTIONS[0], policy=POLICY, reinforce=False)
    if "graph" not in found[0].signals:
        assert any("left out until" in note for note in found.trace)
    memory.sync()
    assert "graph" in user.recall(QUESTIONS[0], policy=POLICY, reinforce=False)[0].signals


def test_sentences_are_embedded_beside_the_call_that_writes_them_and_within_no_transaction(
    collection: Collection,
) -> None:
    memories: list[AdaptiveMemory] = []
    within: list[bool] = []

    def noted(texts: Sequence[str]) -> Vectors:
        for memory in memories:
            called: list[bool] = []
            memory.ports().ledger.afterwards(lambda: called.append(True))  # noqa: B023 - called now, or it is too late
            within.append(not called)
        return word_vectors(texts)

    with closing(AdaptiveMemory(collection, embedder=noted, policy=POLICY)) as memory:
        memories.append(memory)
        user = memory.for_user("ann")
        user.remember_many([{"id": one, "text": " ".join(some)} for one, some in passages().items()])
        found = user.recall(QUESTIONS[0])
        user.feedback(found.id, helpful=[found[0].id])
        memory.sync()
        graph: Any = memory.ports().graph
        assert eventually(lambda: graph.wait() is None), "the background has nothing to do with it any more"
        user.remember("Zed met Ada at Rome in 1990.", id="late")
        alike = memory.ports().ledger.graph.alike
        assert eventually(lambda: "late" in memory.ports().ledger.graph.stored_ids() and not alike.unspoken(1))
    assert within
    assert not any(within)
