"""What does a memory look like that learns from being read? Two users, some weeks, a restart; every score opened up.

Run it with `make demo`, or `python examples/demo.py --path DIR` to keep the memory in a new directory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import chromadb
from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from adaptive_memory_core import AdaptiveMemory, NotFoundError, Policy, Recall, Scored, UserMemory
from adaptive_memory_core.reports import Dropped

DAY = 86_400.0
START = datetime(2026, 3, 2, 9, 0, tzinfo=timezone.utc).timestamp()
COLOURS = {"recency": "cyan", "importance": "yellow", "similarity": "green", "asked_before": "magenta", "words": "blue"}
OTHER = "white"  # a part that is not named here: a channel of one's own, say
WIDEST, BAR_CELLS = 100, 20
QUESTION = "checkout is slow, where do I look first?"
MAYA: list[dict[str, Any]] = [
    {"id": "redis", "text": "When checkout is slow, check the Redis pool first.", "kind": "lesson"},
    {"id": "postgres", "text": "When checkout is slow, check the Postgres pool first.", "kind": "lesson"},
    {"id": "go", "text": "Checkout is written in Go and deployed on Fridays."},
    {"id": "oncall", "text": "Lena is on call for checkout this week.", "valid_until": START + 7 * DAY},
    {"id": "standup", "text": "The team standup is at 9:30 in the blue room."},
    {"id": "peanuts", "text": "Maya is allergic to peanuts.", "importance": 0.9},
]
TOM: list[dict[str, Any]] = [
    {"id": "canteen", "text": "The canteen's checkout line is shortest at 11:40."},
    {"id": "standup", "text": "Sales has its standup at 8:45."},
]
LATER: dict[str, Any] = {"id": "standup-2", "text": "The team standup is at 10:00 on video.", "supersedes": "standup"}
WORK = [  # the cue of each working day, and what Maya said of the answer
    ("checkout is slow again, where do I look?", "helpful"),
    ("Postgres is refusing connections", "helpful"),
    ("Postgres connection timeouts", None),
    ("how big is the Postgres pool?", "helpful"),
    ("Postgres pool exhausted again", "helpful"),
]
SHOWN = ("user_id", "last_read", "retrieval_count", "remembered", "strength", "importance", "importance_boost")


class Clock:
    """The time as the demo wants it, so that weeks pass without sleeping."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += days * DAY


class Screen:
    """How this demo draws: colour and blocks in a terminal, letters and no escape sequence anywhere else."""

    def __init__(self) -> None:
        no_color = bool(os.environ.get("NO_COLOR"))
        self.console = Console(highlight=False, markup=False, color_system=None if no_color else "auto")
        self.console.width = min(self.console.width, WIDEST)
        self.plain = self.console.color_system is None

    def title(self, text: str) -> None:
        self.say(f"\n{text}", "bold magenta")
        if self.plain:
            self.say("-" * min(len(text), self.console.width))

    def say(self, text: str, style: str = "") -> None:
        self.console.print(text, style=style)

    def table(self, rows: Sequence[Sequence[Any]], *columns: str | Text) -> None:
        table = Table(box=box.ASCII2 if self.plain else box.ROUNDED, border_style="dim")
        for column in columns:
            table.add_column(column, overflow="fold", justify="right" if column == "score" else "left")
        for row in rows:
            table.add_row(*row)
        self.console.print(table)

    def hits(self, recall: Recall, before: Recall | None = None) -> None:
        """Each hit with its score, the parts that add up to it, and where it stood before."""
        rows = []
        for rank, hit in enumerate(recall, start=1):
            was = "" if before is None or hit.id not in before.ids else f"\nwas {before.ids.index(hit.id) + 1}"
            rows.append((f"{rank}{was}", f"{hit.score:.3f}", self._memory(hit)))
        self.table(rows, "rank", "score", Text.assemble("memory; its ", *self._legend(recall)))
        for note in recall.trace:
            self.say(f"note: {note}", "red")

    def dropped(self, dropped: Sequence[Dropped]) -> None:
        rows = [(drop.id, "-" if drop.score is None else f"{drop.score:.3f}", drop.reason) for drop in dropped]
        self.table(rows, "left out", "score", "because")

    def _memory(self, hit: Scored) -> Group:
        parts = [Text(f"{value:.3f}".removeprefix("0"), style=_colour(name)) for name, value in _parts(hit)]
        tail = Text(f"  {hit.id}, read {hit.record.read.retrieval_count}x", style="dim")
        return Group(Text(hit.text, "bold"), Text.assemble(self._bar(hit.parts), " ", Text(" + ").join(parts), tail))

    def _bar(self, parts: Mapping[str, float]) -> Text:
        """The score as a bar of its parts, each in its colour or with its first letter."""
        bar, end = Text(), 0.0
        for name, value in parts.items():
            start, end = end, end + value
            cells = round(end * BAR_CELLS) - round(start * BAR_CELLS)
            bar.append((name[0] if self.plain else "█") * cells, style=_colour(name))
        return bar.append(("." if self.plain else "░") * (BAR_CELLS - len(bar)), style="dim")

    def _legend(self, recall: Recall) -> Iterator[str | tuple[str, str]]:
        for index, name in enumerate(dict.fromkeys(name for hit in recall for name, _ in _parts(hit))):
            yield " + " if index else ""
            yield f"{name} ({name[0]})" if self.plain else name, _colour(name)


def _colour(part: str) -> str:
    return COLOURS.get(part, OTHER)


def _parts(hit: Scored) -> Iterator[tuple[str, float]]:
    """The parts that show in three digits."""
    return ((name, value) for name, value in hit.parts.items() if value >= 0.0005)


def write_history(memory: AdaptiveMemory, clock: Clock, screen: Screen) -> None:
    screen.title("1. Two users write")
    maya, tom = memory.for_user("maya"), memory.for_user("tom")
    maya.remember_many(MAYA)
    tom.remember_many(TOM)
    clock.pass_days(10)
    maya.remember(**LATER)
    clock.pass_days(10)
    rows = [("0", user, one["id"], one["text"]) for user, items in (("maya", MAYA), ("tom", TOM)) for one in items]
    screen.table([*rows, ("10", "maya", LATER["id"], LATER["text"])], "day", "user", "id", "memory")


def before_reads(maya: UserMemory, screen: Screen) -> Recall:
    screen.title("2. Day 20: nothing was read yet")
    screen.say(f"Maya looks without touching (reinforce=False):\n{QUESTION!r}")
    recall = maya.recall(QUESTION, k=3, reinforce=False)
    screen.hits(recall)
    screen.dropped(recall.dropped)
    return recall


def work(maya: UserMemory, clock: Clock, screen: Screen) -> None:
    screen.title("3. A week of work: one memory read a day, some of them judged")
    rows = []
    for cue, verdict in WORK:
        clock.pass_days(1)
        recall = maya.recall(cue, k=1)
        if verdict is not None:
            maya.feedback(recall, **{verdict: recall.ids})
        rows.append((f"{(clock() - START) / DAY:.0f}", cue, ", ".join(recall.ids), verdict or "-"))
    screen.table(rows, "day", "cue", "returned", "verdict")


def after_reads(maya: UserMemory, before: Recall, screen: Screen) -> None:
    bolder = maya.recall(QUESTION, k=3, reinforce=False, policy=Policy.preset("assistant"))
    screen.title("4. Day 26: the same question again")
    gap = abs(before[0].similarity - before[1].similarity)
    screen.say(f"In similarity the first two are {gap:.4f} apart. Now reads and verdicts speak too.")
    screen.hits(maya.recall(QUESTION, k=3), before)
    screen.title("5. The same moment under Policy.preset('assistant')")
    screen.say("Its weights are 1.5, 1 and 1: reads count for more, and mislead more easily.")
    screen.hits(bolder, before)


def other_user(memory: AdaptiveMemory, screen: Screen) -> None:
    screen.title("6. Tom asks the same, and sees nothing of Maya's")
    tom = memory.for_user("tom")
    recall = tom.recall(QUESTION, reinforce=False)
    screen.hits(recall)
    screen.say(f"Records left out: {len(recall.dropped)}. Both have an id 'standup'; each gets their own.")
    try:
        tom.get("postgres")
    except NotFoundError as error:
        screen.say(f"tom.get('postgres'): {error}", "red")


def superseded(maya: UserMemory, screen: Screen) -> None:
    screen.title("7. A fact that was replaced: 'when is the standup?'")
    recall = maya.recall("when is the standup?", k=1)
    screen.hits(recall)
    screen.dropped([drop for drop in recall.dropped if drop.reason != "beyond k"])


def restart(path: Path, clock: Clock, screen: Screen) -> int:
    clock.pass_days(30)
    screen.title("8. Closed; a month later another process opens it")
    sys.stdout.flush()
    command = [sys.executable, __file__, "--path", str(path), "--continue-at", str(clock())]
    return subprocess.run(command, check=False, timeout=60).returncode


def second_process(path: Path, clock: Clock, screen: Screen) -> None:
    with AdaptiveMemory.open(path, clock=clock) as memory:
        maya = memory.for_user("maya")
        stats = maya.stats()
        counts = (
            f"{stats.recalls} recalls, {stats.reads} reads, {stats.verdicts} verdicts, {stats.remembered} remembered"
        )
        screen.say(f"process {os.getpid()} found {stats.records} records, {counts}")
        screen.hits(maya.recall(QUESTION, k=3))


def as_chroma_holds_it(path: Path, screen: Screen) -> None:
    screen.title("9. What Chroma itself now holds, read with plain chromadb")
    client = chromadb.PersistentClient(str(path))
    found = client.get_collection("memories", embedding_function=None).get(ids=["postgres", "redis", "peanuts"])
    held = dict(zip(found["ids"], found["metadatas"] or [], strict=True))
    rows = [(key, *(repr(one[key]) if key in one else "(no key)" for one in held.values())) for key in SHOWN]
    screen.table(rows, "metadata key", *held)
    screen.say("last_read is in POSIX seconds. Maya's allergy was never read, so it has none.")


def run(path: Path, clock: Clock, screen: Screen) -> int:
    with AdaptiveMemory.open(path, clock=clock) as memory:
        maya = memory.for_user("maya")
        write_history(memory, clock, screen)
        before = before_reads(maya, screen)
        work(maya, clock, screen)
        clock.pass_days(1)
        after_reads(maya, before, screen)
        other_user(memory, screen)
        superseded(maya, screen)
    status = restart(path, clock, screen)
    as_chroma_holds_it(path, screen)
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description="Show a memory that learns from being read.")
    parser.add_argument("--path", type=Path, help="keep the memory in this new or empty directory")
    parser.add_argument("--continue-at", type=float, help=argparse.SUPPRESS)
    given, screen = parser.parse_args(), Screen()
    if given.continue_at is not None:
        second_process(given.path, Clock(given.continue_at), screen)
        return 0
    if given.path is not None and given.path.exists() and any(given.path.iterdir()):
        parser.error(f"{given.path} is not empty. Give a new directory: the demo starts from nothing.")
    with nullcontext(given.path) if given.path else tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as path:
        return run(Path(path), Clock(), screen)


if __name__ == "__main__":
    sys.exit(main())
