"""What if a stored value cannot be decoded? The file is damaged, and the error says so."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager


class UnreadableRowError(ValueError):
    """A value of the ledger is not what was written; told as a damaged file where it leaves the ledger."""


@contextmanager
def decoding(what: str) -> Iterator[None]:
    """Whatever goes wrong in here is the value's fault.

    >>> with decoding("a pace"): {}["unit"]
    Traceback (most recent call last):
    adaptive_memory_core.store.ledger.unreadable.UnreadableRowError: a pace cannot be decoded: KeyError('unit')
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, struct.error) as error:
        raise UnreadableRowError(f"{what} cannot be decoded: {error!r}") from error
