"""How does LongMemEval become a folder? As `adaptive-memory compare` reads it: a tenant for each question."""

from __future__ import annotations

from itertools import chain

from adaptive_memory_core.evaluate.datasets import read_longmemeval
from benchmarks.data import Dataset
from benchmarks.prepare.draw import Draw
from benchmarks.prepare.of_dataset import rows_of
from benchmarks.prepare.public_set import Files, Rows


def rows(files: Files, draw: Draw) -> Rows:
    """The histories of the questions that are drawn, and those questions."""
    read = [read_longmemeval(path) for path in files.values()]
    items, questions = (
        chain.from_iterable(one.items for one in read),
        chain.from_iterable(one.questions for one in read),
    )
    return rows_of(Dataset("longmemeval", tuple(items), tuple(questions)), draw, own_histories=True)
