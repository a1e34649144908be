"""What came out, and on what? Prints a table, and writes the rows with all that is needed to doubt them.

A path of the machine it ran on tells a reader nothing, so absolute paths are written as their last part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime, timezone
from pathlib import Path, PurePath
from shlex import quote
from typing import Any

from adaptive_memory_core.evaluate.comparison import TableRow, text_table
from adaptive_memory_core.evaluate.intervals import nearest_rank
from adaptive_memory_core.evaluate.latency import machine, package_versions

__all__ = [
    "TableRow",
    "command_line",
    "machine",
    "percentiles",
    "print_table",
    "text_table",
    "package_versions",
    "write_json",
]


def print_table(rows: Sequence[TableRow], *, title: str = "") -> None:
    """Shows the rows, below a title if there is one."""
    print(f"\n{title}\n{text_table(rows)}" if title else text_table(rows))


def write_json(path: Path, rows: Sequence[TableRow], *, command: Sequence[str], settings: Mapping[str, Any]) -> None:
    """Writes the rows, when and how they were made (pass sys.argv as the command), and on which machine."""
    write_report(path, report_of(rows, command=command, settings=settings))


def report_of(rows: Sequence[TableRow], *, command: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The rows, with all that is needed to doubt them."""
    return {
        "command": command_line(command),
        "finished_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "settings": {name: _without_folders(one) if isinstance(one, str) else one for name, one in settings.items()},
        "machine": machine(),
        "versions": package_versions(),
        "rows": rows,
    }


def write_report(path: Path, report: Mapping[str, Any]) -> None:
    """Writes it as JSON. A nan or an infinity is refused: it is no JSON, and no result either."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_plain(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def percentiles(samples: Iterable[float]) -> dict[str, float]:
    """min, p50 and p95 in the unit of the samples. By nearest rank, so each of them was really observed.

    >>> percentiles(range(1, 101))
    {'min': 1, 'p50': 50, 'p95': 95}
    >>> percentiles([3.0])
    {'min': 3.0, 'p50': 3.0, 'p95': 3.0}
    """
    ordered = sorted(samples)
    if not ordered:
        raise ValueError("there are no samples. Percentiles need at least one. Measure at least one call.")
    return {"min": ordered[0], "p50": nearest_rank(ordered, 50), "p95": nearest_rank(ordered, 95)}


def command_line(argv: Sequence[str]) -> str:
    """The command as it could be typed from the root of the repository, without the paths of this machine.

    >>> command_line(["/home/ann/benchmarks/rot.py", "--data", "/home/ann/data", "--k=5", "--out=/tmp/x.json"])
    'python -m benchmarks.rot --data data --k=5 --out=x.json'
    >>> command_line(["rot.py", "--policies", "similarity only"])
    "python rot.py --policies 'similarity only'"
    >>> command_line([])
    'python'
    """
    if not argv:
        return "python"
    script = PurePath(argv[0])
    run = f"-m {script.parent.name}.{script.stem}" if script.parent.name == "benchmarks" else script.name
    return " ".join(["python", run, *(quote(_without_folders(one)) for one in argv[1:])])


def _plain(value: Any) -> Any:
    """The value in JSON's own kinds: dataclasses as objects, numpy numbers as numbers, paths by their last part."""
    if isinstance(value, PurePath):
        return _without_folders(str(value))
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return value.item() if hasattr(value, "item") else value


def _without_folders(text: str) -> str:
    option, equals, value = text.rpartition("=") if text.startswith("--") else ("", "", text)
    return f"{option}{equals}{PurePath(value).name}" if PurePath(value).is_absolute() else text
