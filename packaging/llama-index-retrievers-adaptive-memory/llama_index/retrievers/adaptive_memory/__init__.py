"""The retriever, post-processor, memory block and tools of `llama_adaptive_memory`, under LlamaIndex's import path."""

from llama_adaptive_memory import (
    EVERYONE,
    AdaptiveMemoryBlock,
    AdaptiveMemoryPostprocessor,
    AdaptiveMemoryRetriever,
    LocalEmbedding,
    create_forget_tool,
    create_recall_tool,
    create_remember_tool,
    one_question,
)

__all__ = [
    "AdaptiveMemoryBlock",
    "AdaptiveMemoryPostprocessor",
    "AdaptiveMemoryRetriever",
    "EVERYONE",
    "LocalEmbedding",
    "create_forget_tool",
    "create_recall_tool",
    "create_remember_tool",
    "one_question",
]
