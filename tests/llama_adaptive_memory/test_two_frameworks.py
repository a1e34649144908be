"""One memory, two frameworks: is every read of either counted, in one process and in two?"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chromadb
import pytest

import langchain_adaptive_memory
from adaptive_memory_core import AdaptiveMemory
from llama_adaptive_memory import AdaptiveMemoryRetriever, LocalEmbedding
from tests.chroma_server import ChromaServer
from tests.conftest import Clock
from tests.llama_adaptive_memory.conftest import EVERY_READ, HashedWords, texts
from tests.llama_adaptive_memory.reader import READERS, opened
from tests.test_examples import environment

READS = 25
ROOT = Path(__file__).parents[2]
FRAMEWORKS = sorted(READERS) if hasattr(langchain_adaptive_memory, "AdaptiveMemoryRetriever") else ["llama_index"] * 2


def test_two_frameworks_in_one_process_lose_no_read(memory: AdaptiveMemory) -> None:
    memory.policy = EVERY_READ
    tea = memory.for_user("alice").remember("green tea")
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(READERS[one], memory, READS) for one in FRAMEWORKS * 2]:
            done.result()
    assert memory.for_user("alice").get(tea).read.retrieval_count == 4 * READS
    assert memory.for_user("alice").stats().recalls == 4 * READS


def test_what_one_framework_read_the_other_ranks_by(memory: AdaptiveMemory, clock: Clock) -> None:
    memory.policy = EVERY_READ
    alice = memory.for_user("alice")
    tea = alice.remember("green tea")
    for framework in FRAMEWORKS:
        READERS[framework](memory, 1)
        clock.pass_days(1)
    assert alice.recall("tea", reinforce=False)[0].record.read.retrieval_count == 2
    assert alice.get(tea).read.remembered is False
    READERS["llama_index"](memory, 1)
    assert alice.get(tea).read.remembered is True


@pytest.mark.hard("server")
def test_two_frameworks_in_two_processes_lose_no_read(chroma_server: ChromaServer, tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger.sqlite3")
    with opened(chroma_server.port, ledger) as memory:
        tea = memory.for_user("alice").remember("green tea")
        command = [sys.executable, "-m", "tests.llama_adaptive_memory.reader", "--port", str(chroma_server.port)]
        processes = [
            subprocess.Popen(
                [*command, "--ledger", ledger, "--reads", str(READS), "--framework", framework],
                cwd=ROOT,
                env=environment(),
            )
            for framework in FRAMEWORKS
        ]
        assert [process.wait(timeout=120) for process in processes] == [0, 0]
        assert memory.for_user("alice").get(tea).read.retrieval_count == 2 * READS
        memory.flush()
    shown = chromadb.HttpClient("127.0.0.1", chroma_server.port).get_collection("shared").get(ids=[tea])["metadatas"]
    assert shown is not None
    assert shown[0]["retrieval_count"] == 2 * READS


def test_a_memory_opens_with_a_model_of_llama_index(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path / "own", embedder=HashedWords(model_name="words-1")) as memory:
        assert memory.embedder_name == "HashedWords:words-1"
        memory.for_user("alice").remember("Alice drinks tea")
        assert memory.for_user("alice").recall("tea").ids
    with AdaptiveMemory.open(tmp_path / "bundled", embedder=LocalEmbedding()) as memory:
        memory.for_user("alice").remember("Alice drinks tea")
    with AdaptiveMemory.open(tmp_path / "bundled") as memory:  # the same embedder, by its own name
        assert memory.for_user("alice").recall("tea").ids
        with AdaptiveMemoryRetriever(memory, user_id="alice", embed_model=LocalEmbedding()) as ours:
            assert texts(ours.retrieve("tea")) == ["Alice drinks tea"]
