"""Which of the files that were given is which? By the names under which the set publishes them."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.prepare.public_set import UnusableError


def found(names: Iterable[str], given: Sequence[Path]) -> dict[str, Path]:
    """The file for each name; a name with folders is the end of a path, and one with a * stands for all that match."""
    files = list(_files(given))
    matching = {name: [file for file in files if file.resolve().match(name)] for name in names}
    several = {str(file): file for name, some in matching.items() if "*" in name for file in _some(name, some, given)}
    return several | {name: _one(name, some, given) for name, some in matching.items() if "*" not in name}


def other_versions(known: Mapping[str, str | None], files: Mapping[str, Path]) -> list[str]:
    """What to say of files that are not the ones our figures were measured on."""
    return [
        f"{files[name].name} is not the file behind our figures (its sha256 begins with {_checksum(files[name])[:8]}, "
        f"that of ours with {checksum[:8]})"
        for name, checksum in known.items()
        if name in files and checksum is not None and _checksum(files[name]) != checksum
    ]


def json_rows(path: Path) -> Any:
    """What a JSON file holds; one with an object a line is a list of them."""
    text = path.read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as problem:
        raise UnusableError(f"{path.name} is neither JSON nor one JSON object a line: {problem}") from None


def csv_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table with a header."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def needed(row: Mapping[str, Any], path: Path, *names: str) -> None:
    """Refuses a row that lacks what it is made into rows of ours by."""
    if not isinstance(row, Mapping) or any(name not in row for name in names):
        raise UnusableError(
            f"{path.name} has a row without {', '.join(names)}, so it is not in the form that was published."
        )


def _files(given: Sequence[Path]) -> Iterator[Path]:
    for path in given:
        if path.is_dir():
            yield from sorted(one for one in path.rglob("*") if one.is_file())
        elif path.is_file():
            yield path
        else:
            raise UnusableError(f"there is no file or folder {path}. Give the published files after --from.")


def _some(name: str, files: Sequence[Path], given: Sequence[Path]) -> Sequence[Path]:
    if not files:
        raise UnusableError(f"no {name} is among {', '.join(map(str, given))}. Give one, or a folder that holds one.")
    return files


def _one(name: str, files: Sequence[Path], given: Sequence[Path]) -> Path:
    alike = {_checksum(file): file for file in files}  # copies of one file do no harm
    if len(alike) == 1:
        return next(iter(alike.values()))
    if not alike:
        raise UnusableError(f"{name} is not among {', '.join(map(str, given))}. Give it, or a folder that holds it.")
    raise UnusableError(
        f"{name} is there {len(alike)} times with other contents: {', '.join(map(str, files))}. Give one."
    )


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
