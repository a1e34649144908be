"""Tools for an agent, and the functions behind them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel

from adaptive_memory_core import (
    AdaptiveMemory,
    AdaptiveMemoryError,
    InvalidInputError,
    Policy,
    PolicyError,
    Recall,
    ScopeError,
    UserMemory,
)
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.model_tools import (
    FORGET,
    NOTHING,
    OUT_OF_ORDER,
    RECALL,
    REMEMBER,
    ForgetInput,
    OnError,
    RecallInput,
    RememberInput,
    forgotten,
    remembered_message,
)
from langchain_adaptive_memory.call import checked
from langchain_adaptive_memory.convert import documents_of
from langchain_adaptive_memory.source import in_threads
from langchain_adaptive_memory.turns import current_turn, watch_runs
from langchain_adaptive_memory.used import with_reason
from langchain_adaptive_memory.user import (
    USER_KEY,
    Default,
    Over,
    checked_default,
    checked_memory,
    checked_over,
    scope_of,
)

Find = Callable[[RunnableConfig], UserMemory]
SET_UP_WRONGLY = (ScopeError, FilterError, PolicyError)  # the program's mistake, which a model cannot correct


@dataclass(frozen=True, slots=True)
class Recalling:
    """The function of the recall tool."""

    find: Find
    asked: Mapping[str, Any]
    max_tokens: int | None
    show_ids: bool
    with_artifact: bool
    on_error: OnError

    def recall(self, query: str, config: RunnableConfig) -> Any:
        return self._recalled(self.find(config), query, config)

    async def arecall(self, query: str, config: RunnableConfig) -> Any:
        scope = self.find(config)
        return await in_threads(scope, self._recalled, scope, query, config)

    def _recalled(self, scope: UserMemory, query: str, config: RunnableConfig) -> Any:
        try:
            recall: Recall = scope.recall(query, turn=current_turn(config), **self.asked)
            return self._told(scope, with_reason(scope, recall, self.asked["filter"]))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return self._failed(error)

    def _told(self, scope: UserMemory, recall: Recall) -> Any:
        content = recall.render(max_tokens=self.max_tokens, ids=self.show_ids) or NOTHING
        return (content, documents_of(recall, scope.memory.fields)) if self.with_artifact else content

    def _failed(self, error: Exception) -> Any:
        said = _excused(error, self.on_error)
        return (said, []) if self.with_artifact else said


@dataclass(frozen=True, slots=True)
class Remembering:
    """The function of the remember tool."""

    find: Find
    kind: str
    metadata: Mapping[str, Any] | None
    on_error: OnError

    def remember(self, text: str, config: RunnableConfig, importance: float = 0.5, replaces: str | None = None) -> str:
        scope = self.find(config)
        try:
            return remembered_message(*scope.observe([self._fact(scope, text, importance, replaces)]))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def aremember(
        self, text: str, config: RunnableConfig, importance: float = 0.5, replaces: str | None = None
    ) -> str:
        scope = self.find(config)
        try:
            return remembered_message(*await scope.aobserve([self._fact(scope, text, importance, replaces)]))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    def _fact(self, scope: UserMemory, text: str, importance: float, replaces: str | None) -> dict[str, Any]:
        more = {"kind": self.kind, "metadata": self.metadata, "supersedes": replaces or None}  # models say "" for none
        return {"id": scope.memory.new_id(), "text": text, "importance": importance, **more}


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The function of the forget tool."""

    find: Find
    on_error: OnError

    def forget(self, memory_id: str, config: RunnableConfig) -> str:
        scope = self.find(config)
        try:
            return forgotten(scope.forget(memory_id).id)
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def aforget(self, memory_id: str, config: RunnableConfig) -> str:
        scope = self.find(config)
        try:
            return forgotten((await scope.aforget(memory_id)).id)
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)


def _excused(error: Exception, on_error: OnError) -> str:
    """The reply to the model after an error: for its own mistake the reason, otherwise to continue without the tool."""
    if on_error == "raise" or isinstance(error, SET_UP_WRONGLY):
        raise error
    if isinstance(error, AdaptiveMemoryError) and isinstance(error, InvalidInputError | LookupError):
        raise ToolException(str(error)) from error
    warnings.warn(f"A tool's memory failed, and the agent continued without: {error}", RuntimeWarning, stacklevel=3)
    return OUT_OF_ORDER


__all__ = [
    "SET_UP_WRONGLY",
    "create_forget_tool",
    "create_recall_tool",
    "create_remember_tool",
]  # the middleware uses the first of them too


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
    """A tool that recalls memories of the run's user, as evidence and not as instructions.

    The user is found as in the retriever: config["configurable"], LangGraph's context, `user_id`. All recalls of one
    run of the agent count as one read. With `show_ids` the model can name the memory that a new memory replaces; the
    artifact is the list of documents. `over="everyone"` also finds the records that belong to nobody. If the memory
    fails, the tool returns no memories, with a warning, unless `on_error="raise"`.
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
    """A tool that stores a fact in the memory of the run's user, who is found as in `create_recall_tool`.

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
    """A function from a run's config to its user's memory. A missing user always raises, whatever `on_error` is."""
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
