"""A process that recalls: run by the tests of faults, killed by some of them."""

from __future__ import annotations

import argparse
import math
import sys
import threading
from collections.abc import Sequence
from typing import Any

import chromadb

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy

EVERY_READ_COUNTS = Policy(refresh_floor_seconds=0.0)
PATIENT = Keeping(wait_seconds=120.0, count_seconds=120.0)  # until a server that was killed is back


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Texts that end in a number, on a circle."""
    angles = [0.1 * int(text.rpartition(" ")[2]) for text in texts]
    return [[math.cos(angle), math.sin(angle), 1.0] for angle in angles]


def server_collection(port: int) -> Any:
    client = chromadb.HttpClient("127.0.0.1", port)
    return client.get_or_create_collection(
        "shared", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )


def open_memory(arguments: argparse.Namespace) -> AdaptiveMemory:
    if arguments.port:
        return AdaptiveMemory(
            server_collection(arguments.port),
            embedder=embed,
            ledger=arguments.ledger,
            policy=EVERY_READ_COUNTS,
            keeping=PATIENT,
        )
    return AdaptiveMemory.open(arguments.path, embedder=embed, policy=EVERY_READ_COUNTS)


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ledger")
    parser.add_argument("--path")
    parser.add_argument("--recalls", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(words)


def recall_and_say_so(memory: AdaptiveMemory, arguments: argparse.Namespace) -> None:
    """A line for each recall that has returned."""
    alice = memory.for_user("alice")

    def work(offset: int) -> None:
        for number in range(arguments.recalls):
            recall = alice.recall(f"memory {(arguments.seed + offset + number) % 6}", k=3)
            # One write, so that a kill cannot tear the line.
            sys.stdout.write(f"{recall.id} {','.join(recall.ids)}\n")
            sys.stdout.flush()

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(arguments.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    arguments = parsed()
    memory = open_memory(arguments)
    print("ready", flush=True)
    sys.stdin.readline()
    recall_and_say_so(memory, arguments)
    memory.close()


if __name__ == "__main__":
    main()
