"""Where a collection and its ledger are kept: in a directory, in RAM or on a server; names and places checked first."""

from __future__ import annotations

import errno
import os
import re
import sys
import threading
import weakref
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adaptive_memory_core.error_messages import reason, shown
from adaptive_memory_core.errors import InvalidInputError, LedgerError, StoreError
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.store.chroma import chroma_database
from adaptive_memory_core.store.ledger.schema import refuse_damaged
from adaptive_memory_core.store.ledger.sql_ledger import Ledger, SQLiteLedger
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from adaptive_memory_core.whole_file import expanded

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI


LEDGER_NAME = "adaptive_memory.sqlite3"
USUAL_DATABASE = "default_tenant/default_database"  # where a client looks that was told nothing else
SYNC_THRESHOLD = 5_000  # writes until Chroma rewrites its index files; its own 1,000 costs as much 5 times as often
_in_memory: weakref.WeakValueDictionary[str, SQLiteLedger] = weakref.WeakValueDictionary()
_latest: deque[SQLiteLedger] = deque(maxlen=8)  # of those, that stay though nobody has them open just now; guess
_client_at_a_time = threading.Lock()  # Chroma's registry of clients is not for several threads


def checked_path(path: object) -> Path:
    """The path of a directory, which need not exist yet."""
    if not isinstance(path, str | Path) or not can_name_a_file(path):
        raise InvalidInputError(
            f"The path is {shown(path)}. Give the directory that holds, or shall hold, the memory, under a name that "
            "the file system takes: not blank, not too long, without NUL and lone surrogates."
        )
    return expanded(path)


def existing_path(path: object) -> Path:
    """The path of a directory that holds an embedded Chroma; nothing is made where there is none."""
    directory = checked_path(path)
    if not (directory / "chroma.sqlite3").exists():
        raise InvalidInputError(
            f"There is no memory in {str(directory)!r}: it has no chroma.sqlite3. Give the directory that holds one."
        )
    return directory


def is_writable(directory: Path) -> bool:
    """Whether this process may write a memory that is there; also where there is none yet."""
    files = (directory, directory / "chroma.sqlite3", directory / LEDGER_NAME)
    return all(os.access(one, os.W_OK) for one in files if one.exists()) or not files[1].exists()


def check_collection(collection: object) -> None:
    """Refuse anything that is not a collection, such as a client or a name."""
    if not all(hasattr(collection, name) for name in ("query", "upsert", "_client", "configuration_json")):
        raise InvalidInputError(
            f"The collection is {type(collection).__name__}. Give a chromadb.Collection, e.g. "
            "client.get_collection('memories'), or use AdaptiveMemory.open(path)."
        )


def open_client(path: str | Path) -> ClientAPI:
    """An embedded client over a directory, with Chroma's usual settings.

    Chroma refuses a second client in one process over the same directory if its settings differ, so any special setting
    would shut out a user who opens the collection with plain `chromadb.PersistentClient(path)`.
    """
    import chromadb

    chroma_database.refuse_torn(Path(path))
    try:
        with _client_at_a_time:
            return chromadb.PersistentClient(str(path))
    except (OSError, ValueError, RuntimeError, chromadb.errors.ChromaError) as error:
        _forget_half_open(str(path))
        raise StoreError(
            f"Chroma cannot open {str(path)!r}: {reason(error)}. Give a directory that may be written; "
            "where this process has a client over it with other settings, pass that client's collection: "
            "AdaptiveMemory(collection, ...)."
        ) from error


def _forget_half_open(identifier: str) -> None:
    """Chroma keeps a client that could not be started, and returns it when the directory is opened next."""
    from chromadb.api.shared_system_client import SharedSystemClient as Shared

    if not Shared._identifier_to_refcount.get(identifier):
        Shared._identifier_to_system.pop(identifier, None)


def close_client(client: ClientAPI) -> None:
    """Let go of the client's files, where its version of Chroma can."""
    close = getattr(client, "close", None)
    if close is not None:
        with _client_at_a_time:
            close()


def open_collection(client: ClientAPI, name: str, notes: Mapping[str, str | int]) -> Collection:
    """The collection of that name, made for cosine distance where there is none; never with an embedder of Chroma's.

    `notes` are written into the metadata of a new one.
    """
    from chromadb.errors import ChromaError, NotFoundError

    check_collection_name(name)
    try:
        try:
            return client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return client.create_collection(
                name,
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine", "sync_threshold": SYNC_THRESHOLD}},
                metadata=dict(notes),
                get_or_create=True,
            )
    except (ChromaError, ValueError) as error:
        raise StoreError(
            f"Chroma cannot open the collection {name!r}: {reason(error)}. Mend that, or give another collection."
        ) from error


def directory_of(collection: Collection) -> Path | None:
    """The directory of an embedded persistent collection; None for one in RAM or on a server."""
    settings = _settings(collection)
    return Path(settings.persist_directory) if _embedded(settings) and settings.is_persistent else None


def database_of(collection: Collection) -> str:
    """The tenant and the database that a collection is in: its name is its own only there."""
    return f"{collection.tenant}/{collection.database}"


def import_chroma() -> None:
    """Chroma takes a second or two to import, and what an embedded client needs half a second more."""
    import chromadb.api.rust  # noqa: F401 - the import is the point


def can_open_chroma() -> bool:
    """Whether it is imported, or can be: it starts threads for that, which Python refuses once the interpreter ends."""
    return "chromadb.api.rust" in sys.modules or threading.main_thread().is_alive()


def is_in_ram(collection: Collection) -> bool:
    """Whether it is embedded and kept nowhere: it goes with its process."""
    settings = _settings(collection)
    return _embedded(settings) and not settings.is_persistent


def directory_and_ledger(ports: Ports) -> tuple[Path, Path]:
    """The directory and the ledger's file of a memory over embedded Chroma; refuses what is not kept in files."""
    ledger = ports.ledger
    file = ledger.file.place if isinstance(ledger, SQLiteLedger) else None
    holds = ports.records.holds_collection
    directory = directory_of(ports.records.collection) if holds else file and file.parent
    if directory is None or file is None:
        raise StoreError(
            "Only a memory over embedded Chroma in a directory, with its ledger in a file, can be copied. Back a "
            "server up by its own means, together with the ledger's file; of one in RAM, export_state() gives what was "
            "learned."
        )
    return directory, file


def address_of(collection: Collection) -> tuple[Any, ...]:
    """The place of a collection, and our identity there: two collections with the same place and id are one.

    A client to a server is identified by its address and headers, not as an object: many programs make one per request.
    """
    settings = _settings(collection)
    if _embedded(settings):
        return (settings.persist_directory if settings.is_persistent else None, id(collection._client))
    headers = {} if settings.chroma_server_headers is None else settings.chroma_server_headers
    door = (settings.chroma_server_host, settings.chroma_server_http_port, settings.chroma_server_ssl_enabled)
    return (*door, collection.tenant, collection.database, settings.chroma_client_auth_credentials, *headers.items())


def open_ledger(collection: Collection, ledger: Any, *, durability: Literal["normal", "full"]) -> Ledger:
    """The ledger that was asked for, else the one next to the collection's files."""
    if isinstance(ledger, Ledger):
        return ledger
    check_ledger(ledger)
    if is_in_postgres(ledger):
        return PostgresLedger(ledger)
    if ledger is None:
        ledger = _usual(collection)
    if str(ledger) != IN_MEMORY:
        return SQLiteLedger(str(ledger), durability=durability)
    in_memory = _in_memory.setdefault(str(collection.id), SQLiteLedger(IN_MEMORY, durability=durability))
    _latest.append(in_memory)
    return in_memory


def keep_in_ram(ledger: Ledger, uuid: str) -> None:
    """A ledger in RAM is that of a collection of another id from now on, too."""
    if isinstance(ledger, SQLiteLedger) and ledger in _in_memory.values():
        _in_memory[uuid] = ledger


def _usual(collection: Collection) -> str | Path:
    directory = directory_of(collection)
    if directory is not None:
        return directory / LEDGER_NAME
    if _embedded(_settings(collection)):
        return IN_MEMORY
    raise InvalidInputError(
        "The collection is on a server, so there is no default place for the ledger. Pass ledger=<path of one file "
        "that every process using this collection can open>, ledger='postgresql://host/database' if several machines "
        "use it, or ledger=':memory:' if reads may be lost when the process ends."
    )


def _settings(collection: Collection) -> Any:
    return collection._client.get_settings()


def _embedded(settings: Any) -> bool:
    return "fastapi" not in str(settings.chroma_api_impl).lower()


IN_MEMORY = ":memory:"
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")  # Chroma's own rule
_POSTGRES = re.compile(r"postgres(ql)?://|\s*(host|hostaddr|port|dbname|user|password|service)\s*=")
_ADDRESS = re.compile(r"[a-z][a-z0-9+]+://", re.IGNORECASE)


def check_collection_name(name: object) -> None:
    """Refuse what Chroma would refuse, once it is open.

    >>> check_collection_name("notes of ana")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.StoreError: Chroma cannot open the collection 'notes of ana': the name is ...
    """
    if not isinstance(name, str):
        raise InvalidInputError(f"The collection's name is {shown(name)}. Give a string.")
    if _NAME.fullmatch(name) is None:
        raise StoreError(
            f"Chroma cannot open the collection {shown(name)}: the name is not valid. A name has 3 to 512 characters "
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
        _check_file(expanded(ledger))


def is_in_postgres(ledger: object) -> bool:
    """Whether it is the address of a PostgreSQL database, or a pool of connections to one.

    >>> [is_in_postgres(one) for one in ("postgresql://ana@db/reads", "host=db dbname=reads", "reads.sqlite3")]
    [True, True, False]
    """
    if isinstance(ledger, str):
        return _POSTGRES.match(ledger) is not None
    return any(one.__module__.startswith("psycopg_pool") for one in type(ledger).__mro__)


def _check_file(file: Path) -> None:
    """Refuse a directory, a file that is not an SQLite file, and a path where no file can be made."""
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


def is_next_to_files(directory: Path | None, ledger: object) -> bool:
    """Whether the requested ledger is the one next to the collection's files, which belongs to no other directory.

    >>> is_next_to_files(Path("memory"), None), is_next_to_files(Path("memory"), "shared.sqlite3")
    (True, False)
    >>> is_next_to_files(None, None)
    False
    """
    if directory is None or not isinstance(ledger, str | Path | None):
        return False
    return ledger is None or Path(ledger).resolve() == (directory / LEDGER_NAME).resolve()
