"""What is left when processes that share a directory are killed at random? `python -m benchmarks.processes`.

Several processes with two threads each remember, change, judge, recall and forget in one directory. One after another
is killed with SIGKILL, every second time the one that holds Chroma, and another is started in its place. Each thread
writes down what it is about to do and what was acknowledged; in the end all of that is compared with the ledger and
Chroma (`benchmarks/processes_check.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, UserMemory
from adaptive_memory_core.errors import AdaptiveMemoryError, NotFoundError
from adaptive_memory_core.store.locations import import_chroma
from adaptive_memory_core.store.process_locks import LOCK_NAME
from benchmarks.processes_check import check

EVERY_READ_COUNTS = Policy(refresh_floor_seconds=0.0)
KEEPING = Keeping(lag_seconds=0.3)
WORDS = ["tea", "coffee", "water", "wine", "milk", "juice", "beer", "cocoa", "cider", "lemonade"]
DIMENSION = 16


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kills", type=int, default=100)
    arguments.add_argument("--processes", type=int, default=4)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--pause", type=float, default=1.5, help="seconds between two kills, at the most")
    arguments.add_argument("--folder", help="an empty folder for all of it, which stays; else one that goes")
    given = arguments.parse_args()
    import_chroma()  # so that a child need not
    with nullcontext(given.folder) if given.folder else tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "memory"
        logs = Path(folder) / "logs"
        logs.mkdir()
        seconds = kill_some(directory, logs, given)
        done, wrong = in_a_fork(lambda: check(directory, logs, opened))
    print(f"{given.kills} kills of {given.processes} processes with {given.threads} threads; {done}")
    if seconds:
        middle, most = statistics.median(seconds), max(seconds)
        print(f"taken over after {middle:.2f} s (median of {len(seconds)}), {most:.2f} s at the most")
    print("\n".join(wrong) or "nothing is wrong")
    return int(bool(wrong))


def opened(directory: Path) -> AdaptiveMemory:
    return AdaptiveMemory.open(directory, embedder=embed, policy=EVERY_READ_COUNTS, keeping=KEEPING)


def embed(texts: list[str]) -> list[list[float]]:
    """A direction of its own for each word, and one for the number behind it."""
    return [[1.0 + hash_of(f"{text.split()[0]} {place}") for place in range(DIMENSION)] for text in texts]


def hash_of(text: str) -> float:
    total: int = sum(ord(letter) * 31**place for place, letter in enumerate(text))
    return total % 1009 / 1009


def kill_some(directory: Path, logs: Path, given: Any) -> list[float]:
    """Kill and start processes; gives the seconds until another one had taken over from a holder that was killed."""
    chance, seconds = random.Random(given.seed), list[float]()
    workers = [started(directory, logs / str(one), one, given.threads) for one in range(given.processes)]
    try:
        _kill_some(directory, logs, given, workers, seconds, chance)
    except BaseException:
        for one in workers:
            os.kill(one, signal.SIGKILL)
            os.waitpid(one, 0)
        raise
    for one in workers:
        os.kill(one, signal.SIGTERM)
    for one in workers:
        _, status = os.waitpid(one, 0)
        assert status == 0, f"a process ended with {status}"
    return seconds


def _kill_some(
    directory: Path, logs: Path, given: Any, workers: list[int], seconds: list[float], chance: random.Random
) -> None:
    number = len(workers)
    for kill in range(given.kills):
        time.sleep(chance.uniform(0.2, given.pause))
        holder = holder_of(directory)
        victim = holder if kill % 2 and holder is not None and holder in workers else chance.choice(workers)
        os.kill(victim, signal.SIGKILL)
        killed = time.monotonic()
        os.waitpid(victim, 0)
        workers.remove(victim)
        if victim == holder:
            seconds.append(taken_over(logs, killed))
        workers.append(started(directory, logs / str(number), number, given.threads))
        number += 1


def holder_of(directory: Path) -> int | None:
    """The process that has the directory's lock, as the kernel tells it."""
    try:
        inode = (directory / LOCK_NAME).stat().st_ino
    except FileNotFoundError:
        return None
    for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
        fields = line.split()
        if fields[1] == "FLOCK" and fields[5].endswith(f":{inode}"):
            return int(fields[4])
    return None


def taken_over(logs: Path, killed: float) -> float:
    """Seconds until a process that had been a guest uses Chroma."""
    while time.monotonic() < killed + 30.0:
        for file in logs.glob("*.holder"):
            since = file.read_text(encoding="ascii")
            if since and float(since) > killed:
                return float(since) - killed
        time.sleep(0.01)
    raise AssertionError("nobody took over within 30 seconds")


def started(directory: Path, log: Path, number: int, threads: int) -> int:
    """A process that works until it is told to end; there is one once it has opened the memory."""
    heard, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            work(directory, log, number, threads, ready)
        except BaseException as error:  # noqa: BLE001 - a child must not go on as its parent
            print(f"process {number}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    os.close(ready)
    assert os.read(heard, 1), "a process could not open the memory"
    os.close(heard)
    return pid


def work(directory: Path, log: Path, number: int, threads: int, ready: int) -> None:
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    memory = opened(directory)
    os.write(ready, b"!")
    os.close(ready)
    failed: list[BaseException] = []

    def one_thread(which: int) -> None:
        try:
            with log.with_name(f"{log.name}-{which}.log").open("a", buffering=1) as lines:
                do_everything(memory, which, f"{number}-{which}", lines.write, ending)
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            failed.append(error)
            ending.set()

    running = [threading.Thread(target=one_thread, args=(which,)) for which in range(threads)]
    for one in running:
        one.start()
    since = ""
    while not ending.wait(0.005):
        if not since and memory.ports().records.holds_collection:
            since = str(time.monotonic())
            log.with_name(f"{log.name}.holder").write_text(since, encoding="ascii")
    for one in running:
        one.join()
    memory.close()
    if failed:
        raise failed[0]


def do_everything(
    memory: AdaptiveMemory, which: int, name: str, write: Callable[[str], object], ending: threading.Event
) -> None:
    """One verb after another, of a user of its own and of one that all share."""
    chance = random.Random(name)
    own: list[str] = []
    count = 0
    while not ending.is_set():
        count += 1
        shared = chance.random() < 0.3
        user = memory.for_user("all" if shared else f"thread {which}")
        verb = chance.choices(["remember", "revise", "forget", "recall", "feedback"], [5, 2, 1, 6, 2])[0]
        mine = [one for one in own if one.startswith("s" if shared else "o")]
        if verb in ("revise", "forget") and not mine:
            verb = "remember"
        record = f"{'s' if shared else 'o'}-{name}-{count}" if verb == "remember" else chance.choice(mine or [""])
        said = {"verb": verb, "user": user.user, "id": record, "text": f"{chance.choice(WORDS)} {count}"}
        write(json.dumps({**said, "n": count}) + "\n")
        answer = one_verb(user, said)
        write(json.dumps({"n": count, "answer": answer}) + "\n")
        if verb == "remember":
            own.append(record)
        elif verb == "forget":
            own.remove(record)


def one_verb(user: UserMemory, said: dict[str, Any]) -> Any:
    """What came of it: an error is an answer as well, and nothing was acknowledged."""
    try:
        if said["verb"] in ("remember", "revise"):
            user.remember(said["text"], id=said["id"], metadata={"said": said["text"]})
        elif said["verb"] == "forget":
            user.forget(said["id"])
        else:
            found = user.recall(said["text"], k=3)
            if said["verb"] == "feedback" and found.ids:
                with suppress(NotFoundError):  # what another thread has written over or forgotten since
                    user.feedback(found, helpful=[found.ids[0]])
            counted = not any("not counted" in note for note in found.trace)
            return {"recall": found.id if counted else None, "ids": list(found.ids)}
    except AdaptiveMemoryError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {}


def in_a_fork(task: Callable[[], tuple[str, list[str]]]) -> tuple[str, list[str]]:
    """What the task gives, done by a child: this process has no Chroma open."""
    heard, said = os.pipe()
    if os.fork() == 0:
        try:
            answer = task()
        except BaseException as error:  # noqa: BLE001 - told by the parent
            answer = ("", [f"{type(error).__name__}: {error}"])
        with os.fdopen(said, "w") as file:
            json.dump(answer, file)
        os._exit(0)
    os.close(said)
    with os.fdopen(heard) as file:
        done, wrong = json.load(file)
    os.wait()
    return done, wrong


if __name__ == "__main__":
    sys.exit(main())
