"""Which PgBouncer stands between the tests and their PostgreSQL? That of the system, or Debian's package, unpacked."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests import postgres_server
from tests.free_port import free_port

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adaptive-memory-tests" / "pgbouncer"
USER = "pgserver"  # who runs the server of the tests where they run as root; its socket is open to nobody else
PROGRAM = Path("usr") / "sbin" / "pgbouncer"
PACKAGES = ("pgbouncer", "libc-ares2", "libevent-2.1-7")
SETTINGS = """
[databases]
* = host={directory} port={port} user=postgres

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 200
server_reset_query =
server_idle_timeout = 2
server_login_retry = 0.2
"""


def program() -> tuple[str, dict[str, str]]:
    """The program and the environment it needs; a test that needs it is skipped where there is none to be had."""
    found, reason, environment = _found()
    if found is None:
        pytest.skip(f"PgBouncer cannot be had here: {reason}")
    return found, environment


@lru_cache(maxsize=1)
def _found() -> tuple[str | None, str, dict[str, str]]:
    own = shutil.which("pgbouncer", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
    if own is not None:
        return own, "", dict(os.environ)
    if not (CACHE / PROGRAM).exists() and (reason := _fetched()):
        return None, reason, {}
    folder = Path(tempfile.mkdtemp(prefix="am-pgb-"))  # where a user that is not root may read, too
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    found = shutil.copytree(CACHE, folder / "unpacked") / PROGRAM
    libraries = os.pathsep.join(sorted({str(one.parent) for one in folder.rglob("*.so.*")}))
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
    said = subprocess.run([str(found), "--version"], env=environment, capture_output=True, text=True, check=False)
    return (str(found) if said.returncode == 0 else None), said.stderr.strip(), environment


def _fetched() -> str:
    """Debian's packages into a folder of ours; nothing is installed. Gives what stood in the way, or nothing."""
    if not all(map(shutil.which, ("apt-get", "dpkg"))):
        return "it is not installed, and this system has no apt-get and dpkg"
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE.parent) as folder:
        for package in PACKAGES:  # a library that the system has under another name is not missed
            with suppress(subprocess.TimeoutExpired):
                command = ["apt-get", "download", package]
                subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
        for one in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg", "-x", one.name, "unpacked"], cwd=folder, capture_output=True, check=True)
        if not (Path(folder) / "unpacked" / PROGRAM).exists():
            return "it is not installed, and apt-get cannot download it"
        with suppress(OSError):  # somebody else was quicker
            (Path(folder) / "unpacked").rename(CACHE)
    return ""


class PgBouncer:
    """A pooler in transaction mode before the server at this address, with a few connections to each database."""

    def __init__(self, server_address: str, size: int) -> None:
        known = conninfo_to_dict(server_address)
        self.port = free_port()
        self._directory = Path(tempfile.mkdtemp(prefix="am-pgb-"))
        given = {"directory": known["host"], "port": known.get("port", 5432), "own": self.port, "size": size}
        (self._directory / "pgbouncer.ini").write_text(SETTINGS.format(**given))
        self._process: subprocess.Popen[bytes] | None = None

    def address(self, address: str) -> str:
        """The address of a database through the pooler."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{conninfo_to_dict(address)['dbname']}"

    def start(self) -> None:
        command, environment = program()
        user = USER if os.geteuid() == 0 else None
        if user is not None:
            shutil.chown(self._directory, user)
        self._process = subprocess.Popen(
            [command, "-q", str(self._directory / "pgbouncer.ini")],
            env=environment,
            user=user,
            stdout=subprocess.DEVNULL,
            stderr=(self._directory / "log").open("wb"),
            start_new_session=True,
        )
        until(self._answers)

    def kill(self) -> None:
        """As by `kill -9`."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._directory / "log").read_text()
        with suppress(psycopg.Error):
            psycopg.connect(self.address("dbname=postgres"), connect_timeout=2).close()
            return True
        return False


@lru_cache(maxsize=1)
def shared_pgbouncer() -> PgBouncer:
    """One for all tests of this process, before its server."""
    made = PgBouncer(postgres_server.server().get_uri(), size=3)
    made.start()
    atexit.register(made.close)
    return made


@contextmanager
def pgbouncer(server_address: str, size: int = 3) -> Iterator[PgBouncer]:
    made = PgBouncer(server_address, size)
    try:
        made.start()
        yield made
    finally:
        made.close()


def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Waits for it."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
