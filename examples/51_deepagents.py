"""How do deepagents keep files in a memory? StoreBackend over AdaptiveMemoryStore, and a tool that finds by meaning.

Needs `pip install deepagents` (Python 3.11 or later). Runs with a stand-in for a chat model, which answers by a script.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import StoreBackend
from langchain.tools import ToolRuntime
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from adaptive_memory_core import LocalEmbedder
from langchain_adaptive_memory import AdaptiveMemoryStore

INDEX: Any = {"dims": 256, "embed": LocalEmbedder(), "fields": ["content"]}  # `content` is what StoreBackend stores


@dataclass
class Context:
    user_id: str


def files_of(context: Context) -> tuple[str, str]:
    """The namespace of a user's files: from the context of the run, never from what a model wrote."""
    return (context.user_id, "files")


@tool
def find_files(query: str, runtime: ToolRuntime[Context]) -> str:
    """Find the user's files by what they are about."""
    assert runtime.store is not None
    found = runtime.store.search(files_of(runtime.context), query=query, limit=1)
    return "\n".join(f"{item.key}: {item.value['content']}" for item in found) or "nothing"


class StandIn(BaseChatModel):
    """No model: it calls the tools of its script one after the other, and then says what the last one gave."""

    script: list[tuple[str, dict[str, str]]]

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


def session(store: AdaptiveMemoryStore, user: str, *script: tuple[str, dict[str, str]]) -> None:
    agent: Any = create_deep_agent(
        StandIn(script=list(script)),
        tools=[find_files],
        backend=StoreBackend(namespace=lambda runtime: files_of(runtime.context)),
        context_schema=Context,
        store=store,
    )
    out = agent.invoke({"messages": [("user", "(what a user says)")]}, context=Context(user))
    print(f"{user}: {out['messages'][-1].text.strip()}")


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as path:
        with AdaptiveMemoryStore(INDEX, path=path) as store:
            diet = {"file_path": "/diet.md", "content": "Ana eats no meat and no nuts."}
            home = {"file_path": "/home.md", "content": "Ana lives in Brno, near the station."}
            session(store, "ana", ("write_file", diet), ("write_file", home), ("ls", {"path": "/"}))
        with AdaptiveMemoryStore(INDEX, path=path) as store:  # another day
            session(store, "ana", ("find_files", {"query": "which food must I avoid?"}))
            session(store, "ana", ("read_file", {"file_path": "/home.md"}))
            session(store, "ben", ("find_files", {"query": "which food must I avoid?"}))
            session(store, "ben", ("read_file", {"file_path": "/diet.md"}))


if __name__ == "__main__":
    main()
