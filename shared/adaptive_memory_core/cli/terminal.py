"""Input and output of commands: lines, tables or JSON on stdout, progress on stderr, files, stdin and exit codes."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields, is_dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import typer

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import (
    AdaptiveMemoryError,
    EmbedderMismatchError,
    InvalidInputError,
    MissingExtraError,
    NotFoundError,
)
from adaptive_memory_core.records import Record, Scored

Progress = Callable[[int, int], object]
_CONTROLS = (*range(32), *range(127, 160), *range(0x2028, 0x202F), *range(0x2066, 0x206A))  # and changes of direction
_UNSEEN = {code: "\N{REPLACEMENT CHARACTER}" for code in _CONTROLS if chr(code) not in "\n\t"}
_ESCAPED = {code: f"\\u{code:04x}" for code in _CONTROLS if code >= 32}  # JSON escapes lower codes itself


class Table(NamedTuple):
    """A table that a terminal shows instead of plain lines: the columns' names, and the cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


STYLES = {"score": "bold green", "id": "cyan", "when": "dim", "name": "bold"}  # by column


def show(lines: Iterable[str], data: object, *, as_json: bool, table: Table | None = None) -> None:
    """Print the answer: as JSON, in a terminal as the table if given, or as the lines."""
    if as_json:
        sys.stdout.write(json_line(json_value(data)) + "\n")
    elif table is not None and table.rows and sys.stdout.isatty():
        _draw(table)
    else:
        sys.stdout.writelines(f"{harmless(line)}\n" for line in lines)


def _draw(table: Table) -> None:
    """Draw a table as wide as the terminal, with long cells on several lines, without colours if NO_COLOR is set."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in table.columns:
        drawn.add_column(name, style=STYLES.get(name), overflow="fold", no_wrap=name in ("score", "when"))
    for row in table.rows:
        drawn.add_row(*(Text(harmless(cell)) for cell in row))
    colours: Any = None if os.environ.get("NO_COLOR") else "auto"
    Console(file=sys.stdout, highlight=False, color_system=colours).print(drawn)


@contextmanager
def printing_to_stderr() -> Iterator[None]:
    """Redirect output of an embedder or a library to stderr, so that stdout contains only the answer."""
    with redirect_stdout(sys.stderr):
        yield


def harmless(text: str) -> str:
    """The text without characters that would move a terminal's cursor, change its colours or reverse its lines.

    >>> harmless("tea\\x1b[2J")
    'tea\ufffd[2J'
    """
    return text.translate(_UNSEEN).encode("utf-8", "replace").decode()


def json_line(data: object) -> str:
    """Data as JSON on one line, with control characters escaped for terminals.

    >>> print(json_line({"tea": "grün\x9b2J"}))
    {"tea": "grün\\u009b2J"}
    """
    return json.dumps(data, ensure_ascii=False).translate(_ESCAPED)


def one_line(text: str) -> str:
    """
    >>> one_line(" green\\n tea ")
    'green tea'
    """
    return " ".join(text.split())


def records_in_words(count: int) -> str:
    """
    >>> records_in_words(1), records_in_words(1_200)
    ('1 record', '1,200 records')
    """
    return f"{count:,} record{'' if count == 1 else 's'}"


def json_value(value: object) -> Any:
    """A value for JSON: dataclasses become mappings of their public fields.

    >>> from adaptive_memory_core.reports import Restored
    >>> json_value(Restored(2, ("a",)))
    {'records': 2, 'missing': ['a']}
    """
    if is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in fields(value) if not one.name.startswith("_")]
        return {name: json_value(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(name): json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def hit(one: Scored) -> dict[str, Any]:
    """A hit as plain values for JSON."""
    return {"id": one.id, "score": one.score, "text": one.text, "parts": dict(one.parts), **known(one.record)} | (
        {} if one.shared is None else {"shared": one.shared}
    )


def known(record: Record) -> dict[str, Any]:
    """The fields of a record other than its text, if known."""
    names = ("kind", "importance", "created_at", "valid_from", "valid_until", "superseded_by", "derived_stale")
    values = {name: getattr(record, name) for name in names}
    return {**{name: value for name, value in values.items() if value is not None}, "metadata": dict(record.metadata)}


def date_of(seconds: float) -> str:
    """A readable date: in a terminal in local time and without seconds, in a pipe in UTC, as scripts expect.

    >>> date_of(0.0)
    '1970-01-01 00:00:00Z'
    """
    try:
        if sys.stdout.isatty():
            return datetime.fromtimestamp(seconds, timezone.utc).astimezone().strftime("%Y-%m-%d %H:%M")
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return f"{seconds:.0f}"


def confirmed(question: str, otherwise: str) -> bool:
    """Whether the person at the terminal agrees. Without a terminal, raise InvalidInputError with `otherwise`."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInputError(otherwise)
    return typer.confirm(question, err=True)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A function of the number done and the total that draws a bar on stderr, if that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


STDIN = "-"


def text_of(file: Path | str) -> str:
    """The text of a file, or of stdin for `-`, which must be UTF-8."""
    if str(file) == STDIN:
        return _encodable(sys.stdin.read)
    return _encodable(lambda: Path(file).read_text(encoding="utf-8-sig"), repr(str(file)))


def is_readable(file: Path) -> bool:
    """Whether the path is a file, or a pipe such as a shell's `<(...)`; a device may have no end."""
    return file.is_file() or file.is_fifo()


def parsed_json(text: str, name: str) -> Any:
    """Parse a text as JSON.

    >>> parsed_json("[1", "x")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: x is not valid JSON: Expecting ',' delimiter: line 1 column 3 ...
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInputError(f"{name} is not valid JSON: {reason(error)}.") from error
    except RecursionError as error:
        raise InvalidInputError(f"{name} is nested too deeply to be read.") from error


def _encodable(read: Callable[[], str], name: str = "stdin") -> str:
    try:
        text = read()
        text.encode()
    except UnicodeError as error:
        raise InvalidInputError(f"{name} is not UTF-8 text: {reason(error)}. Save it as UTF-8.") from error
    return text


DONE, NOTHING_FOUND, WRONG_USAGE, STORE_FAILED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141


def code_of(error: Exception) -> int:
    """
    >>> code_of(NotFoundError("no such id")), code_of(InvalidInputError("k is 0")), code_of(AdaptiveMemoryError("torn"))
    (1, 2, 3)
    """
    if isinstance(error, NotFoundError):
        return NOTHING_FOUND
    wrong = isinstance(error, InvalidInputError | EmbedderMismatchError | MissingExtraError)
    return WRONG_USAGE if wrong else STORE_FAILED


@contextmanager
def ending() -> Iterator[None]:
    """Turn an error into a line on stderr and an exit code. A closed output is not an error."""
    try:
        yield
        sys.stdout.flush()
    except AdaptiveMemoryError as error:
        typer.echo(f"adaptive-memory: {error}", err=True)
        raise typer.Exit(code_of(error)) from error
    except BrokenPipeError as error:
        _discard_stdout()
        raise typer.Exit(PIPE_CLOSED) from error
    except OSError as error:
        typer.echo(f"adaptive-memory: {error}", err=True)
        raise typer.Exit(STORE_FAILED) from error
    except Exception as error:  # otherwise a script would see 1, which means that nothing was found
        if isinstance(error, typer.Abort) or hasattr(error, "exit_code"):  # typer handles its own exceptions
            raise
        logging.getLogger(__name__).debug("unexpected error", exc_info=error)
        typer.echo(f"adaptive-memory: unexpected {type(error).__name__}: {error}", err=True)
        raise typer.Exit(STORE_FAILED) from error
    except KeyboardInterrupt as error:
        typer.echo("adaptive-memory: interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from error


def _discard_stdout() -> None:
    """Discard pending output, otherwise the interpreter reports an error at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # stdout is not a file
        return
