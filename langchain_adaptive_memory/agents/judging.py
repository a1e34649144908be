"""Which recalls went into an agent's answer? All of its turn: the middleware's and the tools'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig

from adaptive_memory_core.flow.feedback_on_answer import Used
from langchain_adaptive_memory.agents.conversation import last_question, question_turn, thread_of
from langchain_adaptive_memory.used import used_in


def used_for(answer: Any, config: RunnableConfig | None) -> list[Used]:
    """What `feedback` judges: of an agent's output, its last question's turn; else whatever a retriever's takes.

    >>> used_for(["tea"], None)
    [Used(id='tea', recall=None, shared=False)]
    """
    found = used_in(answer)
    messages = answer.get("messages") if isinstance(answer, Mapping) else None
    question = last_question(messages or [])
    return found if question is None else [*found, Used(question_turn(question, thread_of(config)))]
