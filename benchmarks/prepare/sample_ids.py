"""Which questions are in the samples behind our figures? Lists of ids, in files beside this one.

A line is an id, and after a tab the part of the sample that it is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from benchmarks.prepare.public_set import UnusableError

FOLDER = Path(__file__).with_name("ids")
T = TypeVar("T")


def sample(name: str) -> dict[str, str]:
    """The ids of a sample in their order, and the part of each ("" where it has none)."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return {one: part for one, _, part in (line.partition("\t") for line in lines)}


def taken(name: str, ids: Iterable[str], published: Mapping[str, T]) -> list[T]:
    """What was published under these ids, in their order."""
    wanted = list(ids)
    if missing := [one for one in wanted if one not in published]:
        raise UnusableError(
            f"{len(missing)} of the {len(wanted)} questions of {name} are not in the files, as {missing[0]}."
        )
    return [published[one] for one in wanted]
