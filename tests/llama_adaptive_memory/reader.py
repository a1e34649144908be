"""A process of its own that reads a record on a Chroma server again and again, with one framework or the other."""

from __future__ import annotations

import argparse
from typing import Any

import chromadb
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine

from adaptive_memory_core import AdaptiveMemory
from llama_adaptive_memory import AdaptiveMemoryRetriever
from tests.conftest import word_vectors
from tests.llama_adaptive_memory.conftest import EVERY_READ


def opened(port: int, ledger: str) -> AdaptiveMemory:
    collection = chromadb.HttpClient("127.0.0.1", port).get_or_create_collection("shared", embedding_function=None)
    return AdaptiveMemory(collection, embedder=word_vectors, ledger=ledger, policy=EVERY_READ)


def read_with_llama_index(memory: AdaptiveMemory, reads: int) -> None:
    retriever = AdaptiveMemoryRetriever(memory, user_id="alice", similarity_top_k=1)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM(max_tokens=4))
    for _ in range(reads):
        assert engine.query("tea").source_nodes


def read_with_langchain(memory: AdaptiveMemory, reads: int) -> None:
    import langchain_adaptive_memory

    other: Any = langchain_adaptive_memory
    retriever = other.AdaptiveMemoryRetriever(memory=memory, user_id="alice", k=1)
    for _ in range(reads):
        assert retriever.invoke("tea")


READERS = {"langchain": read_with_langchain, "llama_index": read_with_llama_index}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--framework", choices=sorted(READERS), required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ledger", required=True)
    parser.add_argument("--reads", type=int, required=True)
    arguments = parser.parse_args()
    with opened(arguments.port, arguments.ledger) as memory:
        READERS[arguments.framework](memory, arguments.reads)


if __name__ == "__main__":
    main()
