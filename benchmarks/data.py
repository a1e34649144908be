"""What is measured on? Reads one folder of public questions with gold labels, given by --data DIR.

The format of DIR/NAME is that of `adaptive-memory compare` and stands in evaluate/datasets.py: corpus.jsonl.gz
and queries.jsonl.gz. Nothing of it is ever copied into this project.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.datasets import Dataset, Item, Question, posix_seconds, read_folder

__all__ = ["Dataset", "Item", "Question", "add_data_argument", "halves", "load", "posix_seconds"]


def add_data_argument(parser: argparse.ArgumentParser) -> None:
    """Gives a benchmark its --data DIR."""
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="folder of data folders; format: benchmarks/data.py"
    )


def load(folder: Path, name: str) -> Dataset:
    """The data in folder/name. If it is missing or malformed, says so on stderr and ends the program with code 2."""
    try:
        return read_folder(folder / name, name)
    except InvalidInputError as error:
        print(f"Data: {error}", file=sys.stderr)
        print(
            "--data takes a folder that holds one folder per data set, each with corpus.jsonl.gz and queries.jsonl.gz."
            "\nThe format is described in benchmarks/data.py. The data is public but not part of this project.",
            file=sys.stderr,
        )
        raise SystemExit(2) from error


def halves(questions: Iterable[Question], seed: int) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """The questions to tune on and those held out, in their order, each about half.

    A question's side depends on its id and the seed alone, so adding or leaving out others never moves it.

    >>> tuning, held_out = halves([Question(id=str(n), query="?", gold_ids=()) for n in range(100)], seed=1)
    >>> len(tuning) + len(held_out), set(tuning) & set(held_out)
    (100, set())
    >>> halves([], seed=1)
    ((), ())
    """
    sides: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        sides[hashlib.sha256(f"{seed}:{question.id}".encode()).digest()[0] % 2].append(question)
    return tuple(sides[0]), tuple(sides[1])
