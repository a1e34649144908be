"""How does a LlamaIndex chat remember what left its window, each user for themselves? With a block of its `Memory`."""

from __future__ import annotations

import chromadb
from llama_index.core import VectorStoreIndex
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.vector_stores.chroma import ChromaVectorStore

from llama_adaptive_memory import AdaptiveMemoryBlock, LocalEmbedding


def chats() -> VectorStoreIndex:
    """A collection for what was said. Keep it apart from documents that everybody may read."""
    collection = chromadb.EphemeralClient().create_collection("chats", configuration={"hnsw": {"space": "cosine"}})
    store = ChromaVectorStore(chroma_collection=collection)
    return VectorStoreIndex.from_vector_store(store, embed_model=LocalEmbedding())


def chat(block: AdaptiveMemoryBlock, session: str, *messages: str) -> Memory:
    """A chat with a window so small that most of it is soon gone."""
    memory = Memory.from_defaults(
        session_id=session, memory_blocks=[block], token_limit=80, chat_history_token_ratio=0.3, token_flush_size=10
    )
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=4), memory=memory)
    for message in messages:
        engine.chat(message)
    return memory


def told(memory: Memory, question: str) -> str:
    """What the model is told of the memory before it answers."""
    return "\n".join(one.content or "" for one in memory.get(question) if one.role == "system") or "(nothing)"


def main() -> None:
    # "alice/monday" is a session of the user "alice"; without user_id each session would be a user of its own
    with AdaptiveMemoryBlock.from_index(chats(), user_id=lambda session: session.split("/")[0]) as block:
        chat(block, "alice/monday", "I am allergic to peanuts.", "My dog is called Rex.", "Book me a table for two.")
        chat(block, "bob/monday", "I never eat fish.", "I work nights.", "Find me a quiet place.")
        print(told(chat(block, "alice/friday"), "What am I allergic to?"))
        print(told(chat(block, "bob/friday"), "What do I not eat?"))
        print(told(chat(block, "carol/friday"), "What am I allergic to?"))
        stats = block.for_session("alice/friday").stats()
        print(f"alice: {stats.records} memories, {stats.reads} reads in {stats.recalls} questions")


if __name__ == "__main__":
    main()
