"""What may all be said of how questions are measured? The data, how many are asked, and where the rows go."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data import add_data_argument
from benchmarks.report import TableRow, write_json


def of_questions(description: str | None) -> argparse.ArgumentParser:
    """A parser that knows `--data`, `--every`, `--seed` and `--json`.

    >>> sorted(vars(of_questions("It measures.").parse_args(["--data", "here"])))
    ['data', 'every', 'json', 'seed']
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--every", type=int, default=1, help="ask every so-manieth question only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    return parser


def kept(rows: Sequence[TableRow], arguments: argparse.Namespace) -> None:
    """Writes the rows to the file of `--json`, if one was given."""
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))
