"""Is each line of docs/research/sources.md true? Its names exist, and its expressions run after the page's code."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from typer.testing import CliRunner

from adaptive_memory_core.cli.app import app as command

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "research" / "sources.md").read_text(encoding="utf-8")
SOURCES = [part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:] if "| mechanism |" in part]
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
NOT_HERE = "not here"  # what is in no code says so, and why in the last column
Names = dict[str, Any]


def rows(text: str) -> list[tuple[str, ...]]:
    """The rows of the tables; a line of a table that is not a row of four cells is an error."""
    found = [match.groups() for match in ROW.finditer(text)]
    assert len(found) == len(re.findall(r"^\|(?!-)", text, re.MULTILINE))
    return [row for row in found if row[0] != "mechanism"]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def exists(name: str) -> Names:
    """A file or folder of the project, or a name in one of its packages, which is given by its last part."""
    if "/" in name:
        assert (ROOT / name).exists(), name
        return {}
    first = name.partition(".")[0]
    full = name if first in ("langchain_adaptive_memory", "llama_adaptive_memory") else f"adaptive_memory_core.{name}"
    place, _, last = full.rpartition(".")
    try:
        owner: Any = importlib.import_module(place)
    except ModuleNotFoundError:
        owner = exists(name.rpartition(".")[0])[place.rpartition(".")[2]]
    return {last: getattr(owner, last) if hasattr(owner, last) else importlib.import_module(full)}


def run(said: str, names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command takes its arguments, and an expression does not give False."""
    program, *arguments = shlex.split(said) if said.startswith(("python -m ", "adaptive-memory ")) else [""]
    if program == "adaptive-memory":
        assert CliRunner().invoke(command, [*arguments, "--help"]).exit_code == 0
    elif program:
        monkeypatch.setattr("sys.argv", arguments[1:])
        monkeypatch.setattr(argparse.ArgumentParser, "parse_args", understood)
        with pytest.raises(SystemExit, match=r"^0$"):
            importlib.import_module(arguments[1]).main()
    else:
        assert eval(said, {**names}) is not False


def understood(parser: argparse.ArgumentParser) -> NoReturn:
    """The benchmark ends once it has read its arguments, with 0 if it knows them all."""
    raise SystemExit(0 if parser.parse_known_args()[1] == [] else 2)


def check(row: tuple[str, ...], names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, where, switch, differs = (cell.strip() for cell in row)
    if switch == NOT_HERE:
        assert len(differs.split()) > 3
        return
    assert mechanism
    assert differs
    assert quoted(where)
    assert quoted(switch)
    known: Names = {}
    for name in quoted(where):
        known |= exists(name)
    for said in quoted(switch):
        run(said, {**names, **known}, monkeypatch)


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Names]:
    """What the page's block of code makes."""
    monkeypatch.chdir(tmp_path)
    found: Names = {}
    begin, end = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    exec(begin, found)
    yield found
    exec(end, found)


def test_every_line_runs(names: Names, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    failed = []
    for row in rows(PAGE):
        try:
            check(row, names, monkeypatch)
        except (Exception, SystemExit, pytest.fail.Exception) as error:
            failed.append(f"{row[0]}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


def test_each_of_the_five_sources_has_a_table() -> None:
    assert len(SOURCES) == 5
    for source in SOURCES:
        assert len(rows(source)) >= 15, source.splitlines()[0]


@pytest.mark.parametrize(
    "row",
    [
        "| a | `score.signals.no_such_name` | `1 == 1` | nothing |",
        "| a | `benchmarks/no_such_file.py` | `1 == 1` | nothing |",
        "| a | `score.signals.decay` | `decay(0.0, half_life_days=1) == 0.5` | nothing |",
        "| a | `score.signals.decay` | `no_such_function()` | nothing |",
        "| a | `score.signals.decay` | `python -m benchmarks.speed --no-such-option` | nothing |",
        "| a | `score.signals.decay` | `adaptive-memory tune --no-such-option` | nothing |",
        "| a | `score.signals.decay` | by hand | nothing |",
        "| a | by hand | `1 == 1` | nothing |",
        "| a | nowhere | not here | nothing |",
    ],
)
def test_a_line_that_is_not_true_fails(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises((AssertionError, ImportError, NameError, KeyError, pytest.fail.Exception)):
        check(rows(row)[0], {}, monkeypatch)
