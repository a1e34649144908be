"""How fast is this memory on this machine? `bench`: recalls of a user's own records, beside Chroma's query for them."""

from __future__ import annotations

from typing import Annotated

import typer

from adaptive_memory_core.cli.output import show
from adaptive_memory_core.cli.session import embedder_of, session_of
from adaptive_memory_core.evaluate.beside_chroma import BesideChroma, beside_chroma
from adaptive_memory_core.evaluate.machine import machine, versions
from adaptive_memory_core.evaluate.spread import Spread
from adaptive_memory_core.models.embedder import bundled_unless


def add_to(app: typer.Typer) -> None:
    app.command()(bench)


def bench(
    ctx: typer.Context,
    k: Annotated[int, typer.Option("-k", min=1, help="How many hits are asked for.")] = 10,
    questions: Annotated[int, typer.Option(min=1, help="At most so many, drawn from the records.")] = 100,
    seed: Annotated[int, typer.Option(help="Which records are drawn.")] = 0,
) -> None:
    """How long recalls take, beside Chroma's own query with the same user as its filter, in turn over the same records.

    The questions are the first words of the user's records, so this says how fast it is and not how good: for that,
    `eval` with questions of your own. Nothing counts as read.
    """
    session = session_of(ctx)
    session.check_scope()
    embedder = bundled_unless(embedder_of(session.embedder))
    with session.scope() as user:
        found = beside_chroma(user, embedder, k=k, questions=questions, seed=seed)
    about = {"machine": machine(), "versions": versions()}
    told = {"records": found.records, "k": found.k, "recall_ms": found.recall, "chroma_ms": found.chroma, **about}
    show(_lines(found), told, as_json=session.as_json)


def _lines(found: BesideChroma) -> list[str]:
    times = found.recall.median / found.chroma.median if found.chroma.median else float("inf")
    return [
        f"{found.recall.count} questions over {found.records} records, k={found.k}, embedding included",
        f"recall: {_told(found.recall)}",
        f"Chroma's query: {_told(found.chroma)}",
        f"a recall takes {times:.1f} times as long (medians)",
    ]


def _told(one: Spread) -> str:
    return f"median {one.median:.1f} ms, 95th percentile {one.p95:.1f} ms"
