"""Do reads survive what really happens? Threads, processes, kills, dead servers."""

from __future__ import annotations

import collections
import itertools
import os
import time
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, Weights
from adaptive_memory_core.errors import LedgerError, StoreError
from tests import forked
from tests.behaviour.conftest import eventually
from tests.chroma_server import ChromaServer
from tests.forked import Forked
from tests.store.reader import EVERY_READ_COUNTS, embed, server_collection

TEXTS = [{"text": f"memory {number}", "id": f"m{number}"} for number in range(6)]


def reader(*arguments: str) -> Forked:
    """A process that recalls; it waits for a line before it begins."""
    process = forked.module("tests.store.reader", *arguments)
    assert process.stdout.readline() == "ready\n"
    return process


def begin(process: Forked) -> None:
    process.stdin.write("go\n")
    process.stdin.flush()


def counted(lines: list[str]) -> collections.Counter[str]:
    """How often each record was returned, from what the processes printed."""
    return collections.Counter(one for line in lines for one in line.split()[1].split(","))


def read(counts: Mapping[str, int]) -> dict[str, int]:
    """The records that were read at all: which ones is the ranking's business."""
    return {one: count for one, count in counts.items() if count}


def shown(collection: Any) -> dict[str, int]:
    """The counts as the collection shows them."""
    found = collection.get(include=["metadatas"])
    return {one: metadata["retrieval_count"] for one, metadata in zip(found["ids"], found["metadatas"], strict=True)}


def embedded(path: Path) -> Any:
    client = chromadb.PersistentClient(str(path))
    return client.get_collection("memories", embedding_function=None)


def test_eight_threads_lose_and_double_nothing(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=embed, policy=EVERY_READ_COUNTS) as memory:
        alice = memory.for_user("alice")
        alice.remember_many(TEXTS)

        def work(seed: int) -> list[str]:
            return [one for n in range(40) for one in alice.recall(f"memory {(seed + n) % 6}", k=3).ids]

        with ThreadPoolExecutor(8) as pool:
            expected = collections.Counter(itertools.chain(*pool.map(work, range(8))))
        counts = {one["id"]: alice.get(one["id"]).read.retrieval_count for one in TEXTS}
        assert read(counts) == expected
        assert alice.stats().recalls == 320
        assert [one.step for one in alice.recalls(limit=1_000)] == list(range(320, 0, -1))
        memory.flush()
        assert read(shown(embedded(tmp_path))) == expected


@pytest.mark.hard("server")
def test_four_processes_on_a_server_share_one_ledger_exactly(chroma_server: ChromaServer, tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger.sqlite3")
    collection = server_collection(chroma_server.port)
    with AdaptiveMemory(collection, embedder=embed, ledger=ledger, policy=EVERY_READ_COUNTS) as memory:
        memory.for_user("alice").remember_many(TEXTS)
        common = ["--port", str(chroma_server.port), "--ledger", ledger, "--recalls", "40", "--threads", "2"]
        processes = [reader(*common, "--seed", str(seed)) for seed in range(4)]
        for process in processes:
            begin(process)
        lines = [line for process in processes for line in process.communicate(timeout=240)[0].splitlines()]
        assert all(process.returncode == 0 for process in processes)
        alice = memory.for_user("alice")
        expected = counted(lines)
        assert len({line.split()[0] for line in lines}) == 320
        assert read({one["id"]: alice.get(one["id"]).read.retrieval_count for one in TEXTS}) == expected
        assert alice.stats().recalls == 320
        memory.flush()
        assert read(shown(collection)) == expected


@pytest.mark.sample
@pytest.mark.hard("kill")
def test_what_returned_before_a_kill_is_counted_once(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=embed, policy=EVERY_READ_COUNTS) as memory:
        memory.for_user("alice").remember_many(TEXTS)
    said = forked.said_by("import sys; from tests.store.killed_readers import main; main(sys.argv[1])", str(tmp_path))
    lines = [line for line in said.splitlines() if len(line.split()) == 2]
    assert lines
    with AdaptiveMemory.open(tmp_path, embedder=embed, policy=EVERY_READ_COUNTS) as memory:
        alice = memory.for_user("alice")
        log = alice.recalls(limit=1_000_000)
        steps = [one.step for one in log]
        assert len(set(steps)) == len(steps) == alice.stats().recalls  # one step, one line, one count
        known = {one.id for one in log}
        assert {line.split()[0] for line in lines} <= known  # nothing that returned is lost
        assert len(known) - len(lines) <= 2 * 20  # committed, but killed before it could return: one a thread
        expected = collections.Counter(kept.id for one in log for kept in one.kept)
        assert read({one["id"]: alice.get(one["id"]).read.retrieval_count for one in TEXTS}) == expected
        memory.flush()
        assert read(shown(embedded(tmp_path))) == expected


def test_a_crash_before_the_write_back_is_made_good_on_the_next_opening(tmp_path: Path) -> None:
    script = (
        "import os, sys; from adaptive_memory_core import AdaptiveMemory; from tests.store.reader import embed\n"
        "memory = AdaptiveMemory.open(sys.argv[1], embedder=embed); alice = memory.for_user('alice')\n"
        "alice.remember('memory 1', id='m1'); alice.recall('memory 1'); os._exit(1)"
    )
    forked.said_by(script, str(tmp_path), check=False)
    with AdaptiveMemory.open(tmp_path, embedder=embed, keeping=Keeping(lag_seconds=0.05)) as memory:
        assert eventually(lambda: not memory.for_user("alice").stats().projection.pending)  # nobody calls flush
        assert shown(embedded(tmp_path)) == {"m1": 1}


def test_a_normal_exit_without_close_writes_everything_back(tmp_path: Path) -> None:
    script = (
        "import sys; from adaptive_memory_core import AdaptiveMemory; from tests.store.reader import embed\n"
        "memory = AdaptiveMemory.open(sys.argv[1], embedder=embed); alice = memory.for_user('alice')\n"
        "alice.remember('memory 1', id='m1'); alice.recall('memory 1')"
    )
    forked.said_by(script, str(tmp_path), check=True)
    assert shown(embedded(tmp_path)) == {"m1": 1}


@pytest.mark.hard("server")
def test_a_dead_server_costs_no_read_and_is_caught_up_with(chroma_server: ChromaServer, tmp_path: Path) -> None:
    keeping = Keeping(lag_seconds=0.2)
    collection = server_collection(chroma_server.port)
    memory = AdaptiveMemory(collection, embedder=embed, ledger=tmp_path / "ledger.sqlite3", keeping=keeping)
    alice = memory.for_user("alice")
    alice.remember_many(TEXTS)
    alice.recall("memory 1", k=3)
    chroma_server.stop()
    assert alice.recall("memory 1", k=1, reinforce=False).ids == ("m1",)  # the ledger has it all
    alice.remember("memory 9", id="meanwhile")
    assert alice.recall("memory 9", k=1, reinforce=False).ids == ("meanwhile",)
    with pytest.raises(StoreError, match="reachable"):
        memory.flush()
    assert eventually(lambda: memory.ports().write_back.stats(alice.scope).failures > 0)
    chroma_server.start()
    assert eventually(lambda: not alice.stats().projection.pending)  # the thread tries again by itself
    memory.flush()
    assert sum(shown(server_collection(chroma_server.port)).values()) == 3
    assert "meanwhile" in shown(server_collection(chroma_server.port))
    assert alice.stats().projection.failures >= 1
    memory.close()


@pytest.mark.hard("server")
def test_closing_over_a_dead_server_warns_and_keeps_what_is_due(chroma_server: ChromaServer, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    memory = AdaptiveMemory(server_collection(chroma_server.port), embedder=embed, ledger=ledger)
    memory.for_user("alice").remember_many(TEXTS)
    memory.for_user("alice").recall("memory 1", k=3)
    chroma_server.stop()
    with pytest.warns(RuntimeWarning, match="waits in the ledger"):
        memory.close()
    chroma_server.start()
    collection = server_collection(chroma_server.port)
    with AdaptiveMemory(collection, embedder=embed, ledger=ledger) as again:
        again.flush()
        assert sum(shown(collection).values()) == 3


def test_several_memories_of_one_process_share_a_directory(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=embed, policy=EVERY_READ_COUNTS) as one:
        one.for_user("alice").remember_many(TEXTS)
        with AdaptiveMemory.open(tmp_path, embedder=embed, policy=EVERY_READ_COUNTS) as other:
            for _ in range(3):
                one.for_user("alice").recall("memory 1", k=1)
                other.for_user("alice").recall("memory 1", k=1)
            assert one.for_user("alice").get("m1").read.retrieval_count == 6
            assert other.for_user("alice").get("m1").read.retrieval_count == 6
        one.for_user("alice").recall("memory 1", k=1)
    assert shown(embedded(tmp_path))["m1"] == 7


ALONE = Policy(weights=Weights(0, 0, 1))  # so that what was read does not come again
QUEUE = Keeping(lag_seconds=3600, queue_limit=3)


def test_a_full_queue_cuts_the_lag_short(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=embed, policy=ALONE, keeping=QUEUE) as memory:
        alice = memory.for_user("alice")
        alice.remember_many(TEXTS)
        memory.flush()
        alice.recall("memory 1", k=2)
        time.sleep(1.5)  # two wait: below the limit, so nobody writes
        assert sum(shown(embedded(tmp_path)).values()) == 0
        alice.recall("memory 4", k=2)
        assert eventually(lambda: sum(shown(embedded(tmp_path)).values()) == 4)


def test_a_forked_child_is_told_to_open_its_own(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=embed) as memory:
        read_end, write_end = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                memory.for_user("alice").recall("memory 1")
            except Exception as error:  # the child reports whatever it gets
                os.write(write_end, str(error).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        told = os.read(read_end, 1_000)
        assert b"parent process" in told
        assert b"after the fork" in told


def test_policies_are_what_the_log_says(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=embed) as memory:
        alice = memory.for_user("alice")
        alice.remember_many(TEXTS)
        alice.recall("memory 1", policy=Policy.preset("support"))
        logged = alice.recalls()[0]
        assert logged.policy_hash == Policy.preset("support").hash
        with pytest.raises(LedgerError):
            AdaptiveMemory.open(tmp_path / "other", embedder=embed, ledger=tmp_path)
