"""How does MuSiQue become a folder? The twenty paragraphs of each question are pooled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.pooled import Asked, pooled
from benchmarks.prepare.public_set import Files, Rows
from benchmarks.prepare.published_files import json_rows, needed
from benchmarks.prepare.sample_ids import sample, taken


def rows(files: Files, draw: Draw) -> Rows:
    """The questions that are drawn."""
    published = [row for path in files.values() for row in _published(path)]
    return pooled(map(_asked, draw.of(published)))


def rows_of_our_sample(files: Files, _: Draw) -> Rows:
    """The 100 questions behind our figures."""
    published = {row["id"]: row for path in files.values() for row in _published(path)}
    return pooled(map(_asked, taken("musique_100", sample("musique_100"), published)))


def _published(path: Path) -> Iterator[dict[str, Any]]:
    for row in json_rows(path):
        needed(row, path, "id", "question", "answer", "paragraphs", "question_decomposition")
        yield row


def _asked(row: dict[str, Any]) -> Asked:
    """A question; its id begins with how many hops it takes."""
    paragraphs = [(one["title"], one["paragraph_text"]) for one in row["paragraphs"]]
    gold = [number for number, one in enumerate(row["paragraphs"]) if one["is_supporting"]]
    steps = [{"question": one["question"], "answer": one["answer"]} for one in row["question_decomposition"]]
    more = {
        "answer": row["answer"],
        **({"answer_aliases": row["answer_aliases"]} if row.get("answer_aliases") else {}),
        "type": row["id"].partition("__")[0],
        "decomposition": steps,
    }
    return Asked(row["id"], row["question"], paragraphs, gold, more)
