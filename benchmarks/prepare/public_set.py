"""What has each public set to say of itself? Its files, with checksums, and how they become rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.prepare.draw import Draw

Row = dict[str, Any]
Files = Mapping[str, Path]


class UnusableError(Exception):
    """What was given cannot be made into a folder: which file, and what is wrong with it."""


@dataclass(frozen=True)
class Rows:
    """What stands in the two files of a folder; benchmarks/data.py says what the fields mean."""

    corpus: Sequence[Row]
    queries: Sequence[Row]


@dataclass(frozen=True)
class PublicSet:
    """A set as it is published."""

    files: Mapping[str, str | None]  # its name, or the end of its path, and the sha256 of the one behind our figures
    rows: Callable[[Files, Draw], Rows]
    can_be_drawn: bool = False
    made: Mapping[str, str] = field(default_factory=dict)  # the sha256 of the two files behind our figures
