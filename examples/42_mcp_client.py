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
            found = await call(agent, "recall", query="when do we deploy?")
            print(found["text"])
            judged = await call(agent, "feedback", recall_id=found["recall_id"], helpful=found["ids"][:1])
            print(judged["text"])
        async with Client(server(Path(folder, "memory"), "ben")) as another:
            print("ben:", (await call(another, "recent"))["text"])


def server(place: Path, user: str) -> StdioServerParameters:
    """How a client starts the server of one user; in a client's configuration stand the same words."""
    arguments = [*COMMAND[1:], "--path", str(place), "--user", user, "mcp", "--create"]
    return StdioServerParameters(command=COMMAND[0], args=arguments, env=dict(os.environ))


async def call(agent: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers."""
    answer = await agent.call_tool(tool, arguments)
    if answer.is_error or answer.structured_content is None:
        raise SystemExit(f"{tool}: {answer.content}")
    return dict(answer.structured_content)


if __name__ == "__main__":
    asyncio.run(main())
