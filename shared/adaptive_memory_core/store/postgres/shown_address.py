"""How is a server's address said in an error? Without user and password, whatever stands in them."""

from __future__ import annotations

import psycopg
from psycopg.conninfo import conninfo_to_dict

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.place_names import is_in_postgres

_USABLE = (
    "Give 'postgresql://user:password@host:port/database', with what is special in the password percent-encoded "
    "(urllib.parse.quote(password, safe=''))."
)


def shown(conninfo: str) -> str:
    """The address without what is secret.

    >>> shown("postgresql://ana:secret@db.example:5433/memories?sslmode=require")
    "'postgresql://db.example:5433/memories'"
    >>> shown("./memory/adaptive_memory.sqlite3")
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: The ledger's address is none of a PostgreSQL database: it ...
    """
    try:
        known = {name: str(value) for name, value in conninfo_to_dict(conninfo).items()}
    except psycopg.ProgrammingError:  # what it says may hold the password
        raise InvalidInputError(f"{_why_unread(conninfo)}. {_USABLE}") from None
    hosts = known.get("host", known.get("hostaddr", "")).split(",")
    if "@" in known.get("dbname", "") or any("@" in host[1:] for host in hosts):  # a part of the password, then
        raise InvalidInputError(f"The ledger's address has an '@' in its host or database. {_USABLE}")
    if not known.get("port", "0").replace(",", "0").isdigit():
        raise InvalidInputError(f"The port in the ledger's address is no number. {_USABLE}")
    ports = known["port"].split(",") if "port" in known else []
    if len(ports) not in (0, len(hosts)):
        ports = ports * len(hosts)
    named = ",".join(f"{host}:{port}" for host, port in zip(hosts, ports, strict=False)) if ports else ",".join(hosts)
    return repr(f"postgresql://{named}/{known.get('dbname', '')}")


def _why_unread(conninfo: str) -> str:
    if not is_in_postgres(conninfo):
        return "The ledger's address is none of a PostgreSQL database: it does not begin with 'postgresql://'"
    return "The ledger's address cannot be read: an option in it is unknown, or a character in it has to be encoded"
