"""May a memory be kept there? The collection's name and the ledger's place, checked before anything is made."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from adaptive_memory_core.errors import InvalidInputError, LedgerError, StoreError
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.store.ledger.damaged_file import refuse_damaged

IN_MEMORY = ":memory:"
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")  # Chroma's own rule
_POSTGRES = re.compile(r"postgres(ql)?://|\s*(host|hostaddr|port|dbname|user|password|service)\s*=")
_ADDRESS = re.compile(r"[a-z][a-z0-9+]+://", re.IGNORECASE)


def check_collection_name(name: object) -> None:
    """Refuse what Chroma would refuse, once it is open.

    >>> check_collection_name("notes of ana")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.StoreError: Chroma cannot open the collection 'notes of ana': this is no name ...
    """
    if not isinstance(name, str):
        raise InvalidInputError(f"The collection's name is {shown(name)}. Give a string.")
    if _NAME.fullmatch(name) is None:
        raise StoreError(
            f"Chroma cannot open the collection {shown(name)}: this is no name for one. A name has 3 to 512 characters "
            "of a-z, A-Z, 0-9, '.', '_' and '-', and starts and ends with a letter or digit."
        )


def can_name_a_file(path: object) -> bool:
    """Whether a file or a directory may have this name: no NUL, no lone surrogate, and not too long.

    >>> [can_name_a_file(one) for one in ("notes", "a\\0b", "a\\ud800", "x" * 5000, " ", 3)]
    [True, False, False, False, False, False]
    """
    if not isinstance(path, str | Path) or not str(path).strip():
        return False
    try:
        os.stat(path)
    except ValueError:
        return False
    except OSError as error:  # that nothing is there is another's question
        return error.errno != errno.ENAMETOOLONG
    return True


def check_ledger(ledger: object) -> None:
    """Refuse what is neither None, a ledger, the place of one file, nor a PostgreSQL database.

    >>> check_ledger(None), check_ledger(":memory:"), check_ledger("reads.sqlite3"), check_ledger("postgresql:///reads")
    (None, None, None, None)
    >>> check_ledger("mysql://somewhere/reads")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: The ledger is 'mysql://...', an address. Give a path, ...
    """
    if ledger is None or isinstance(ledger, Ledger) or is_in_postgres(ledger):
        return
    usable = 'Give a path, ":memory:", "postgresql://host/database", or a ledger, e.g. SQLiteLedger(path).'
    if not isinstance(ledger, str | Path) or not can_name_a_file(ledger):
        raise InvalidInputError(f"The ledger is {shown(ledger)}. {usable}")
    if (scheme := _ADDRESS.match(str(ledger))) is not None:  # the rest of it may hold a password
        raise InvalidInputError(f"The ledger is '{scheme[0]}...', an address. {usable}")
    if str(ledger) != IN_MEMORY and not str(ledger).startswith("file:"):
        _check_file(Path(ledger))


def is_in_postgres(ledger: object) -> bool:
    """Whether it is the address of a PostgreSQL database, or a pool of connections to one.

    >>> [is_in_postgres(one) for one in ("postgresql://ana@db/reads", "host=db dbname=reads", "reads.sqlite3")]
    [True, True, False]
    """
    if isinstance(ledger, str):
        return _POSTGRES.match(ledger) is not None
    return any(one.__module__.startswith("psycopg_pool") for one in type(ledger).__mro__)


def _check_file(file: Path) -> None:
    """Refuse a directory, what is no SQLite file, and what lies where nothing can be made."""
    if file.is_dir():
        raise LedgerError(f"The ledger {str(file)!r} cannot be opened: it is a directory. Give the path of a file.")
    if file.exists():
        refuse_damaged(str(file), file)
        return
    place = next((one for one in file.absolute().parents if one.exists()), None)
    if place is None or not place.is_dir() or not os.access(place, os.W_OK):
        raise LedgerError(
            f"The ledger {str(file)!r} cannot be opened: nothing can be made in {str(place)!r}. Give a file in a "
            "directory that may be written."
        )
