"""How do the workers of a web server share one memory? Each opens the same directory; no server of Chroma is needed."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Policy

WORKERS, REQUESTS = 4, 60
SERVERS: dict[str, list[str]] = {
    "uvicorn": ["--workers", str(WORKERS), "--interface", "wsgi", "--log-level", "warning", "--port"],
    "gunicorn": ["--workers", str(WORKERS), "--log-level", "warning", "--bind"],
}
EVERY_READ = Policy(refresh_floor_seconds=0)  # by default, reads of a record within one minute count once
_one_thread = threading.Lock()


@cache
def _opened() -> AdaptiveMemory:
    return AdaptiveMemory.open(Path.cwd() / "memory", embedder=LocalEmbedder(), policy=EVERY_READ)


def memory() -> AdaptiveMemory:
    """This worker's memory, opened when it is first asked for: never before the server has forked its workers."""
    with _one_thread:
        return _opened()


def app(environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """A WSGI application: `?note=` remembers, `?cue=` recalls, for one user."""
    ana = memory().for_user("ana")
    asked = {name: values[0] for name, values in parse_qs(environment["QUERY_STRING"]).items()}
    if "note" in asked:
        answer: dict[str, Any] = {"id": ana.remember(asked["note"], id=asked["id"])}
    else:
        answer = {"texts": [hit.text for hit in ana.recall(asked["cue"], k=1)]}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]


@contextmanager
def serving(server: str, directory: Path) -> Iterator[str]:
    """The address of a web server with several worker processes, which all work in this directory."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    place = str(port) if server == "uvicorn" else f"127.0.0.1:{port}"
    name = Path(__file__).stem
    folder = ["--app-dir" if server == "uvicorn" else "--pythonpath", str(Path(__file__).parent)]
    command = [sys.executable, "-m", server, *folder, *SERVERS[server], place, f"{name}:app"]
    process = subprocess.Popen(command, cwd=directory)
    try:
        wait_for(port, process)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait(timeout=60)


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"The web server did not answer on port {port} within {seconds:g} seconds.")


def get(address: str) -> dict[str, Any]:
    with urllib.request.urlopen(address, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def ask_all(address: str, server: str) -> int:
    """Notes and recalls, several at a time, answered by whichever worker is free; gives how many found their note."""

    def one(number: int) -> bool:
        get(f"{address}?id={server}-{number}&note=note+number+{number}+from+{server}")
        return bool(get(f"{address}?cue=note+number+{number}+from+{server}")["texts"])

    with ThreadPoolExecutor(8) as pool:
        return sum(pool.map(one, range(REQUESTS)))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        servers = [name for name in SERVERS if importlib.util.find_spec(name) is not None]
        for server in servers:
            with serving(server, directory) as address:
                print(f"{server}: {ask_all(address, server)} of {REQUESTS} recalls found something")
        with AdaptiveMemory.open(directory / "memory", embedder=LocalEmbedder()) as here:
            stats = here.for_user("ana").stats()
            print(f"{stats.records} notes, {stats.recalls} recalls, {stats.reads} reads, whatever worker did them")


if __name__ == "__main__":
    main()
