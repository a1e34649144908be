"""The memory and user that a command works on, in a directory or on a Chroma server."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import typer

from adaptive_memory_core.cli.terminal import is_readable, printing_to_stderr, text_of
from adaptive_memory_core.error_messages import reason, shown
from adaptive_memory_core.errors import InvalidInputError, StoreError
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.embedder import bundled_unless
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.presets import PRESETS
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.embedder_check import notes_on
from adaptive_memory_core.store.held_elsewhere import CollectionNeededError, HeldElsewhere
from adaptive_memory_core.user_memory import UserMemory
from adaptive_memory_core.whole_file import expanded

AGO = {"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}  # seconds


@dataclass(frozen=True, slots=True)
class Session:
    """The common options of all commands."""

    path: Path | None
    collection: str
    user: str | None
    everyone: bool
    over_everyone: bool
    embedder: str
    as_json: bool
    ledger: str | None = None
    server: str | None = None
    usual_user: bool = False  # whether the user comes from the environment, which a command for all users ignores
    keeping: Keeping = field(default_factory=Keeping)

    @property
    def directory(self) -> Path:
        if self.path is None:
            raise InvalidInputError(
                "No directory is named. Give --path DIR, the directory that holds the memory; or set "
                "ADAPTIVE_MEMORY_PATH."
            )
        return self.path

    @contextmanager
    def memory(self, *, create: bool = False, brief: bool = False) -> Iterator[AdaptiveMemory]:
        """The memory, open for this command. It must exist, unless the command may create it. A `brief` memory uses the
        ledger alone if possible, and leaves write-back to the next command that opens Chroma."""
        self.check_there(create=create)
        with printing_to_stderr(), self._opened(create=create, brief=brief) as memory:
            yield memory

    def _opened(self, *, create: bool, brief: bool) -> AdaptiveMemory:
        model = embedder_option(self.embedder)
        if brief and self.server is None and self.ledger is None:
            place = HeldElsewhere(self.directory, self.collection, brief=True)
            with suppress(CollectionNeededError):
                return AdaptiveMemory(place, embedder=bundled_unless(model), keeping=self.keeping)
        if self.server is not None:
            return open_on_server(self.server, self.collection, model, self.ledger, self.keeping, create=create)
        return AdaptiveMemory.open(
            self.directory, self.collection, embedder=model, ledger=self.ledger, keeping=self.keeping
        )

    @property
    def place(self) -> str:
        """The memory's directory or server."""
        return str(self.directory) if self.server is None else self.server

    @contextmanager
    def scope(self, *, create: bool = False, brief: bool = False) -> Iterator[UserMemory]:
        """The memory of the named user, or of everyone's records."""
        self.check_scope()
        with self.memory(create=create, brief=brief) as memory:
            yield self.scope_in(memory)

    def scope_in(self, memory: AdaptiveMemory) -> UserMemory:
        self.check_scope()
        if self.everyone or self.user is None:
            return memory.for_everyone()
        return memory.for_user(self.user, over="everyone" if self.over_everyone else None)

    @property
    def names_scope(self) -> bool:
        """Whether --user or --everyone was given."""
        return self.everyone or (self.user is not None and not self.usual_user)

    def check_scope(self) -> None:
        """Raise InvalidInputError if a command names no user, or both a user and everyone."""
        if self.everyone == (self.user is not None):
            both = "Both --user and --everyone are given" if self.everyone else "No user is named"
            raise InvalidInputError(
                f"{both}. Give either --user NAME, or --everyone for the records that belong to nobody. "
                "ADAPTIVE_MEMORY_USER can name a user as well."
            )
        if self.everyone and self.over_everyone:
            raise InvalidInputError("--over-everyone adds everyone's records to those of a --user. Leave it out.")

    def check_users(self, *, all_users: bool) -> None:
        """Raise InvalidInputError unless a command names exactly one of a user, everyone, or all users."""
        if not all_users:
            self.check_scope()
        elif self.names_scope:
            raise InvalidInputError("--all-users stands for --user NAME or --everyone. Give one of the three.")

    def check_there(self, *, create: bool) -> None:
        """Raise if the directory or collection does not exist, so that a typo doesn't create a new one."""
        if self.server is not None:
            if self.path is not None:
                raise InvalidInputError("Both --path and --server are given. Give the one that has the memory.")
            return  # checked later with the server's client
        database = self.directory / "chroma.sqlite3"
        if create:
            return
        if not database.exists():
            raise InvalidInputError(
                f"There is no memory in {str(self.directory)!r}. Give --path of one, or make it with init."
            )
        names = _collections(database)
        if names is not None and self.collection not in names:
            there = ", ".join(map(repr, sorted(names))) or "none"
            raise InvalidInputError(
                f"There is no collection {shown(self.collection)} in {str(self.directory)!r}: there is {there}. "
                "Give --collection NAME, or make it with init."
            )


def session_of(ctx: typer.Context) -> Session:
    found = ctx.find_object(Session)
    if found is None:
        raise InvalidInputError("The command was started without its options. Call adaptive-memory.")
    return found


def embedder_option(name: str) -> Any:
    """The embedder of that name; None for the bundled embedder, which is created when needed."""
    if name == "local":
        return None
    from adaptive_memory_core.models import embedder

    with printing_to_stderr():  # output of its module on import
        return embedder.embedder_named(name)


def policy_option(given: str | None) -> Policy | None:
    """The policy of a preset's name, or from a JSON file by `Policy.to_json`."""
    if given is None:
        return None
    if given in PRESETS:
        return Policy.preset(given)
    file = expanded(given)
    if not is_readable(file):
        raise InvalidInputError(
            f"There is no policy {shown(given)}. Give a preset ({', '.join(sorted(PRESETS))}) or a file of JSON."
        )
    return Policy.from_json(text_of(file))


def moment_of(given: str | None, *, now: float) -> float | None:
    """The given time: a date (UTC without a zone), seconds since 1970, or a duration ago.

    >>> moment_of("1970-01-02", now=0.0), moment_of("60.5", now=0.0), moment_of("2d", now=200_000.0)
    (86400.0, 60.5, 27200.0)
    """
    if given is None:
        return None
    with suppress(ValueError):
        if given[-1:] in AGO:
            return now - float(given[:-1]) * AGO[given[-1]]
        return float(given)
    try:
        found = datetime.fromisoformat(given.replace("Z", "+00:00"))
    except ValueError as error:
        raise InvalidInputError(
            f"{shown(given)} is not a time. Give e.g. 2026-03-02, 2026-03-02T09:00, seconds since 1970, or 7d "
            "for a week ago."
        ) from error
    return (found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)).timestamp()


def _collections(database: Path) -> set[str] | None:
    """The names of the collections in a directory; None if they cannot be read now."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as sql:
        if not sql.execute("SELECT 1 FROM sqlite_master WHERE name = 'collections'").fetchone():
            return set()  # an empty file, or another program's
        return {row[0] for row in sql.execute("SELECT name FROM collections")}
    return None


HTTPS_PORT, USUAL_PORT = 443, 8_000


def open_on_server(
    server: str, name: str, embedder: Any, ledger: str | None, keeping: Keeping, *, create: bool
) -> AdaptiveMemory:
    """A memory over the collection of that name."""
    if ledger is None:
        raise InvalidInputError(
            "A memory on a Chroma server needs a ledger that all its users share. Give --ledger "
            "postgresql://user@host/database, or the path of the file that they use on this machine."
        )
    source = bundled_unless(embedder)
    client = _client(server)
    names = {str(getattr(one, "name", one)) for one in _asked(server, client.list_collections)}
    if name not in names and not create:
        there = ", ".join(map(repr, sorted(names))) or "none"
        raise InvalidInputError(
            f"There is no collection {shown(name)} on the server {server}: there is {there}. Give --collection NAME, "
            "or make it with init."
        )
    collection = locations.open_collection(client, name, notes_on(source))
    return AdaptiveMemory(collection, embedder=source, ledger=ledger, keeping=keeping)


def server_address(server: str) -> tuple[str, int, bool]:
    """The host, the port, and whether the server uses TLS.

    >>> server_address("chroma.example"), server_address("127.0.0.1:9000"), server_address("https://chroma.example")
    (('chroma.example', 8000, False), ('127.0.0.1', 9000, False), ('chroma.example', 443, True))
    """
    wrong = InvalidInputError(
        f"{shown(server)} is not the address of a Chroma server. Give HOST:PORT, or https://HOST."
    )
    found = urlsplit(server if "://" in server else f"http://{server}")
    try:
        host, port, secure = found.hostname, found.port, found.scheme == "https"
    except ValueError as error:
        raise wrong from error
    if not host or found.scheme not in ("http", "https") or found.path.strip("/") or found.username:
        raise wrong
    return host, port or (HTTPS_PORT if secure else USUAL_PORT), secure


def _client(server: str) -> Any:
    import chromadb

    host, port, secure = server_address(server)
    return _asked(server, lambda: chromadb.HttpClient(host, port, ssl=secure))


def _asked(server: str, ask: Any) -> Any:
    try:
        return ask()
    except Exception as error:
        raise StoreError(
            f"The Chroma server {server} cannot be reached: {reason(error)}. Check that it runs, and the address."
        ) from error
