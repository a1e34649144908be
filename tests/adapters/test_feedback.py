"""Verdicts on what a retriever of either framework found, a judge's among them; and what is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import InvalidInputError, NotFoundError, Policy, UserMemory
from adaptive_memory_core.judges import Judge
from tests.adapters.conftest import BOTH, TEXTS, Adapter
from tests.conftest import Open


@BOTH
async def test_a_verdict_moves_importance_once(adapter: Adapter, alice: UserMemory, awaited: bool) -> None:
    retriever = adapter.over_memory(alice, k=1)
    tea, coffee, milk = [
        (await adapter.look(retriever, query, awaited=awaited))[0]
        for query in ("green tea", "black coffee", "cold milk")
    ]
    given = {"helpful": [tea, coffee], "unhelpful": [milk]}
    assert (await retriever.afeedback(**given) if awaited else retriever.feedback(**given)) == 3
    assert (await retriever.afeedback([tea]) if awaited else retriever.feedback([tea])) == 0
    importance = [alice.get(one).importance or 0 for one in ("tea", "coffee", "milk")]
    assert importance[0] > 0.5 < importance[1]
    assert importance[2] < 0.5
    assert alice.get("milk").read.unhelpful == 1
    assert retriever.feedback(unhelpful="coffee") == 1, "a changed mind, by its id"


async def test_what_is_gone_costs_the_others_nothing(adapter: Adapter, alice: UserMemory) -> None:
    retriever = adapter.over_memory(alice, k=1)
    tea, coffee = [(await adapter.look(retriever, query))[0] for query in ("green tea", "black coffee")]
    alice.forget("coffee")
    assert retriever.feedback(helpful=[tea, coffee]) == 1
    assert alice.get("tea").read.helpful == 1
    with pytest.raises(NotFoundError):
        retriever.feedback(helpful=coffee)


async def test_what_is_forgotten_is_gone_and_what_was_gone_costs_the_others_nothing(
    adapter: Adapter, alice: UserMemory
) -> None:
    retriever = adapter.over_memory(alice, k=1)
    (tea,) = await adapter.look(retriever, "green tea")
    assert [one.id for one in retriever.forget([tea, "never heard of", "coffee"])] == ["tea", "coffee"]
    assert [one.id for one in await retriever.aforget("milk")] == ["milk"]
    assert [one.id for one in await retriever.aforget(await adapter.look(retriever, "red car"))] == ["red"]
    assert await adapter.find(retriever, "green tea", **{adapter.k: 9}) == ["rain is wet"]
    for gone in (tea, "bobs"):
        with pytest.raises(NotFoundError):
            retriever.forget(gone)


def supports(question: str, answer: str, texts: Sequence[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if "tea" in text]


@pytest.mark.parametrize("over_store", [False, True], ids=["over a memory", "over a store"])
async def test_a_judge_says_what_an_answer_rests_on(
    adapter: Adapter, new_collection: Callable[..., Collection], alice: UserMemory, over_store: bool
) -> None:
    given: dict[str, Any] = {adapter.k: 3, "judge": Judge(supports=supports)}
    store = adapter.store(new_collection(), TEXTS)
    with adapter.over_store(store, **given) if over_store else adapter.over_memory(alice, **given) as retriever:
        found = await adapter.look(retriever, "is green tea or black coffee strong?")
        assert retriever.feedback(found, answer="It is nice.") == 3
        assert await retriever.afeedback(found, answer="It is nice.") == 0
        scope = adapter.scope(retriever) if over_store else alice
        judged = {one.text: one.read for one in scope.records() if one.read.helpful + one.read.unhelpful}
    assert set(judged) == {adapter.text(one) for one in found}
    assert all((read.helpful, read.unhelpful) == ((1, 0) if "tea" in text else (0, 1)) for text, read in judged.items())


async def test_the_judge_decides_on_rounds_in_the_retriever_and_in_a_call(over: Open, adapter: Adapter) -> None:
    asked: list[str] = []

    def sufficient(question: str, texts: Sequence[str]) -> bool:
        asked.append(question)
        return True

    judge = Judge(sufficient=sufficient)
    ann = over(policy=Policy.preset("gam_rag")).for_user("ann")
    ann.remember_many(["Ada met Bob.", "Bob met Eve."])
    plain, judged = adapter.over_memory(ann), adapter.over_memory(ann, judge=judge)
    await adapter.find(plain, "Ada?")
    assert not asked
    assert "rounds" not in plain.explain_last()
    await adapter.find(plain, "Ada?", judge=judge)
    assert asked == ["Ada?"]
    await adapter.find(judged, "Ada?", awaited=True)
    for retriever in (plain, judged):
        assert "made 1 of 3 rounds" in retriever.explain_last()
    with pytest.raises(InvalidInputError, match="chat model"):
        adapter.over_memory(ann, judge=5)


async def test_the_last_answer_is_explained(adapter: Adapter, alice: UserMemory) -> None:
    retriever = adapter.over_memory(alice, k=1)
    assert "Nothing was recalled" in retriever.explain_last()
    await adapter.find(retriever, "tea at four")
    assert "'tea at four'" in retriever.explain_last()
    assert "green tea is nice" in retriever.explain_last()
