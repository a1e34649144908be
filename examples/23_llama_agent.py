"""What does an agent's question cost a memory? One read, however many rounds its tool takes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import chromadb
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import RetrieverTool

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Policy
from llama_adaptive_memory import AdaptiveMemoryRetriever

EVERY_READ = Policy(refresh_floor_seconds=0)  # by default, reads of a record within one minute count once
LOOK_UPS = ["favourite drink", "tea", "what to drink in the morning"]


def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
    """A stand-in for a model: it asks the tool three times, then answers with the first thing it was told."""
    results = [message.content or "" for message in messages if message.role == "tool"]
    if len(results) < len(LOOK_UPS):
        call = ToolCallBlock(
            tool_call_id=str(len(results)), tool_name="memory", tool_kwargs={"input": LOOK_UPS[len(results)]}
        )
        return ChatMessage(role="assistant", blocks=[call])
    return ChatMessage(role="assistant", content=results[0].strip().splitlines()[-1])


async def main() -> None:
    collection = chromadb.EphemeralClient().create_collection("agent", embedding_function=None)
    with AdaptiveMemory(collection, embedder=LocalEmbedder(), policy=EVERY_READ) as memory:
        alice = memory.for_user("alice")
        tea = alice.remember("Alice drinks green tea in the morning.", importance=0.9)
        memory.for_user("bob").remember("Bob drinks coffee in the morning.")
        retriever = AdaptiveMemoryRetriever(memory, user_id="alice", similarity_top_k=1)
        tool = RetrieverTool.from_defaults(retriever, name="memory", description="What is known of the user.")
        agent = FunctionAgent(tools=[tool], llm=MockFunctionCallingLLM(response_generator=answer))
        for question in ("What shall I serve Alice?", "And tomorrow?"):
            print(question, "->", await agent.run(question))
        stats = alice.stats()
        print(
            f"{len(alice.recalls())} look-ups, {stats.recalls} questions, {alice.get(tea).read.retrieval_count} reads"
        )


if __name__ == "__main__":
    asyncio.run(main())
