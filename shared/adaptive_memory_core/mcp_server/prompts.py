"""The prompt and the resource of the MCP server: what is remembered, for a person who asks for it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
)

from adaptive_memory_core.mcp_server.inputs import RecentInput, SearchInput
from adaptive_memory_core.mcp_server.tools import ToolAnswer, ToolSettings, model_mistake, recall, recent
from adaptive_memory_core.model_tools import OUT_OF_ORDER
from adaptive_memory_core.user_memory import UserMemory

logger = logging.getLogger(__name__)
Context = ServerRequestContext[Any, Any]
Given = TypeVar("Given")
SHOWN = 20  # memories of the resource, and of the prompt without a topic
PROMPT = Prompt(
    name="what_do_you_know",
    title="What do you know?",
    description="Put what is remembered into the conversation: about a topic, or the newest memories.",
    arguments=[PromptArgument(name="topic", description="what it is about; omitted, anything", required=False)],
)
RESOURCE = Resource(
    uri="memory://recent",
    name="recent",
    title="Newest memories",
    description=f"The {SHOWN} newest memories of the user, newest first.",
    mime_type="text/plain",
)


def prompt_and_resource(whose: Callable[[], UserMemory], manner: ToolSettings) -> dict[str, Any]:
    """What a server does when it is asked for them."""

    async def list_prompts(_: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(_: Context, params: GetPromptRequestParams) -> GetPromptResult:
        if params.name != PROMPT.name:
            raise MCPError(code=INVALID_PARAMS, message=f"There is no prompt of that name; there is {PROMPT.name}.")
        topic = (params.arguments or {}).get("topic", "").strip()
        return await _or_error(lambda: _prompted(whose(), manner, topic))

    async def list_resources(_: Context, __: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(resources=[RESOURCE])

    async def read_resource(_: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if params.uri != RESOURCE.uri:
            raise MCPError(code=INVALID_PARAMS, message=f"There is no resource of that name; there is {RESOURCE.uri}.")
        return await _or_error(lambda: _read(whose(), manner))

    return {
        "on_list_prompts": list_prompts,
        "on_get_prompt": get_prompt,
        "on_list_resources": list_resources,
        "on_read_resource": read_resource,
    }


async def _prompted(user: UserMemory, manner: ToolSettings, topic: str) -> GetPromptResult:
    """The prompt, filled in: one message of the user's."""
    found = await recall(user, manner, SearchInput(query=topic, limit=SHOWN)) if topic else await _newest(user, manner)
    text = (
        f"What do you know about {topic or 'me and my work'}? This is what you were told earlier:\n\n{found.text}\n\n"
        "Say in a few sentences what is known, and what seems to be out of date."
    )
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=PROMPT.title, messages=[message])


async def _read(user: UserMemory, manner: ToolSettings) -> ReadResourceResult:
    """The resource's text as it is now."""
    text = (await _newest(user, manner)).text
    return ReadResourceResult(contents=[TextResourceContents(uri=RESOURCE.uri, mime_type="text/plain", text=text)])


async def _newest(user: UserMemory, manner: ToolSettings) -> ToolAnswer:
    return await recent(user, manner, RecentInput(limit=SHOWN))


async def _or_error(answer: Callable[[], Awaitable[Given]]) -> Given:
    """The answer, or an error of the protocol that says to go on without the memory."""
    try:
        return await answer()
    except Exception as error:
        told = model_mistake(error)
        if told is None:
            logger.warning("What was asked for failed: %s: %s", type(error).__name__, error)
        raise MCPError(code=INTERNAL_ERROR, message=OUT_OF_ORDER if told is None else told) from error
