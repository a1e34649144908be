"""How does LoCoMo become a folder? As `adaptive-memory compare` reads it: turns are items, conversations tenants."""

from __future__ import annotations

from adaptive_memory_core.evaluate.datasets import read_locomo
from benchmarks.prepare.draw import Draw
from benchmarks.prepare.of_dataset import rows_of
from benchmarks.prepare.public_set import Files, Rows

FILE = "locomo10.json"


def rows(files: Files, draw: Draw) -> Rows:
    """Every turn of every conversation, and every question that is drawn."""
    return rows_of(read_locomo(files[FILE]), draw)
