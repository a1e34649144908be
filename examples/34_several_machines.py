"""How do web servers on several machines share one memory? Records on a Chroma server, the ledger in PostgreSQL.

`docker compose -f examples/compose.yaml up` starts the three; by hand, set CHROMA_HOST, CHROMA_PORT and LEDGER, and run
this file: it starts the web server with its workers, and asks it as several users.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Annotated, Any

import chromadb
import httpx
from fastapi import Depends, FastAPI, Header, Request

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Policy, UserMemory

NEEDED = ("CHROMA_HOST", "CHROMA_PORT", "LEDGER")
WORKERS, USERS, REQUESTS = 4, 6, 120
EVERY_READ = Policy(refresh_floor_seconds=0)  # by default, reads of a record within one minute count once


@asynccontextmanager
async def life(app: FastAPI) -> AsyncIterator[None]:
    """In each worker, on whatever machine: the same two servers."""
    async with open_memory() as memory:
        app.state.memory = memory
        yield


def open_memory() -> AdaptiveMemory:
    client = chromadb.HttpClient(os.environ["CHROMA_HOST"], int(os.environ["CHROMA_PORT"]))
    collection = client.get_or_create_collection(
        "memories", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    return AdaptiveMemory(collection, embedder=LocalEmbedder(), ledger=os.environ["LEDGER"], policy=EVERY_READ)


def of_user(request: Request, user: Annotated[str, Header()]) -> UserMemory:
    """Whose memory it is. Take the name from your session, never from the text of a request."""
    memory: AdaptiveMemory = request.app.state.memory
    return memory.for_user(user)


app = FastAPI(lifespan=life)


@app.post("/notes")
async def note(text: str, memory: Annotated[UserMemory, Depends(of_user)]) -> str:
    return await memory.aremember(text)


@app.get("/notes")
async def ask(question: str, memory: Annotated[UserMemory, Depends(of_user)]) -> dict[str, Any]:
    found = await memory.arecall(question, k=1)
    return {"texts": [hit.text for hit in found], "worker": os.getpid(), "step": found.step}


@contextmanager
def serving() -> Iterator[str]:
    """The address of the web server, with its workers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    place = Path(__file__)
    command = [sys.executable, "-m", "uvicorn", f"{place.stem}:app", "--app-dir", str(place.parent)]
    quiet = ["--workers", str(WORKERS), "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen([*command, *quiet])
    try:
        wait_for(f"http://127.0.0.1:{port}/openapi.json", process)
        yield f"http://127.0.0.1:{port}/notes"
    finally:
        process.terminate()
        process.wait(timeout=60)


def wait_for(address: str, process: subprocess.Popen[bytes], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(address).json():
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise RuntimeError(f"The web server did not answer at {address} within {seconds:g} seconds.")


def ask_all(address: str) -> None:
    """Notes, and then recalls, several at a time, answered by whichever worker is free."""

    def one(number: int) -> dict[str, Any]:
        user = {"user": f"user-{number % USERS}"}
        with httpx.Client(timeout=60) as client:
            found: dict[str, Any] = client.get(address, params={"question": "what do I drink?"}, headers=user).json()
        return {**found, "mine": found["texts"] == [f"user-{number % USERS} drinks green tea"]}

    for number in range(USERS):
        name = f"user-{number}"
        text = {"text": f"{name} drinks green tea"}  # the first one has its worker load the embedder
        httpx.post(address, params=text, headers={"user": name}, timeout=60).raise_for_status()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(REQUESTS)))
    print(f"{sum(answer['mine'] for answer in answers)} of {REQUESTS} recalls found the user's own note")
    print(f"answered by {len({answer['worker'] for answer in answers})} workers")
    steps = Counter(answer["step"] for answer in answers)
    print(f"every step once for each user: {set(steps.values()) == {USERS}}")


def main() -> None:
    missing = [name for name in NEEDED if not os.environ.get(name)]
    if missing:
        print(f"Set {', '.join(missing)}, or run `docker compose -f examples/compose.yaml up`.")
        return
    with serving() as address:
        ask_all(address)
    with open_memory() as memory:
        counted = [memory.for_user(f"user-{number}").stats() for number in range(USERS)]
        print(f"{sum(one.recalls for one in counted)} recalls, {sum(one.reads for one in counted)} reads in the ledger")


if __name__ == "__main__":
    main()
