"""The examples of an agent and of a web server, with a real client and with many requests at once."""

from __future__ import annotations

import asyncio
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from langchain_adaptive_memory import AdaptiveMemoryRetriever
from tests.models.chat_server import FakeChat, serving

ROOT = Path(__file__).parents[2]
TAG = "<recalled_memories>"


@pytest.fixture
def server() -> Iterator[FakeChat]:
    """Cites the first memory if there is one."""
    with serving() as running:
        running.replies = lambda asked: (
            "Peanuts, you said [m1]." if TAG in asked["messages"][-1]["content"] else "I do not know.",
            [],
        )
        yield running


@pytest.mark.hard("example")
def test_the_agent_of_the_example_remembers_with_a_real_client(server: FakeChat, tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT / "shared"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "13_langgraph_agent.py")],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": path,
            "OPENAI_API_KEY": "secret",
            "OPENAI_BASE_URL": server.url,
            "OPENAI_MODEL": "any-model",
        },
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "agent: Peanuts, you said [m1]." in done.stdout
    assert done.stdout.count("agent: I do not know.") == 2
    assert "2 records, 1 reads, 1 found helpful" in done.stdout
    assert {*server.paths, *server.keys} == {"/v1/chat/completions", "Bearer secret"}
    assert {one["model"] for one in server.requests} == {"any-model"}
    questions = [one["messages"][-1]["content"] for one in server.requests]
    assert [TAG in one for one in questions] == [False, True, False]
    assert "I am allergic to peanuts." in questions[1]
    assert [len(one["messages"]) for one in server.requests] == [2, 2, 2], "each session has a history of its own"


EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "31_fastapi.py"))
REQUESTS = 120


def background_threads() -> int:
    return sum(one.name == "adaptive-memory-background" for one in threading.enumerate())


async def test_many_requests_at_once_share_two_memories_and_are_all_counted(tmp_path: Path) -> None:
    before = background_threads()
    app: Any = EXAMPLE["service"](tmp_path)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://memory") as client:
            await client.post("/notes", params={"text": "green tea"}, headers={"user": "ana"})
            asked = [
                *[client.get("/notes", params={"question": "tea?"}, headers={"user": "ana"}) for _ in range(REQUESTS)],
                *[client.get("/documents", params={"question": "when does it open?"}) for _ in range(REQUESTS)],
                *[client.post("/notes", params={"text": f"note {one}"}, headers={"user": "bo"}) for one in range(9)],
            ]
            answers = await asyncio.gather(*asked)
            nobody = await client.get("/notes", params={"question": "tea?"})
        assert {answer.status_code for answer in answers} == {200}
        assert nobody.status_code == 422
        assert background_threads() == before + 2
        kept = AdaptiveMemoryRetriever.from_collection(app.state.documents, app.state.embedder)
        assert kept.memory.for_everyone().stats().recalls == REQUESTS
        assert app.state.memory.for_user("ana").stats().recalls == REQUESTS
        assert app.state.memory.for_user("bo").stats().records == 9
        del kept
    assert background_threads() == before
