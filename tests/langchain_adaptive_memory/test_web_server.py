"""Does the server of the example stand many requests at once? One thread a memory, every read counted, nothing left."""

from __future__ import annotations

import asyncio
import runpy
import threading
from pathlib import Path
from typing import Any

import httpx

from langchain_adaptive_memory import AdaptiveMemoryRetriever

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
