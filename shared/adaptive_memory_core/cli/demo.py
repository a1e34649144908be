"""What does it look like? `demo`: two users, a question, a verdict and why, in a directory that is removed again."""

from __future__ import annotations

import tempfile

import typer

from adaptive_memory_core.cli.output import printing_to_stderr, show
from adaptive_memory_core.cli.session import embedder_of, session_of
from adaptive_memory_core.memory import AdaptiveMemory

ANA = (
    {"id": "postgres", "text": "When checkout is slow, check the Postgres pool first.", "kind": "lesson"},
    {"id": "redis", "text": "When checkout is slow, check the Redis pool first.", "kind": "lesson"},
    {"id": "standup", "text": "The team standup is at 9:30 in the blue room."},
)
BOB = ({"id": "canteen", "text": "The canteen's checkout line is shortest at 11:40."},)
QUESTION = "checkout is slow, where do I look first?"


def add_to(app: typer.Typer) -> None:
    app.command()(demo)


def demo(ctx: typer.Context) -> None:
    """Two users, a question, a verdict, and what it changed: in a directory that is removed at the end."""
    session = session_of(ctx)
    with (
        printing_to_stderr(),
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        AdaptiveMemory.open(folder, embedder=embedder_of(session.embedder)) as memory,
    ):
        ana, bob = memory.for_user("ana"), memory.for_user("bob")
        ana.remember_many(ANA)
        bob.remember_many(BOB)
        first = ana.recall(QUESTION, k=2)
        ana.feedback(first, helpful=["redis"])
        second = ana.recall("checkout is slow again", k=2)
        lines = [
            *("Ana asks, and nothing was learned yet:", first.explain(), ""),
            *("She says that 'redis' helped, and asks again:", second.explain(), ""),
            *("Bob asks the same, and finds his own alone:", bob.recall(QUESTION).explain()),
        ]
    told = {"before": first.ids, "after": second.ids}
    show("\n".join(lines).split("\n"), told, as_json=session.as_json)
