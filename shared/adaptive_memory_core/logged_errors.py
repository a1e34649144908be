"""What may a log say of an error? Its class, and its words where those can quote nothing of a user's."""

from __future__ import annotations

import logging

from adaptive_memory_core.errors import ClosedError, DamagedStoreError, LedgerError, StoreInUseError

ABOUT_FILES = (ClosedError, DamagedStoreError, LedgerError, StoreInUseError)
IN_FULL = "In full, which may quote a user's text:"


def without_texts(error: BaseException) -> str:
    """The error's class; what it says, too, where that is about files. All else may quote a text, a cue or an id: what
    a model's or Chroma's client raises often holds what it was called with.

    >>> without_texts(ValueError("cannot embed 'The diary of Ana'"))
    'ValueError'
    >>> without_texts(LedgerError("The ledger 'x.sqlite3' failed: the disk is full."))
    "LedgerError: The ledger 'x.sqlite3' failed: the disk is full."
    >>> without_texts(PermissionError(13, "Permission denied", "/home/ana/memory"))
    'PermissionError: Permission denied'
    """
    name = type(error).__name__
    if isinstance(error, ABOUT_FILES):
        return f"{name}: {error}"
    words = error.strerror if isinstance(error, OSError) else None
    return f"{name}: {words}" if words else name


def warn(log: logging.Logger, what: str, error: BaseException, *, stack: bool = False) -> None:
    """Say at the level WARNING what happened, without any text; the error itself, with where it was raised if `stack`,
    only at DEBUG."""
    log.warning("%s: %s", what, without_texts(error))
    debug(log, error, stack=stack)


def debug(log: logging.Logger, error: BaseException, *, stack: bool = False) -> None:
    """The error itself, for whoever asks for that level."""
    log.debug("%s %s", IN_FULL, error, exc_info=error if stack else None)
