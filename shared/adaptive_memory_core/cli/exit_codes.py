"""With which code does a command end? By what came of it, so that scripts can tell; no error shows a traceback."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from adaptive_memory_core.errors import (
    AdaptiveMemoryError,
    EmbedderMismatchError,
    InvalidInputError,
    MissingExtraError,
    NotFoundError,
)

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
    """Turns an expected error into its line on stderr and its code; a reader who has gone away is none."""
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
    except Exception as error:  # without this a script would see 1, which says that nothing was found
        if isinstance(error, typer.Abort) or hasattr(error, "exit_code"):  # typer's own, which it ends with itself
            raise
        logging.getLogger(__name__).debug("an error that was not expected", exc_info=error)
        typer.echo(f"adaptive-memory: {type(error).__name__}, which was not expected: {error}", err=True)
        raise typer.Exit(STORE_FAILED) from error
    except KeyboardInterrupt as error:
        typer.echo("adaptive-memory: interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from error


def _discard_stdout() -> None:
    """Whatever is still to be written goes nowhere: else the interpreter complains as it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # stdout is no file here
        return
