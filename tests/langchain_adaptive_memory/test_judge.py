"""One argument gives LangChain's retriever and middleware a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.judges import Judge
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from tests.langchain_adaptive_memory.scripted_agent import Context, agent_of, ask, says


def supports(question: str, answer: str, texts: Sequence[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if "tea" in text]


@pytest.mark.parametrize("of_memory", [False, True])
def test_the_middleware_has_each_answer_judged_in_place_of_citations(
    filled: AdaptiveMemory, of_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge(supports=supports)
    if of_memory:
        monkeypatch.setattr(filled.opened, "judge", judge)
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
