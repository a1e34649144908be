"""Plain Chroma and a memory that learns answer the same three questions over the same notes: make demo"""

from __future__ import annotations

import os
import sys
import tempfile
import textwrap
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

import chromadb
from rich.console import Console
from rich.text import Text

from adaptive_memory_core import AdaptiveMemory, Recall
from adaptive_memory_core.models.local import LocalEmbedder

WIDTH = 80
ROOT = Path(__file__).resolve().parents[1]
TODAY = "2026-04-20"
NOTES = {  # id: (day, text); a team's notes over some months
    "peanuts": ("2026-01-12", "Maya is allergic to peanuts."),
    "old standup": ("2026-01-12", "The team standup is at 9:30 in the blue room."),
    "redis": ("2026-02-05", "When checkout is slow, check the Redis pool first."),
    "go": ("2026-02-06", "Checkout is written in Go and deployed on Fridays."),
    "postgres": ("2026-02-09", "When checkout is slow, check the Postgres pool first."),
    "pager": ("2026-02-11", "Lena has the pager for payments until Easter."),
    "database": ("2026-03-16", "Since the outage in March, new services get PostgreSQL."),
    "staging": ("2026-03-18", "The staging database is reset every night at two."),
    "standup": ("2026-04-13", "The standup starts at 10:00 from Monday on, by video."),
}


class Question(NamedTuple):
    gold: str  # the note that answers it
    because: str  # why the memory finds it, in words; explain() has to say as much


QUESTIONS = {
    "What is Maya allergic to?": Question("peanuts", "one note is about this"),
    "When is the standup now?": Question("standup", "newer notes come first"),
    "Checkout is slow. What do I check first?": Question("postgres", "two notes are alike, so feedback decides"),
}
JUDGED = "Checkout is slow again. What should I check?"
HELPED = "postgres"
Answers = dict[str, str]  # by question, the id of the first hit


class Shown(NamedTuple):
    """What the three ways of asking return, and why the memory's first hit is first."""

    chroma: Answers
    fresh: Answers
    taught: Answers
    why: Mapping[str, str]


def asked() -> Shown:
    """Asks all questions of all three; nothing is counted as read but the one recall that is judged."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        AdaptiveMemory.open(folder, clock=lambda: seconds(TODAY)) as memory,
    ):
        team = memory.for_user("team")
        team.remember_many(
            [{"id": id_, "text": text, "created_at": seconds(day)} for id_, (day, text) in NOTES.items()]
        )
        chroma = {question: nearest_in_chroma(folder, question) for question in QUESTIONS}
        fresh = {question: team.recall(question, reinforce=False) for question in QUESTIONS}
        team.feedback(team.recall(JUDGED), helpful=[HELPED])
        taught = {question: team.recall(question, reinforce=False) for question in QUESTIONS}
        why = {question: reason(recall) for question, recall in taught.items()}
        return Shown(chroma, first_of(fresh), first_of(taught), why)


def nearest_in_chroma(folder: str, question: str) -> str:
    """What vector search alone finds in the memory's own collection, with the memory's own embedder."""
    collection = chromadb.PersistentClient(folder).get_collection("memories", embedding_function=None)
    found = collection.query(query_embeddings=LocalEmbedder()([question]), n_results=1)
    return found["ids"][0][0]


def first_of(recalls: Mapping[str, Recall]) -> Answers:
    return {question: recall[0].id for question, recall in recalls.items()}


def reason(recall: Recall) -> str:
    """What explain() notes about the recall, or what it says about the first hit if there is no note."""
    lines = recall.explain().splitlines()
    notes = [line.removeprefix("note: ") for line in lines if line.startswith("note: ")]
    return "; ".join(notes) or next(line.removeprefix("1. ") for line in lines if line.startswith("1. "))


def seconds(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=timezone.utc).timestamp()


def show(found: Shown, took: float) -> None:
    ways = {"plain Chroma": found.chroma, "this library": found.fresh, 'after "helpful"': found.taught}
    screen = Console(highlight=False, markup=False, color_system=None if os.environ.get("NO_COLOR") else "auto")
    screen.width = WIDTH
    screen.print(f"{len(NOTES)} notes of a team in one Chroma collection, each question asked three ways.")
    screen.print(f'The third is after one verdict: {HELPED!r} was helpful for another question,\n"{JUDGED}"')
    for text, question in QUESTIONS.items():
        screen.print(f"\n{text}", style="bold")
        for way, answers in ways.items():
            mark = ("right  ", "green") if answers[text] == question.gold else ("wrong  ", "red")
            screen.print(Text.assemble(f"  {way:17}", mark, NOTES[answers[text]][1]))
        why = f"why: {question.because} [{found.why[text].rstrip('.')}]"
        screen.print(textwrap.fill(why, WIDTH, initial_indent="  ", subsequent_indent=" " * 7), style="dim")
    screen.print(f"\n{', '.join(f'{way}: {right(answers)} of {len(QUESTIONS)}' for way, answers in ways.items())}")
    screen.print(f"{took:.1f} seconds. Next: {python()} examples/01_quickstart.py", style="bold")


def right(answers: Answers) -> int:
    return sum(answers[text] == question.gold for text, question in QUESTIONS.items())


def python() -> str:
    """The interpreter as one types it in the repository."""
    running = Path(sys.executable)
    return str(running.relative_to(ROOT)) if running.is_relative_to(ROOT) else "python"


def main() -> None:
    began = time.perf_counter()
    show(asked(), time.perf_counter() - began)


if __name__ == "__main__":
    main()
