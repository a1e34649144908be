"""How does an agent remember, recall and forget? By three tools; the model sees words and ids, never the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from langchain_core.tools import StructuredTool
from pydantic import BaseModel

from adaptive_memory_core import (
    AdaptiveMemory,
    InvalidInputError,
    Policy,
    UserMemory,
)
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.model_tools import FORGET, RECALL, REMEMBER, ForgetInput, OnError, RecallInput, RememberInput
from langchain_adaptive_memory.call import checked
from langchain_adaptive_memory.tool_calls import SET_UP_WRONGLY, Find, Forgetting, Recalling, Remembering
from langchain_adaptive_memory.turns import watch_runs
from langchain_adaptive_memory.user import (
    USER_KEY,
    Default,
    Over,
    checked_default,
    checked_memory,
    checked_over,
    scope_of,
)

__all__ = [
    "SET_UP_WRONGLY",
    "create_forget_tool",
    "create_recall_tool",
    "create_remember_tool",
]  # the first is the middleware's rule too


def create_recall_tool(
    memory: AdaptiveMemory | UserMemory,
    *,
    name: str = "recall_memory",
    description: str = RECALL,
    k: int = 4,
    filter: Mapping[str, Any] | None = None,  # noqa: A002 - LangChain's name
    policy: Policy | None = None,
    user_id: Default = None,
    user_key: str | None = USER_KEY,
    over: Over = None,
    max_tokens: int | None = None,
    show_ids: bool = False,
    response_format: Literal["content", "content_and_artifact"] = "content",
    on_error: OnError = "warn",
) -> StructuredTool:
    """A tool that recalls, as evidence and not as instructions, what the memory of the run's user holds.

    The user is found as the retriever finds it: config["configurable"], LangGraph's context, `user_id`. All recalls
    of one run of the agent are one read. `show_ids` lets the model say which memory a new one replaces; an artifact
    is the list of documents. `over="everyone"` finds the records that belong to nobody as well. A memory that fails
    costs the answer, with a warning, unless `on_error="raise"`.
    """
    asked = {"k": checked("k", k), "filter": checked("filter", filter), "policy": checked("policy", policy)}
    with_artifact = response_format == "content_and_artifact"
    find = _finder(memory, user_id, user_key, on_error, over)
    tool = Recalling(find, asked, max_tokens, show_ids, with_artifact, on_error)
    return _tool(tool.recall, tool.arecall, name, description, RecallInput, response_format)


def create_remember_tool(
    memory: AdaptiveMemory | UserMemory,
    *,
    name: str = "remember",
    description: str = REMEMBER,
    kind: str = "fact",
    metadata: Mapping[str, Any] | None = None,
    user_id: Default = None,
    user_key: str | None = USER_KEY,
    on_error: OnError = "warn",
) -> StructuredTool:
    """A tool that keeps a fact in the memory of the run's user, found as `create_recall_tool` finds it.

    `kind` and `metadata` are those of each record that it writes.
    """
    tool = Remembering(_finder(memory, user_id, user_key, on_error), kind, metadata, on_error)
    return _tool(tool.remember, tool.aremember, name, description, RememberInput, "content")


def create_forget_tool(
    memory: AdaptiveMemory | UserMemory,
    *,
    name: str = "forget_memory",
    description: str = FORGET,
    user_id: Default = None,
    user_key: str | None = USER_KEY,
    on_error: OnError = "warn",
) -> StructuredTool:
    """A tool that removes a memory of the run's user with every trace, by its id: recall with `show_ids=True`."""
    tool = Forgetting(_finder(memory, user_id, user_key, on_error), on_error)
    return _tool(tool.forget, tool.aforget, name, description, ForgetInput, "content")


def _finder(
    memory: AdaptiveMemory | UserMemory,
    user_id: Default,
    user_key: str | None,
    on_error: OnError,
    over: Over = None,
) -> Find:
    """Whose memory a run means; a user who is required and missing is an error, which no setting excuses."""
    if on_error not in ("warn", "raise"):
        raise InvalidInputError(f"on_error is {shown(on_error)}. It must be 'warn' or 'raise'.")
    whole, default, others = checked_memory(memory), checked_default(user_id), checked_over(over)
    if isinstance(whole, UserMemory):
        scope_of(whole, default=default, key=None)
    return lambda config: scope_of(whole, config, default=default, key=user_key, over=others)


def _tool(
    function: Callable[..., Any],
    coroutine: Callable[..., Any],
    name: str,
    description: str,
    schema: type[BaseModel],
    response_format: Literal["content", "content_and_artifact"],
) -> StructuredTool:
    watch_runs()
    return StructuredTool.from_function(
        function,
        coroutine=coroutine,
        name=name,
        description=description,
        args_schema=schema,
        response_format=response_format,
        handle_tool_error=True,
    )
