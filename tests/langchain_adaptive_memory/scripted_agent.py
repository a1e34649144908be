"""What do tests of agents share? Agents whose chat model answers by a script, and a memory of two users."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

TAG, END = "<recalled_memories>", "</recalled_memories>"


class Scripted(BaseChatModel):
    """Answers by a function of what it is shown, and keeps all that it was shown."""

    answer: Callable[[Sequence[BaseMessage]], AIMessage | str]
    shown: list[list[BaseMessage]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.shown.append(messages)
        said = self.answer(messages)
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(content=said) if isinstance(said, str) else said)]
        )

    def evidence(self) -> list[str]:
        """What each call was shown of a memory."""
        texts = ["\n".join(message.text for message in messages) for messages in self.shown]
        return ["\n".join(re.findall(f"{TAG}.*?{END}", text, re.DOTALL)) for text in texts]

    def firsts(self) -> list[str]:
        """The text of the first message of each call."""
        return [one[0].text for one in self.shown]

    def systems(self) -> list[str]:
        """The text of the system message of each call."""
        return [one[0].text if isinstance(one[0], SystemMessage) else "" for one in self.shown]


@dataclass
class Context:
    user_id: str


@tool
def weather(place: str) -> str:
    """How the weather is."""
    return f"sunny in {place}"


def says(*answers: AIMessage | str) -> Scripted:
    """Gives these answers in turn, the last one for ever."""
    left = list(answers)
    return Scripted(answer=lambda _: left.pop(0) if len(left) > 1 else left[0], shown=[])


def call(name: str = "weather", number: int = 1, **arguments: Any) -> AIMessage:
    wanted = arguments or {"place": "Brno"}
    return AIMessage(content="", tool_calls=[{"name": name, "args": wanted, "id": f"call-{number}"}])


def ask(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def agent_of(model: Scripted, *middleware: Any, tools: Sequence[Any] = (weather,), **options: Any) -> Any:
    options.setdefault("context_schema", Context)
    return create_agent(model, list(tools), middleware=list(middleware), **options)
