"""Which collection on a Chroma server does a command work on? The one of a name, which is there, or may be made."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from adaptive_memory_core.errors import InvalidInputError, StoreError
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.embedder import bundled_unless
from adaptive_memory_core.shown_in_errors import reason, shown
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.embedder_check import notes_on

HTTPS_PORT, USUAL_PORT = 443, 8_000


def opened(server: str, name: str, embedder: Any, ledger: str | None, *, create: bool) -> AdaptiveMemory:
    """A memory over the collection of that name."""
    if ledger is None:
        raise InvalidInputError(
            "A memory on a Chroma server needs a ledger that all who use it share. Give --ledger "
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
    return AdaptiveMemory(collection, embedder=source, ledger=ledger)


def address_of(server: str) -> tuple[str, int, bool]:
    """Host, port, and whether it is spoken to by TLS.

    >>> address_of("chroma.example"), address_of("127.0.0.1:9000"), address_of("https://chroma.example")
    (('chroma.example', 8000, False), ('127.0.0.1', 9000, False), ('chroma.example', 443, True))
    """
    wrong = InvalidInputError(f"{shown(server)} is no Chroma server. Give HOST:PORT, or https://HOST.")
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

    host, port, secure = address_of(server)
    return _asked(server, lambda: chromadb.HttpClient(host, port, ssl=secure))


def _asked(server: str, ask: Any) -> Any:
    try:
        return ask()
    except Exception as error:
        raise StoreError(
            f"The Chroma server {server} cannot be reached: {reason(error)}. Check that it runs, and the address."
        ) from error
