"""How do LangMem's tools keep what they are told? In AdaptiveMemoryStore, where an agent gives them a store.

Needs `pip install langmem`. Runs with a stand-in for a chat model, which answers by a script.
"""

from __future__ import annotations

import tempfile
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langmem import create_manage_memory_tool, create_search_memory_tool  # type: ignore[import-untyped] # without types

from adaptive_memory_core import LocalEmbedder
from langchain_adaptive_memory import AdaptiveMemoryStore

INDEX: Any = {"dims": 256, "embed": LocalEmbedder(), "fields": ["content"]}  # `content` is what LangMem stores
NAMESPACE = ("memories", "{langgraph_user_id}")  # LangMem fills in the user from the configuration of the run
TOOLS = [create_manage_memory_tool(NAMESPACE), create_search_memory_tool(NAMESPACE)]


class StandIn(BaseChatModel):
    """No model: it calls the tools of its script one after the other, and then says what the last one gave."""

    script: list[tuple[str, dict[str, Any]]]

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        done = sum(message.type == "tool" for message in messages)
        if done == len(self.script):
            answer = AIMessage(messages[-1].text)
        else:
            name, arguments = self.script[done]
            answer = AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{done}"}])
        return ChatResult(generations=[ChatGeneration(message=answer)])


def session(store: AdaptiveMemoryStore, user: str, *script: tuple[str, dict[str, Any]]) -> None:
    agent: Any = create_agent(StandIn(script=list(script)), TOOLS, store=store)
    configuration: Any = {"configurable": {"langgraph_user_id": user}}
    out = agent.invoke({"messages": [("user", "(what a user says)")]}, configuration)
    print(f"{user}: {out['messages'][-1].text}")


def main() -> None:
    facts = ("Ana eats no meat and no nuts.", "Ana lives in Brno, near the station.")
    question = ("search_memory", {"query": "which food must I avoid?", "limit": 1})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as path:
        with AdaptiveMemoryStore(INDEX, path=path) as store:
            session(store, "ana", *(("manage_memory", {"content": fact}) for fact in facts))
        with AdaptiveMemoryStore(INDEX, path=path) as store:  # another day
            session(store, "ana", question)
            session(store, "ben", question)
            assert store.scope is not None
            print(f"the log knows what was asked: {store.scope.recalls(limit=1)[0].cue!r}")


if __name__ == "__main__":
    main()
