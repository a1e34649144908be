"""How is the server made? Of the tools, the calls, and whoever says whose memory a message is about."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from pydantic import ValidationError

from adaptive_memory_core.mcp_server.calls import CALLS, Manner, mistake_of, wrong_arguments
from adaptive_memory_core.mcp_server.idle import InUse
from adaptive_memory_core.mcp_server.tools import Offer, Said, listed, offered
from adaptive_memory_core.model_tools import INSTRUCTIONS, OUT_OF_ORDER
from adaptive_memory_core.user_memory import UserMemory

logger = logging.getLogger(__name__)
Whose = Callable[[], UserMemory]
Context = ServerRequestContext[Any, Any]


def new_server(whose: Whose, manner: Manner, in_use: InUse) -> Server[Any]:
    """A server of the memory that `whose` gives for each message: no argument of a tool says whose it is."""
    offers = offered(read_only=manner.read_only)
    tools = listed(offers)

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in offers:
            raise MCPError(
                code=INVALID_PARAMS, message=f"There is no tool of that name; there are {', '.join(offers)}."
            )
        return await _called(whose, manner, params.name, offers[params.name], params.arguments or {})

    server: Server[Any] = Server(
        "adaptive-memory",
        version=_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(in_use)
    return server


async def _called(whose: Whose, manner: Manner, name: str, offer: Offer, given: dict[str, Any]) -> CallToolResult:
    """The answer of a tool; its failure is one too, which the model reads and no connection ends of."""
    unknown = sorted(set(given) - set(offer.takes.model_fields))
    if unknown:
        return _failed(f"{name} takes {', '.join(offer.takes.model_fields)}, and no other argument.")
    try:
        said = offer.takes.model_validate(given)
    except ValidationError as error:
        return _failed(wrong_arguments(error.errors(include_url=False, include_input=False)))
    try:
        return _answered(await CALLS[name](whose(), manner, said))
    except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the session
        told = mistake_of(error)
        if told is None:
            logger.warning("The tool %s failed: %s: %s", name, type(error).__name__, error)
        return _failed(OUT_OF_ORDER if told is None else told)


def _answered(said: Said) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=said.text)], structured_content=said.model_dump())


def _failed(told: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=told)], is_error=True)


def _version() -> str:
    try:
        return version("adaptive-memory-retrieval")
    except PackageNotFoundError:
        return ""
