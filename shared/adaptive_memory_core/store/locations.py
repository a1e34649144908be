"""Places of a collection and its ledger: in a directory, in RAM or on a server; with checks of names and paths."""

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
from adaptive_memory_core.store.chroma.chroma_calls import files_of
from adaptive_memory_core.store.ledger.schema import refuse_damaged
from adaptive_memory_core.store.ledger.sql_ledger import Ledger, SQLiteLedger
from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from adaptive_memory_core.whole_file import expanded

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI


LEDGER_NAME = "adaptive_memory.sqlite3"
USUAL_DATABASE = "default_tenant/default_database"  # Chroma's defaults for tenant and database
SYNC_THRESHOLD = 5_000  # writes until Chroma rewrites its index files; its own 1,000 costs as much 5 times as often
_in_memory: weakref.WeakValueDictionary[str, SQLiteLedger] = weakref.WeakValueDictionary()
_latest: deque[SQLiteLedger] = deque(maxlen=8)  # ledgers in RAM that are kept for a while after they are closed; guess
_client_at_a_time = threading.Lock()  # Chroma's registry of clients is not thread-safe


def checked_path(path: object) -> Path:
    """The absolute path of a directory, which need not exist yet."""
    if not isinstance(path, str | Path) or not can_name_a_file(path):
        raise InvalidInputError(
            f"The path is {shown(path)}. Give the memory's directory, under a name that the file "
            "system accepts: not blank, not too long, without NUL and lone surrogates."
        )
    return expanded(path).absolute()


def existing_path(path: object) -> Path:
    """The path of a directory that contains an embedded Chroma; raises if there is none."""
    directory = checked_path(path)
    if not (directory / "chroma.sqlite3").exists():
        raise InvalidInputError(
            f"There is no memory in {str(directory)!r}: it has no chroma.sqlite3. Give the directory that holds one."
        )
    return directory


def is_writable(directory: Path) -> bool:
    """Whether this process may write the memory in this directory. Also True if it contains no memory yet."""
    files = (directory, directory / "chroma.sqlite3", directory / LEDGER_NAME)
    return all(os.access(one, os.W_OK) for one in files if one.exists()) or not files[1].exists()


def check_collection(collection: object) -> None:
    """Raise if this is not a collection, but for example a client or a name."""
    if not all(hasattr(collection, name) for name in ("query", "upsert", "_client", "configuration_json")):
        raise InvalidInputError(
            f"The collection is {type(collection).__name__}. Give a chromadb.Collection, e.g. "
            "client.get_collection('memories'), or use AdaptiveMemory.open(path)."
        )


def open_client(path: str | Path) -> ClientAPI:
    """An embedded client over a directory, with Chroma's usual settings.

    Chroma refuses a second client in one process over the same directory if its settings differ. Any special setting
    would therefore shut out a user who opens the collection with plain `chromadb.PersistentClient(path)`.
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
            "if this process has a client over it with other settings, pass that client's collection: "
            "AdaptiveMemory(collection, ...)."
        ) from error


def _forget_half_open(identifier: str) -> None:
    """Remove a client that could not be started from Chroma's registry, which would return it again."""
    from chromadb.api.shared_system_client import SharedSystemClient as Shared

    if not Shared._identifier_to_refcount.get(identifier):
        Shared._identifier_to_system.pop(identifier, None)


def close_client(client: ClientAPI) -> None:
    """Release the client's files, if this version of Chroma can."""
    close = getattr(client, "close", None)
    if close is not None:
        with _client_at_a_time:
            close()


def open_collection(client: ClientAPI, name: str, notes: Mapping[str, str | int]) -> Collection:
    """The collection of that name; created for cosine distance if it does not exist. Chroma's own embedders are not
    used.

    `notes` are written into the metadata of a new collection.
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
            f"Chroma cannot open the collection {name!r}: {reason(error)}. Fix that, or give another collection."
        ) from error


def directory_of(collection: Collection) -> Path | None:
    """The directory of an embedded persistent collection; None for one in RAM or on a server."""
    settings = _settings(collection)
    return files_of(collection) if _embedded(settings) and settings.is_persistent else None


def database_of(collection: Collection) -> str:
    """The tenant and the database of a collection: its name is unique only within them."""
    return f"{collection.tenant}/{collection.database}"


def import_chroma() -> None:
    """Import Chroma, which takes a second or two, and the parts for an embedded client, half a second more."""
    import chromadb.api.rust  # noqa: F401 - the import is the point


def can_open_chroma() -> bool:
    """Whether Chroma is imported or can be: its import starts threads, which is impossible while the interpreter
    ends."""
    return "chromadb.api.rust" in sys.modules or threading.main_thread().is_alive()


def is_in_ram(collection: Collection) -> bool:
    """Whether the collection is embedded and not persistent, so that it ends with its process."""
    settings = _settings(collection)
    return _embedded(settings) and not settings.is_persistent


def directory_and_ledger(ports: Ports) -> tuple[Path, Path]:
    """The directory and the ledger's file of a memory over embedded Chroma; raises if either is not stored in files."""
    ledger = ports.ledger
    file = ledger.file.place if isinstance(ledger, SQLiteLedger) else None
    holds = ports.records.holds_collection
    directory = directory_of(ports.records.collection) if holds else file and file.parent
    if directory is None or file is None:
        raise StoreError(
            "Only a memory over embedded Chroma in a directory, with its ledger in a file, can be copied. Back "
            "up a server with its own tools, together with the ledger's file. For a memory in RAM, export_state() "
            "returns what was learned."
        )
    return directory, file


def address_of(collection: Collection) -> tuple[Any, ...]:
    """The address of a collection. Two collections with the same address and id are the same collection.

    A client to a server is identified by its address and headers, not as an object: many programs create a client per
    request.
    """
    settings = _settings(collection)
    if _embedded(settings):
        return (settings.persist_directory if settings.is_persistent else None, id(collection._client))
    headers = {} if settings.chroma_server_headers is None else settings.chroma_server_headers
    door = (settings.chroma_server_host, settings.chroma_server_http_port, settings.chroma_server_ssl_enabled)
    return (*door, collection.tenant, collection.database, settings.chroma_client_auth_credentials, *headers.items())


def open_ledger(collection: Collection, ledger: Any, *, durability: Literal["normal", "full"]) -> Ledger:
    """The given ledger, or the default ledger next to the collection's files."""
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
    """Register a ledger in RAM for a collection's new id as well."""
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
    """Raise for a name that Chroma would refuse.

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
    """Whether this is a possible name of a file or directory: no NUL, no lone surrogate, and not too long.

    >>> [can_name_a_file(one) for one in ("notes", "a\\0b", "a\\ud800", "x" * 5000, " ", 3)]
    [True, False, False, False, False, False]
    """
    if not isinstance(path, str | Path) or not str(path).strip():
        return False
    try:
        os.stat(path)
    except ValueError:
        return False
    except OSError as error:  # a missing file is checked elsewhere
        return error.errno != errno.ENAMETOOLONG
    return True


def check_ledger(ledger: object) -> None:
    """Raise if this is not None, a ledger, the path of a file, or the address of a PostgreSQL database.

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
    if (scheme := _ADDRESS.match(str(ledger))) is not None:  # the rest may contain a password
        raise InvalidInputError(f"The ledger is '{scheme[0]}...', an address. {usable}")
    if str(ledger) != IN_MEMORY and not str(ledger).startswith("file:"):
        _check_file(expanded(ledger))


def is_in_postgres(ledger: object) -> bool:
    """Whether this is the address of a PostgreSQL database, or a pool of connections to a database.

    >>> [is_in_postgres(one) for one in ("postgresql://ana@db/reads", "host=db dbname=reads", "reads.sqlite3")]
    [True, True, False]
    """
    if isinstance(ledger, str):
        return _POSTGRES.match(ledger) is not None
    return any(one.__module__.startswith("psycopg_pool") for one in type(ledger).__mro__)


def _check_file(file: Path) -> None:
    """Raise for a directory, a file that is not an SQLite file, and a path where no file can be created."""
    if file.is_dir():
        raise LedgerError(f"The ledger {str(file)!r} cannot be opened: it is a directory. Give the path of a file.")
    if file.exists():
        refuse_damaged(str(file), file)
        return
    place = next((one for one in file.absolute().parents if one.exists()), None)
    if place is None or not place.is_dir() or not os.access(place, os.W_OK):
        raise LedgerError(
            f"The ledger {str(file)!r} cannot be opened: no file can be created in {str(place)!r}. Give a file in a "
            "directory that may be written."
        )


def is_next_to_files(directory: Path | None, ledger: object) -> bool:
    """Whether the requested ledger is the default ledger next to the collection's files.

    >>> is_next_to_files(Path("memory"), None), is_next_to_files(Path("memory"), "shared.sqlite3")
    (True, False)
    >>> is_next_to_files(None, None)
    False
    """
    if directory is None or not isinstance(ledger, str | Path | None):
        return False
    return ledger is None or Path(ledger).resolve() == (directory / LEDGER_NAME).resolve()
