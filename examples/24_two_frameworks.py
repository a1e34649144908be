"""How do LangChain and LlamaIndex share one memory? In one process by one object, in two by a server and a ledger."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import chromadb

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Policy

READS = 25
QUESTION = "What does Alice drink?"
EVERY_READ = Policy(refresh_floor_seconds=0)  # by default, reads of a record within one minute count once


def read_with_langchain(memory: AdaptiveMemory) -> None:
    from langchain_adaptive_memory import AdaptiveMemoryRetriever  # here, so that each process imports one framework

    retriever = AdaptiveMemoryRetriever(memory=memory, user_id="alice", k=1)
    for _ in range(READS):
        retriever.invoke(QUESTION)


def read_with_llama_index(memory: AdaptiveMemory) -> None:
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    from llama_adaptive_memory import AdaptiveMemoryRetriever

    retriever = AdaptiveMemoryRetriever(memory, user_id="alice", similarity_top_k=1)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM(max_tokens=4))
    for _ in range(READS):
        engine.query(QUESTION)


READERS = {"langchain": read_with_langchain, "llama_index": read_with_llama_index}


def in_one_process() -> None:
    collection = chromadb.EphemeralClient().create_collection("shared", embedding_function=None)
    with AdaptiveMemory(collection, embedder=LocalEmbedder(), policy=EVERY_READ) as memory:
        tea = memory.for_user("alice").remember("Alice drinks green tea.")
        with ThreadPoolExecutor() as threads:
            list(threads.map(lambda read: read(memory), READERS.values()))
        print("one process:", memory.for_user("alice").get(tea).read.retrieval_count, "reads")


def opened(port: int, ledger: str) -> AdaptiveMemory:
    """Each process opens the memory for itself: the records are on the server, the reads in one file."""
    collection = chromadb.HttpClient("127.0.0.1", port).get_or_create_collection("shared", embedding_function=None)
    return AdaptiveMemory(collection, embedder=LocalEmbedder(), ledger=ledger, policy=EVERY_READ)


def work(framework: str, port: int, ledger: str) -> None:
    with opened(port, ledger) as memory:
        READERS[framework](memory)


def in_two_processes() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory, server(Path(directory)) as port:
        ledger = str(Path(directory) / "ledger.sqlite3")
        with opened(port, ledger) as memory:
            tea = memory.for_user("alice").remember("Alice drinks green tea.")
            with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
                for done in [processes.submit(work, framework, port, ledger) for framework in READERS]:
                    done.result()
            print("two processes:", memory.for_user("alice").get(tea).read.retrieval_count, "reads")


@contextmanager
def server(directory: Path) -> Iterator[int]:
    """A Chroma server on a free port of this machine, stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    program = shutil.which("chroma", path=str(Path(sys.executable).parent)) or "chroma"  # installed beside this Python
    command = [program, "run", "--path", str(directory), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while socket.socket().connect_ex(("127.0.0.1", port)) != 0 and time.monotonic() < deadline:
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


if __name__ == "__main__":
    in_one_process()
    in_two_processes()
