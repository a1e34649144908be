"""How is a long run recorded in pieces? Each part with its own command, day, machine, load, versions and commit.

All parts of a run stand in one file. A part that is measured again takes the place of the one of its name, and the
others stay as they were recorded, so a run may be cut into as many commands as one likes.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import TableRow, machine, report_of, write_report

ROOT = Path(__file__).resolve().parents[1]
Part = Mapping[str, Any]


def recorded(
    path: Path | None,
    name: str,
    measure: Callable[[], Iterable[TableRow]],
    *,
    command: Sequence[str],
    settings: Mapping[str, Any],
) -> list[TableRow]:
    """The rows that `measure` gives; with a path they are also written there, as the part of this name.

    The load is that of the moment before, without what is measured.
    """
    before, commit, begun = machine(), commit_of(ROOT), time.perf_counter()
    rows = list(measure())
    if path is not None:
        report = report_of(rows, command=command, settings=settings)
        more = {"machine": before, "commit": commit, "seconds": round(time.perf_counter() - begun)}
        write_report(path, {"parts": {**parts_in(path), name: {**report, **more}}})
    return rows


def parts_in(path: Path) -> dict[str, Part]:
    """The parts that a file holds, by their names; none where there is no file yet."""
    if not path.exists():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or not isinstance(found.get("parts"), dict):
        raise SystemExit(f"{path} holds no parts of a recorded run. Name another file, or remove this one.")
    return dict(found["parts"])


def commit_of(folder: Path) -> str | None:
    """The commit that is checked out, with a "+" where Python files differ from it; None outside a git repository."""
    try:
        commit = _git(folder, "rev-parse", "--short=7", "HEAD")
        return f"{commit}+" if _git(folder, "status", "--porcelain", "--", "*.py") else commit
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()
