"""A real Chroma server for the tests that need one, started from the environment the tests run in."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.free_port import free_port

# What `chroma` does, without importing the client first, which takes ten times as long.
CHROMA = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(['chroma', *sys.argv[1:]])"


class ChromaServer:
    """`chroma run` on a loopback port, which tests may kill and start again."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        arguments = ["run", "--path", str(self.directory), "--host", "127.0.0.1", "--port", str(self.port)]
        quiet = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHROMA, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=quiet,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while not self._answers():
            assert time.monotonic() < deadline, "the Chroma server did not start within a minute"
            time.sleep(0.02)

    def close(self) -> None:
        self.stop()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v2/heartbeat", timeout=1).read()
        except (urllib.error.URLError, OSError):
            return False
        return True
