"""Which values does the ledger keep that PostgreSQL has not? Truth as a number, text with zeros, sums as integers."""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg.adapt import Dumper, Loader
from psycopg.types.numeric import Int2Dumper
from psycopg.types.string import StrDumper

MARK = "\ufdd0"  # no character, and so in no text; behind it stands what is meant
_ZERO, _ITSELF = f"{MARK}0", f"{MARK}1"


def kept(text: str) -> str:
    """Text without zeros, which PostgreSQL does not take.

    >>> said("".join(kept("a\\x00b" + MARK))) == "a\\x00b" + MARK
    True
    """
    if "\x00" not in text and MARK not in text:
        return text
    return text.replace(MARK, _ITSELF).replace("\x00", _ZERO)


def said(text: str) -> str:
    """What `kept` was given."""
    return text if MARK not in text else text.replace(_ZERO, "\x00").replace(_ITSELF, MARK)


class _Bool(Int2Dumper):
    def dump(self, obj: Any) -> Any:
        return super().dump(int(obj))


class _Text(StrDumper):
    def dump(self, obj: str) -> Any:
        return super().dump(kept(obj))


class _SaidText(Loader):
    def load(self, data: Any) -> str:
        return said(bytes(data).decode())


class _Sum(Loader):
    """The sum of integers is a decimal number there."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdigit() else float(text)


def adapt(connection: Connection[Any]) -> None:
    """Let the connection take and give values as SQLite does."""
    for kind, dumper in _DUMPERS:
        connection.adapters.register_dumper(kind, dumper)
    connection.adapters.register_loader("text", _SaidText)
    connection.adapters.register_loader("numeric", _Sum)


_DUMPERS: tuple[tuple[type, type[Dumper]], ...] = ((bool, _Bool), (str, _Text))
