"""How do several processes share one memory? A Chroma server for the records, one ledger file for the reads."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import chromadb

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Policy

WORKERS, READS = 2, 25
EVERY_READ = Policy(refresh_floor_seconds=0)  # by default, reads of a record within one minute count once


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
        wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"`chroma run` did not answer on port {port} within {seconds:g} seconds.")


def open_memory(port: int, ledger: str) -> AdaptiveMemory:
    client = chromadb.HttpClient("127.0.0.1", port)
    collection = client.get_or_create_collection(
        "memories", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    return AdaptiveMemory(collection, embedder=LocalEmbedder(), ledger=ledger, policy=EVERY_READ)


def work(port: int, ledger: str) -> int:
    """What each worker process does; gives how many of its recalls were counted."""
    with open_memory(port, ledger) as memory:
        recalls = [memory.for_user("alice").recall("which tea?", k=1) for _ in range(READS)]
        return sum(recall.step is not None for recall in recalls)


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        directory, ledger = Path(temporary), str(Path(temporary) / "ledger.sqlite3")
        with server(directory / "chroma") as port, open_memory(port, ledger) as memory:
            alice = memory.for_user("alice")
            alice.remember_many(
                [{"id": "tea", "text": "Alice drinks oolong tea."}, {"id": "tax", "text": "Taxes are due in May."}]
            )
            with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
                counted = list(pool.map(work, [port] * WORKERS, [ledger] * WORKERS))
            print(f"recalls counted by each of {WORKERS} processes: {counted}")
            reads = alice.get("tea").read.retrieval_count
            print(f"in the ledger: {reads} reads of 'tea', {alice.stats().recalls} recalls")
            memory.flush()
            print(f"in the collection: {shown(port)}")


def shown(port: int) -> dict[str, Any]:
    """The metadata as any other program sees it."""
    client = chromadb.HttpClient("127.0.0.1", port)
    found = client.get_collection("memories", embedding_function=None).get(ids=["tea"])["metadatas"] or [{}]
    return {key: found[0][key] for key in ("last_read", "retrieval_count", "remembered")}


if __name__ == "__main__":
    main()
