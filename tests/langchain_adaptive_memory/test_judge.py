"""One argument gives LangChain's retriever and middleware a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy
from adaptive_memory_core.judges import Judge
from langchain_adaptive_memory import AdaptiveMemoryRetriever
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from tests.langchain_adaptive_memory.conftest import NewStore
from tests.langchain_adaptive_memory.scripted_agent import Context, agent_of, ask, filled, says

__all__ = ["filled"]  # a fixture


def supports(question: str, answer: str, texts: Sequence[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if "tea" in text]


def test_the_retriever_says_what_an_answer_rests_on(new_store: NewStore) -> None:
    retriever = AdaptiveMemoryRetriever.from_vectorstore(new_store(), k=2, judge=Judge(supports=supports))
    with retriever:
        found = retriever.invoke("is green tea strong?")
        assert retriever.feedback(found, answer="It is nice.") == 2
        assert asyncio.run(retriever.afeedback(found, answer="It is nice.")) == 0
        scope = retriever.memory.for_everyone()
        read = {one.text: (one.read.helpful, one.read.unhelpful) for one in scope.records()}
        assert read["green tea is nice"] == (1, 0)
        assert sorted(read.values()) == [(0, 0), (0, 0), (0, 0), (0, 1), (1, 0)]


def test_the_judge_decides_on_rounds_in_the_retriever_and_in_a_call(new_store: NewStore) -> None:
    asked: list[str] = []

    def sufficient(question: str, texts: Sequence[str]) -> bool:
        asked.append(question)
        return True

    judge = Judge(sufficient=sufficient)
    policy = Policy.preset("gam_rag")
    with AdaptiveMemoryRetriever.from_vectorstore(new_store(["Ada met Bob.", "Bob saw Eve."]), policy=policy) as plain:
        plain.invoke("Ada?")
        assert not asked
        plain.invoke("Ada?", judge=judge)
        assert asked == ["Ada?"]
        assert "made 1 of 3 rounds" in plain.explain_last()
    with pytest.raises(InvalidInputError, match="chat model"):
        AdaptiveMemoryRetriever.from_vectorstore(new_store(), judge=5)


@pytest.mark.parametrize("of_memory", [False, True])
def test_the_middleware_has_each_answer_judged_in_place_of_citations(
    filled: AdaptiveMemory, of_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge(supports=supports)
    if of_memory:
        monkeypatch.setattr(filled._opened, "judge", judge)
    given: Any = {} if of_memory else {"judge": judge}
    agent = agent_of(says("Tea [m1]."), AdaptiveMemoryMiddleware(filled, **given))
    agent.invoke(ask("what does Ana drink?"), context=Context("ana"))
    user = filled.for_user("ana")
    judged = {one.text: one.read for one in user.records() if one.read.helpful or one.read.unhelpful}
    assert judged
    assert all(bool(read.helpful) is ("tea" in text) for text, read in judged.items())


def test_a_judge_that_fails_costs_the_verdicts_alone(filled: AdaptiveMemory) -> None:
    broken = Judge(supports=lambda *_: 1 / 0)
    agent = agent_of(says("Tea."), AdaptiveMemoryMiddleware(filled, judge=broken))
    with pytest.warns(RuntimeWarning, match="No verdict was given"):
        out = agent.invoke(ask("what does Ana drink?"), context=Context("ana"))
    assert out["messages"][-1].text == "Tea."
