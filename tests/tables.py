"""Tables of cases that stand in files of their own, a case a line."""

from __future__ import annotations

from pathlib import Path


def lines(table: Path) -> list[str]:
    """The lines of a table, without those that begin with "# "."""
    return [line for line in table.read_text("utf-8").splitlines() if line and not line.startswith("# ")]


def rows(table: Path) -> list[tuple[str, ...]]:
    """The same, each cut at its bars."""
    return [tuple(line.split(" | ")) for line in lines(table)]
