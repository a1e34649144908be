"""How do many processes that are killed begin, without each importing for a second? As forks of one that did so once.

Each is a process of its own, with pipes, and ends as an interpreter ends; who started it may kill it.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import random
import runpy
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]
IMPORTED = ("adaptive_memory_core.memory", "chromadb", "psycopg", "tests.conftest", "tests.store.reader")
HEADER_BYTES = 8


class Forked:
    """A program under way: what the tests use of `subprocess.Popen`, with pipes for all three."""

    def __init__(self, program: dict[str, Any]) -> None:
        ours, theirs = [], []
        for reads_here in (False, True, True, True):  # input, output, errors, and what becomes of it
            read, write = os.pipe()
            ours.append(read if reads_here else write)
            theirs.append(write if reads_here else read)
        asked = json.dumps(program).encode()
        to_server = _server()
        socket.send_fds(to_server, [len(asked).to_bytes(HEADER_BYTES, "big")], theirs)
        to_server.sendall(asked)
        for one in theirs:
            os.close(one)
        self.stdin: IO[str] = os.fdopen(ours[0], "w", encoding="utf-8")
        self.stdout: IO[str] = os.fdopen(ours[1], encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(ours[2], encoding="utf-8")
        self._told = os.fdopen(ours[3])
        self.pid = int(self._told.readline())
        self.returncode: int | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._hear_of_its_end, daemon=True).start()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired("a fork", timeout or 0.0)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(self.pid, signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What is left of its output and errors, once it has ended; it is killed if that takes longer."""
        errors: list[str] = []
        reading = threading.Thread(target=lambda: errors.append(self.stderr.read()))
        reading.start()
        too_late = threading.Timer(timeout or 600.0, self.kill)
        too_late.start()
        with ExitStack() as closed:
            for pipe in (self.stdin, self.stdout, self.stderr):
                closed.callback(pipe.close)
            self.stdin.close()
            said = self.stdout.read()
            reading.join()
        too_late.cancel()
        self.wait(60.0)
        return said, errors[0]

    def close(self) -> None:
        """It has ended, by a kill if need be, and nobody reads what it said."""
        self.kill()
        self.wait(60.0)
        for pipe in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                pipe.close()

    def _hear_of_its_end(self) -> None:
        with self._told:
            self.returncode = int(self._told.readline())
        self._ended.set()


def source(text: str, *arguments: object) -> Forked:
    """As `python -c`."""
    return Forked({"source": text, "arguments": ["-c", *map(str, arguments)], "environment": dict(os.environ)})


def module(name: str, *arguments: object) -> Forked:
    """As `python -m`."""
    return Forked({"module": name, "arguments": [name, *map(str, arguments)], "environment": dict(os.environ)})


def said_by(text: str, *arguments: object, check: bool = True) -> str:
    """What a process of its own printed."""
    process = source(text, *arguments)
    said, wrong = process.communicate(timeout=240)
    assert process.returncode == 0 or not check, wrong
    return said


@lru_cache(maxsize=1)
def _server() -> socket.socket:
    """Of this process; it ends with the socket."""
    ours, theirs = socket.socketpair()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "shared"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.forked", str(theirs.fileno())]
    server = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours


def _serve(asking: socket.socket) -> dict[str, Any] | None:
    """In the server nothing, at its end; in a program of its own what it is to be."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that watch over programs
    while True:
        header, given, _, _ = socket.recv_fds(asking, HEADER_BYTES, 4)
        if not header:
            return None
        program: dict[str, Any] = json.loads(_received(asking, int.from_bytes(header, "big")))
        if os.fork() == 0:
            asking.close()
            _watched(given)
            return program
        for one in given:
            os.close(one)


def _received(asking: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        found += asking.recv(length - len(found))
    return found


def _watched(given: list[int]) -> None:
    """Returns in a fork of this process, which waits for it and says how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *standard, tells = given
    pid = os.fork()
    if pid == 0:
        for number, one in enumerate(standard):
            os.dup2(one, number)
        for one in given:
            os.close(one)
        return
    for one in standard:
        os.close(one)
    os.write(tells, f"{pid}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(tells, f"{code}\n".encode())
    os._exit(0)


def _run(program: dict[str, Any]) -> None:
    random.seed()
    os.environ.clear()
    os.environ.update(program["environment"])
    sys.argv[:] = program["arguments"]
    if "module" in program:
        runpy.run_module(program["module"], run_name="__main__", alter_sys=True)
    else:
        exec(compile(program["source"], "<string>", "exec", dont_inherit=True), {"__name__": "__main__"})


def main() -> None:
    asking = socket.socket(fileno=int(sys.argv[1]))
    for one in IMPORTED:
        import_module(one)
    gc.freeze()  # what is imported is no garbage: no fork looks through it
    program = _serve(asking)
    if program is not None:
        _run(program)


if __name__ == "__main__":
    main()
