"""How does BANKING77 become a folder? An intent is an item, with its label as text; a query has one intent."""

from __future__ import annotations

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.intents import intents
from benchmarks.prepare.one_line import one_line
from benchmarks.prepare.public_set import Files, Row, Rows
from benchmarks.prepare.published_files import csv_rows, needed

SPLITS = ("train", "test")


def rows(files: Files, draw: Draw) -> Rows:
    """The intents, and the queries of both splits."""
    queries = [row for split in SPLITS for row in _queries(files, split)]
    return Rows(intents(gold for row in queries for gold in row["gold_ids"]), draw.of(queries))


def _queries(files: Files, split: str) -> list[Row]:
    path = files[f"{split}.csv"]
    published = csv_rows(path)
    for row in published[:1]:
        needed(row, path, "text", "category")
    return [
        {
            "id": f"{split}{number}",
            "query": one_line(row["text"]),
            "gold_ids": [row["category"]],
            "type": "recurring-intent",
            "split": split,
        }
        for number, row in enumerate(published)
    ]
