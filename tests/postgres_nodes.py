"""How is a PostgreSQL made that a test may break for good? A cluster of its own, of the wheel of the tests' server."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests import postgres_server
from tests.free_port import free_port
from tests.pgbouncer_server import until

QUICK = ("fsync=off", "shared_buffers=16MB", "max_connections=60")


class Node:
    """A server on a loopback port, with a data directory of its own."""

    def __init__(self, directory: Path) -> None:
        wheel = postgres_server.server()
        self._programs: Path = wheel.bin_path
        self._user: str | None = wheel.system_user
        self.directory, self._settings = directory, tuple[str, ...]()
        self.port = free_port()

    def make(self, *options: str) -> None:
        """An empty cluster."""
        self.own(self.directory)
        self._run(
            "initdb", "--no-sync", "--auth=trust", "--encoding=utf8", "-U", "postgres", *options, "-D", self._data
        )

    def copy(self, primary: Node) -> None:
        """A standby of another one, by streaming replication."""
        self.own(self.directory)
        self._run("pg_basebackup", "-R", "-c", "fast", "--no-sync", "-d", primary.address("postgres"), "-D", self._data)

    def start(self, *settings: str) -> None:
        self._settings = settings
        given = [f"port={self.port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", *QUICK, *settings]
        options = " ".join(f"-c {one}" for one in given)
        (self.directory / "data" / "postmaster.pid").unlink(missing_ok=True)
        self._run("pg_ctl", "-D", self._data, "-l", str(self.directory / "log"), "-o", options, "-w", "start")

    def kill(self) -> None:
        """As by `kill -9`, with all its processes."""
        with suppress(FileNotFoundError, psutil.NoSuchProcess):
            postgres_server.kill_server(self.directory / "data")

    def stands(self) -> bool:
        """Whether it takes connections; one that has given itself up is started again."""
        with suppress(psycopg.OperationalError):
            return bool(self.ask("SELECT true"))
        if not self._runs():
            self.start(*self._settings)
        return False

    def _runs(self) -> bool:
        """Whether the process that its file names is a server yet: another program may have the number by now."""
        with suppress(FileNotFoundError, IndexError, psutil.NoSuchProcess):
            number = (self.directory / "data" / "postmaster.pid").read_text("ascii").split()[0]
            process = psutil.Process(int(number))
            return bool(process.status() != psutil.STATUS_ZOMBIE) and str(process.name()).startswith("postgres")
        return False

    def promote(self) -> None:
        """A standby becomes the primary."""
        self._run("pg_ctl", "-D", self._data, "-w", "promote")

    def address(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def ask(self, query: str) -> list[Any]:
        with psycopg.connect(self.address(), autocommit=True) as connection:
            cursor = connection.execute(query)
            return cursor.fetchall() if cursor.description else []

    @property
    def _data(self) -> str:
        return str(self.directory / "data")

    def own(self, folder: Path) -> None:
        """Make a folder that is the server's."""
        folder.mkdir(exist_ok=True)
        if self._user is not None:
            shutil.chown(folder, self._user)

    def _run(self, program: str, *arguments: str) -> None:
        with (self.directory / "output").open("ab") as output:  # a pipe would stay open as long as the server runs
            given: dict[str, Any] = {"stdout": output, "stderr": output, "cwd": self.directory}
            done = subprocess.run(
                [self._programs / program, *arguments], user=self._user, timeout=60, check=False, **given
            )
        assert done.returncode == 0, (self.directory / "output").read_text()


class Pair:
    """A primary and a standby that has all that the primary has acknowledged."""

    def __init__(self, directory: Path) -> None:
        self.primary, self.standby = Node(directory / "one"), Node(directory / "two")

    def start(self) -> None:
        self.primary.make()
        self.primary.start()
        self.standby.copy(self.primary)
        self.standby.start()
        self.primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.ask("SELECT pg_reload_conf()")
        until(lambda: self.primary.ask("SELECT sync_state FROM pg_stat_replication") == [("sync",)])

    def address(self, database: str = "postgres") -> str:
        """Of whichever may be written."""
        hosts = ",".join(f"127.0.0.1:{one.port}" for one in (self.primary, self.standby))
        return f"postgresql://postgres@{hosts}/{database}?target_session_attrs=read-write"

    def close(self) -> None:
        for one in (self.primary, self.standby):
            one.kill()


@contextmanager
def folder_for_servers() -> Iterator[Path]:
    """A folder that the servers' user may come to; pytest keeps its own to the user that runs the tests."""
    folder = Path(tempfile.mkdtemp(prefix="am-pg-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
