"""How does an agent remember from one session to the next? A middleware recalls, shows, saves and learns.

Runs with a stand-in for a chat model, or with a real one where OPENAI_API_KEY is set; OPENAI_BASE_URL and OPENAI_MODEL
name any server that speaks OpenAI's protocol (needs langchain-openai).
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from adaptive_memory_core import AdaptiveMemory
from langchain_adaptive_memory import AdaptiveMemoryMiddleware


@dataclass
class Context:
    user_id: str


class StandIn(BaseChatModel):
    """No model: it repeats the first piece of evidence that it is shown, and cites it."""

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        evidence = re.search(r"^\[m1\] \[.*?\] (.*)$", messages[-1].text, re.MULTILINE)
        said = f"You once said: {evidence[1]!r} [m1]." if evidence else "Noted; I know nothing about you yet."
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said))])


def chat_model() -> BaseChatModel:
    if not os.environ.get("OPENAI_API_KEY"):
        return StandIn()
    return init_chat_model(os.environ.get("OPENAI_MODEL", "gpt-4.1-mini"), model_provider="openai")


def session(path: str, name: str, user: str, *questions: str) -> None:
    """A process of its own in real life: a new agent, a new history, the same memory."""
    print(f"\n{name}, with {user}")
    with AdaptiveMemory.open(path) as memory:
        agent: Any = create_agent(
            chat_model(),
            system_prompt="You are a helpful assistant. Answer in one sentence.",
            middleware=[AdaptiveMemoryMiddleware(memory, k=3, save="user")],
            context_schema=Context,
            checkpointer=InMemorySaver(),
        )
        for question in questions:
            asked = {"messages": [{"role": "user", "content": question}]}
            out = agent.invoke(asked, {"configurable": {"thread_id": name}}, context=Context(user))
            print(f"  {user}: {question}\n  agent: {out['messages'][-1].text}")
        stats = memory.for_user(user).stats()
        print(f"  {user}'s memory: {stats.records} records, {stats.reads} reads, {stats.verdicts} found helpful")


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as path:
        session(path, "session 1", "ana", "I am allergic to peanuts.")
        session(path, "session 2", "ana", "Which snack must I avoid because of an allergy?")
        session(path, "session 3", "ben", "Which snack must I avoid because of an allergy?")


if __name__ == "__main__":
    main()
