"""How does an agent with a client of its own use a memory? It starts `adaptive-memory mcp` and calls its tools.

pip install "adaptive-memory-retrieval[mcp]"; python examples/42_mcp_client.py
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

COMMAND = [sys.executable, "-m", "adaptive_memory_core.cli"]  # where the package is installed: ["adaptive-memory"]


async def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with Client(server(Path(folder, "memory"), "ana")) as agent:
            tools = (await agent.list_tools()).tools
            print("tools:", ", ".join(one.name for one in tools))
            print(
                "look only:", ", ".join(one.name for one in tools if one.annotations and one.annotations.read_only_hint)
            )
            await call(agent, "remember", text="Deploys are done on Tuesdays.")
            await call(agent, "remember", text="Ana's cat is called Turing.")
            print(await call(agent, "remember", text="Ana's cat is called  Turing."))  # is not stored twice
            found = await agent.call_tool("recall", {"query": "when do we deploy?", "since": "7 days", "limit": 1})
            print(text_of(found))
            ids = found.meta or {}  # the text has short ids for the model; a program finds the whole ones here
            print(await call(agent, "feedback", recall_id=ids["recall_id"], helpful=ids["ids"]))
            (message,) = (await agent.get_prompt("what_do_you_know", {"topic": "Ana's pets"})).messages
            print("prompt:", getattr(message.content, "text", "").splitlines()[0])
        async with Client(server(Path(folder, "memory"), "ben")) as another:
            print("ben:", await call(another, "recent"))


def server(place: Path, user: str) -> StdioServerParameters:
    """How a client starts the server of one user; in a client's configuration stand the same words."""
    arguments = [*COMMAND[1:], "--path", str(place), "--user", user, "mcp", "--create"]
    return StdioServerParameters(command=COMMAND[0], args=arguments, env=dict(os.environ))


async def call(agent: Client, tool: str, **arguments: Any) -> str:
    """What a tool answers the model."""
    return text_of(await agent.call_tool(tool, arguments))


def text_of(answer: CallToolResult) -> str:
    text = "\n".join(one.text for one in answer.content if isinstance(one, TextContent))
    if answer.is_error:
        raise SystemExit(text)
    return text


if __name__ == "__main__":
    asyncio.run(main())
