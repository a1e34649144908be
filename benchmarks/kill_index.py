"""What is left of a memory whose process is killed while Chroma writes its index? `python -m benchmarks.kill_index`.

Each round copies a memory, lets a process write into it or only read from it, and kills that the moment one of the
index's files changes. Then the memory is opened, repaired where it says so, and everything that had been acknowledged
is looked for. A memory that only reads rewrites one of the files: the list of names, with its write-back.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import chromadb
import numpy as np

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, as_embedder
from adaptive_memory_core.errors import DamagedStoreError
from adaptive_memory_core.store.chroma.index_files import FILES, NAMES

DIMENSION = 256
BATCH = 400  # records of one write: each of them makes Chroma rewrite its index
EVERY_READ_COUNTS = Policy(refresh_floor_seconds=0.0, channels=("dense",))
ROUNDS = [("writing", name) for name in FILES] + [("reading", NAMES)]
PATIENCE_SECONDS = 60.0


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kills", type=int, default=100)
    arguments.add_argument("--records", type=int, default=2_000)
    arguments.add_argument("--only", choices=["writing", "reading"], help="one of the two kinds of process")
    given = arguments.parse_args()
    rounds = [one for one in ROUNDS if given.only in (None, one[0])]
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        in_a_fork(lambda: made(base, given.records))
        totals: dict[tuple[str, str], collections.Counter[str]] = collections.defaultdict(collections.Counter)
        for number in range(given.kills):
            kind = rounds[number % len(rounds)]
            totals[kind].update(one_kill(base, Path(folder) / "copy", *kind, wait=number // len(rounds) % 4))
    print(table(totals))
    bad = ("lost records", "lost reads", "lost vectors", "not repaired", "unnamed")
    return int(any(counts[what] for counts in totals.values() for what in bad))


def one_kill(base: Path, copy: Path, how: str, name: str, *, wait: int) -> dict[str, int]:
    """Kill a process when the file changes, or `wait` thousandths of a second later; what is left then."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(base, copy)
    acknowledged = copy / "acknowledged"
    file = next(copy.glob(f"*/{name}"))
    before = file.stat()
    pid = forked(lambda: write(copy, acknowledged) if how == "writing" else read(copy, acknowledged))
    end = time.monotonic() + PATIENCE_SECONDS
    while (now := file.stat()).st_mtime_ns == before.st_mtime_ns and now.st_size >= before.st_size:
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            raise TimeoutError(f"{name} was not written while {how}.")
    if wait and name != NAMES:  # those are written within a thousandth of a second
        time.sleep(wait / 1_000)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    outcome: dict[str, int] = in_a_fork(lambda: looked_at(copy, acknowledged.read_text().split()))
    return outcome


def embed(texts: Sequence[str]) -> Any:
    """A direction of its own for each text; the texts end in a number."""
    numbers = [int(text.rpartition(" ")[2]) for text in texts]
    return np.stack([np.random.default_rng(one).normal(size=DIMENSION) for one in numbers]).astype(np.float32)


def opened(path: Path, **more: Any) -> AdaptiveMemory:
    return AdaptiveMemory.open(path, embedder=as_embedder(embed), policy=EVERY_READ_COUNTS, **more)


def notes(first: int, count: int) -> list[dict[str, str]]:
    return [{"id": f"m{one}", "text": f"note {one}"} for one in range(first, first + count)]


def made(path: Path, records: int) -> int:
    """A memory whose index stands in files."""
    with chromadb.PersistentClient(str(path)) as client:  # type: ignore[attr-defined]
        configuration: Any = {"hnsw": {"space": "cosine", "sync_threshold": BATCH}}
        client.create_collection("memories", embedding_function=None, configuration=configuration)
    with opened(path) as memory:
        memory.for_user("alice").remember_many(notes(0, records))
    return records


def write(path: Path, acknowledged: Path) -> None:
    """Remember without end, and have each batch in the collection."""
    with acknowledged.open("a", buffering=1) as log, opened(path, write="through") as memory:
        alice = memory.for_user("alice")
        for first in range(1_000_000, 10_000_000, BATCH):
            log.write(f"{alice.recall(f'note {first}', k=5).id}\n")
            alice.remember_many(notes(first, BATCH))
            log.write(f"m{first}\n")


def read(path: Path, acknowledged: Path) -> None:
    """Recall without end; what is read is written back at once."""
    with acknowledged.open("a", buffering=1) as log, opened(path, keeping=Keeping(lag_seconds=0.01)) as memory:
        alice = memory.for_user("alice")
        for number in range(10_000_000):
            log.write(f"{alice.recall(f'note {number}', k=100).id}\n")


def looked_at(path: Path, acknowledged: list[str]) -> dict[str, int]:
    """What had been acknowledged, looked for after the kill; repaired first where the memory says so."""
    found = collections.Counter(kills=1)
    try:
        opened(path).close()
    except DamagedStoreError:
        found["torn"] += 1
        embedded: list[str] = []

        def counting(texts: Sequence[str]) -> Any:
            embedded.extend(texts)
            return embed(texts)

        began = time.monotonic()
        report = AdaptiveMemory.repair(path, embedder=as_embedder(counting, name="embed"))
        found["seconds of repair"] += round(time.monotonic() - began)
        found["embedded again"] += len(embedded)
        found["not repaired"] += not report.ok
    with opened(path) as memory:
        found.update(compared(memory, acknowledged))
    return dict(found)


def compared(memory: AdaptiveMemory, acknowledged: list[str]) -> dict[str, int]:
    memory.flush()
    alice: Any = memory.for_user("alice")
    recalls = alice.recalls(limit=1_000_000)
    counts = collections.Counter(kept.id for one in recalls for kept in one.kept)
    store: Any = memory.ports().records
    everything = store.collection.get(include=["embeddings"])
    wrong = [
        one
        for one, vector in zip(everything["ids"], everything["embeddings"], strict=True)
        if not np.allclose(vector, embed([f"note {one[1:]}"])[0], atol=1e-3)
    ]
    batches = {one for one in acknowledged if one.startswith("m")}
    reads = set(acknowledged) - batches - {one.id for one in recalls}
    return {
        "lost records": len(batches - set(everything["ids"])),
        "lost reads": len(reads) + sum(alice.get(one).read.retrieval_count != counts[one] for one in counts),
        "lost vectors": len(wrong),
        "unnamed": int(not memory.check().ok),
    }


def forked(work: Callable[[], object]) -> int:
    """A process of its own, without the seconds that importing Chroma takes; nothing of Chroma runs in this one."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(1)
    return pid


def in_a_fork(work: Callable[[], Any]) -> Any:
    """What the work gave, done in a process of its own."""
    reader, writer = os.pipe()

    def told() -> None:
        try:
            answer = json.dumps(work())
        except BaseException as error:  # noqa: BLE001 - the other process raises it
            answer = json.dumps({"failed": repr(error)})
        os.write(writer, answer.encode())

    pid = forked(told)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = json.loads(pipe.read())
    os.waitpid(pid, 0)
    if isinstance(answer, dict) and "failed" in answer:
        raise RuntimeError(answer["failed"])
    return answer


def table(totals: dict[tuple[str, str], collections.Counter[str]]) -> str:
    columns = ["kills", "torn", "not repaired", "lost records", "lost reads", "lost vectors", "unnamed"]
    columns += ["embedded again", "seconds of repair"]
    lines = [f"| while | file | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for (how, name), counts in totals.items():
        lines.append(f"| {how} | {name} | {' | '.join(str(counts[one]) for one in columns)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
