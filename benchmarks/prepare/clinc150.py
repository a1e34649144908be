"""How does CLINC150 become a folder? As BANKING77, and what is out of scope has no answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.intents import intents
from benchmarks.prepare.public_set import Files, Row, Rows, UnusableError
from benchmarks.prepare.published_files import json_rows

FILE = "data_full.json"
OUT_OF_SCOPE = "oos"


def rows(files: Files, draw: Draw) -> Rows:
    """The intents, and the queries of all splits."""
    queries = list(_queries(files[FILE]))
    return Rows(intents(gold for row in queries for gold in row["gold_ids"]), draw.of(queries))


def _queries(path: Path) -> Iterator[Row]:
    published = json_rows(path)
    if not isinstance(published, dict):
        raise UnusableError(f"{path.name} holds no splits: an object of lists of [query, intent] was expected.")
    for split, pairs in published.items():
        for number, (query, intent) in enumerate(pairs):
            known = intent != OUT_OF_SCOPE
            yield {
                "id": f"{split}{number}",
                "query": query,
                "gold_ids": [intent] if known else [],
                "type": "recurring-intent" if known else "out-of-scope",
                "split": split,
                "answerable": known,
            }
