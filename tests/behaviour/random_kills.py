"""Is anything lost or counted twice where workers, PostgreSQL and Chroma are killed at random?

`python -m tests.behaviour.random_kills --kills 100 --seed 1` does it a hundred times; the suite does it a few times.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from adaptive_memory_core import AdaptiveMemory, Keeping
from tests import forked, postgres_server
from tests.behaviour.recalling_processes import PATIENCE_SECONDS, RecallingProcesses
from tests.chroma_server import ChromaServer
from tests.forked import Forked
from tests.postgres_server import new_database
from tests.store.reader import EVERY_READ_COUNTS, embed, server_collection

TEXTS = [{"text": f"memory {number}", "id": f"m{number}"} for number in range(6)]
KEEPING = Keeping(lag_seconds=0.2)
WORKERS = 2


class World:
    """A Chroma server, a ledger in PostgreSQL, a memory over both, and processes that recall from it."""

    def __init__(self, chroma: ChromaServer, address: str | None = None) -> None:
        self.chroma, self.address = chroma, address or new_database()
        self.memory = self.another()
        self.alice = self.memory.for_user("alice")
        self.alice.remember_many(TEXTS)

    def another(self) -> AdaptiveMemory:
        collection = server_collection(self.chroma.port)
        return AdaptiveMemory(
            collection, embedder=embed, ledger=self.address, policy=EVERY_READ_COUNTS, keeping=KEEPING
        )

    def reader(self, seed: int, recalls: int) -> Forked:
        given = ["--port", self.chroma.port, "--ledger", self.address, "--threads", 2, "--seed", seed]
        process = forked.module("tests.store.reader", *given, "--recalls", recalls)
        process.stdin.write("go\n")
        process.stdin.flush()
        return process

    def shown(self) -> Counter[str]:
        """The counts as the collection shows them."""
        self.memory.flush()
        found = server_collection(self.chroma.port).get(include=["metadatas"])
        metadatas = [one["retrieval_count"] for one in found["metadatas"]]
        return +Counter(dict(zip(found["ids"], metadatas, strict=True)))

    def logged(self) -> tuple[list[str], Counter[str]]:
        """The recalls that the log has, and how often they returned each record."""
        log = self.alice.recalls(limit=1_000_000)
        assert sorted(one.step for one in log) == list(range(1, len(log) + 1))
        return [one.id for one in log], Counter(kept.id for one in log for kept in one.kept)

    def counted(self) -> Counter[str]:
        return +Counter({one["id"]: self.alice.get(one["id"]).read.retrieval_count for one in TEXTS})


class Kills:
    """Workers over a ledger and a Chroma server, of which one at a time is killed with `kill -9` and started again."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.chance = world, random.Random(seed)
        self.killed = Counter[str]()
        self.spare = self._process()  # started before it is needed
        self.workers = RecallingProcesses([])
        self.alive = [self._next_worker() for _ in range(WORKERS)]

    def strike(self) -> None:
        """One kill, after a few more calls have returned."""
        self._wait_for(self.chance.randint(2, 12))
        victim = self.chance.choice(("worker", "PostgreSQL", "Chroma"))
        time.sleep(self.chance.uniform(0.0, 0.02))  # amid whatever is under way
        self.killed[victim] += 1
        if victim == "worker":
            one = self.alive.pop(self.chance.randrange(WORKERS))
            one.kill()
            self.alive.append(self._next_worker())
        elif victim == "PostgreSQL":
            postgres_server.kill()
            postgres_server.start_again()
        else:
            self.world.chroma.stop()
            self.world.chroma.start()

    def end(self) -> None:
        """Nobody works any more."""
        self._wait_for(5)
        codes = [one.poll() for one in self.alive]
        self.workers.kill()
        self.spare.kill()
        self.spare.communicate()
        assert codes == [None] * WORKERS, "a worker has failed by itself"

    def check(self) -> dict[str, int]:
        """Compares what workers have said with what ledger and collection have; gives how much that was."""
        lines = [line.split() for line in self.workers.lines if line.endswith("\n")]
        said = {kind: [line[1] for line in lines if line[0] == kind] for kind in ("recalled", "remembered", "failed")}
        assert self.world.memory.check(repair=True) is not None
        ids, _ = self.world.logged()
        assert set(said["recalled"]) <= set(ids), "a recall that returned is not in the log"
        assert len(ids) == len(set(ids)) == self.world.alice.stats().recalls
        unheard = len(ids) - len(said["recalled"])  # counted, but killed, or cut off, before it could return
        assert unheard <= 2 * (self.killed["worker"] + WORKERS) + len(said["failed"])
        assert self._reads() == self._returned() == +self.world.shown(), "counts are not those of the log"
        for one in said["remembered"]:
            assert self.world.alice.get(one).id == one
        assert self.world.memory.check().ok, str(self.world.memory.check())
        return {**self.killed, **{kind: len(found) for kind, found in said.items()}, "unheard": unheard}

    def _reads(self) -> Counter[str]:
        ids = server_collection(self.world.chroma.port).get(include=[])["ids"]
        return +Counter({one: self.world.alice.get(one).read.retrieval_count for one in ids})

    def _returned(self) -> Counter[str]:
        return Counter(kept.id for one in self.world.alice.recalls(limit=1_000_000) for kept in one.kept)

    def _wait_for(self, more: int) -> None:
        done = len(self._answers()) + more
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self._answers()) < done:
            assert time.monotonic() < deadline, self.workers.lines[-5:]
            time.sleep(0.01)

    def _answers(self) -> list[str]:
        return [line for line in self.workers.lines.copy() if line.startswith("re")]

    def _next_worker(self) -> Forked:
        process, self.spare = self.spare, self._process()
        process.stdin.write("go\n")
        process.stdin.flush()
        self.workers.add(process)
        return process

    def _process(self) -> Forked:
        given = ["--port", str(self.world.chroma.port), "--ledger", self.world.address]
        return forked.module("tests.store.worker", *given)


def strike_often(world: World, kills: int, seed: int) -> dict[str, int]:
    """So many kills, and what was found afterwards."""
    killing = Kills(world, seed)
    try:
        for _ in range(kills):
            killing.strike()
    finally:
        killing.end()
    return killing.check()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(ChromaServer(Path(folder))) as chroma:
        chroma.start()
        world = World(chroma)
        print(strike_often(world, arguments.kills, arguments.seed))
        world.memory.close()


if __name__ == "__main__":
    main()
