"""A process that recalls and remembers whatever happens to its servers: run and killed by the tests of faults."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time

import httpx

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.errors import AdaptiveMemoryError
from tests.store.reader import EVERY_READ_COUNTS, PATIENT, embed, server_collection

PAUSE_SECONDS = 0.05  # after a failure


def say(*words: str) -> None:
    """One write, so that a kill cannot tear the line."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def work(memory: AdaptiveMemory, thread: int) -> None:
    """A line for each call that has returned."""
    alice, number = memory.for_user("alice"), 0
    while True:
        number += 1
        try:
            if number % 5:
                recall = alice.recall(f"memory {number % 6}", k=3)
                say("recalled" if recall.step is not None else "uncounted", recall.id, ",".join(recall.ids))
            else:
                new = f"w{os.getpid()}-{thread}-{number}"
                alice.remember(f"memory {60 + number}", id=new)
                say("remembered", new)
        except AdaptiveMemoryError as error:
            say("failed", type(error).__name__)
            time.sleep(PAUSE_SECONDS)


def opened(port: int, ledger: str) -> AdaptiveMemory:
    """Once both servers are there."""
    while True:
        try:
            collection = server_collection(port)
        except (httpx.HTTPError, ValueError):  # what Chroma's client raises where nobody listens
            time.sleep(PAUSE_SECONDS)
            continue
        try:
            return AdaptiveMemory(collection, embedder=embed, ledger=ledger, policy=EVERY_READ_COUNTS, keeping=PATIENT)
        except AdaptiveMemoryError:
            time.sleep(PAUSE_SECONDS)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ledger", required=True)
    arguments = parser.parse_args()
    sys.stdin.readline()
    memory = opened(arguments.port, arguments.ledger)
    for thread in range(2):
        threading.Thread(target=work, args=(memory, thread)).start()


if __name__ == "__main__":
    main()
